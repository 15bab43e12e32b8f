"""Drained workers: what they hold is finished, and they claim nothing more."""

from collections.abc import Awaitable

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import MarkVerdict
from mailqueue.operations import platform
from tests import make
from tests.mail.claim.steps import claim, mark
from tests.operations.pausing import why
from tests.queue.kernel.kinds import KINDS

pytestmark = pytest.mark.anyio


async def tried(conn: Conn, act: Awaitable[object]) -> None:
    """Await in a transaction of its own, which an error undoes."""
    async with conn.transaction():
        await act


async def test_a_drained_worker_finishes_what_it_has_and_claims_nothing(conn: Conn) -> None:
    await make.sender_account(conn)
    worker, other = await make.worker(conn), await make.worker(conn)
    first = await make.queued_email(conn)
    [taken] = await claim(conn, worker)

    drained = await platform.drain(conn, worker=worker, by="ann")
    second = await make.queued_email(conn)

    assert drained.workers == [worker]
    assert await claim(conn, worker) == []
    assert (await mark(conn, worker, [taken]))[first].verdict is MarkVerdict.GO
    status = "SELECT status FROM mailqueue.worker_status WHERE id = %s"
    assert await make.scalar(conn, status, worker) == "draining"
    assert [each.id for each in await claim(conn, other)] == [second]
    third = await make.queued_email(conn)
    assert (await platform.resume_workers(conn, worker=worker, by="ann")).workers == [worker]
    assert [each.id for each in await claim(conn, worker)] == [third]


@pytest.mark.parametrize("queue", KINDS)
async def test_a_drained_worker_of_each_queue_claims_no_row(conn: Conn, queue: str) -> None:
    async with KINDS[queue](conn, 1) as rows:
        worker = await make.worker(conn, kind=queue, queues=[queue])
        claims = (
            f"SELECT count(*) FROM mailqueue.claim_{rows.spec.table}"
            "(%s, 10, interval '1 min', false, 10, '{}', '{}')"
        )
        # The whole test is one transaction, whose now() lies before the rows were made.
        await conn.execute(
            f"UPDATE mailqueue.{rows.spec.table} SET run_at = now() WHERE id = ANY (%s)".encode(),
            (rows.ids,),
        )
        await platform.drain(conn, worker=worker, by="ann")
        assert await make.scalar(conn, claims, worker) == 0
        assert not await make.scalar(conn, "SELECT mailqueue.has_worker(%s)", queue)
        unattended = "SELECT array_agg(u) FROM mailqueue.unattended_queues(ARRAY[%s]) AS u"
        assert await make.scalar(conn, unattended, queue) == [queue]
        await platform.resume_workers(conn, worker=worker, by="ann")
        assert await make.scalar(conn, claims, worker) == 1


async def test_all_workers_of_a_host_are_drained(conn: Conn) -> None:
    here = [
        await make.worker(conn, host="a"),
        await make.worker(conn, host="a", queues=["webhooks"]),
    ]
    there = await make.worker(conn, host="b")

    assert (await platform.drain(conn, host="a", by="ann")).workers == here
    with pytest.raises(NotFound):
        await platform.drain(conn, host="a", by="ann")
    with pytest.raises(NotFound):
        await platform.resume_workers(conn, worker=there, by="ann")
    with pytest.raises(InvalidField):
        await tried(conn, platform.drain(conn, by="ann"))
    assert (await platform.resume_workers(conn, host="a", by="ann")).workers == here


async def test_only_drained_workers_are_as_good_as_none(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    await platform.drain(conn, worker=await make.worker(conn), by="ann")

    assert (await why(conn, email)).startswith("no worker is running")
    check = "SELECT state FROM mailqueue.health_of_mail() WHERE name = 'workers'"
    assert await make.scalar(conn, check) == "alarm"
