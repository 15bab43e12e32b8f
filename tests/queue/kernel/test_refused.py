"""Isolate: a row whose every change is refused stops no claim of its queue."""

import pytest
from psycopg.errors import OutOfMemory

from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.pool import connect
from mailqueue.queue import store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.refusing import MESSAGE, accept_changes, refuse_changes
from tests.queue.kernel.fake import ClaimedRow, FakeHandler, add_rows, states
from tests.queue.kernel.kinds import KINDS
from tests.queue.kernel.test_worker import SPEC
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio
HEALTH = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'rows that cannot be claimed'"


@pytest.mark.parametrize("spec", QUEUES, ids=lambda spec: spec.name)
@pytest.mark.parametrize("crashes", [0, 1])
async def test_the_others_are_claimed(
    spec: QueueSpec, crashes: int, database: DatabaseSettings
) -> None:
    async with connect(database) as conn, KINDS[spec.name](conn, 4) as rows:
        await conn.execute(f"UPDATE mailqueue.{spec.table} SET crashes = {crashes}")
        refused, *others = rows.ids
        await refuse_changes(conn, spec.table, [refused])
        worker = await make.worker(conn)
        taken = set()
        for _ in range(len(others) + 1):  # suspects are claimed one by one
            claimed = await store.claim(
                conn, spec, ClaimedRow, worker=worker, limit=10, is_alone=crashes > 0, first=10
            )
            taken |= {row.id for row in claimed}
        assert taken == set(others)


async def test_it_is_left_out_for_a_growing_time_and_shown(database: DatabaseSettings) -> None:
    handler, waits = FakeHandler(), list[float]()
    wait = "SELECT extract(epoch FROM retry_at - refused_at) FROM mailqueue.refused_rows"
    async with connect(database) as conn:
        refused, *_ = await add_rows(conn, 5)
        await refuse_changes(conn, "inbound_events", [refused], state="42501")
        assert await work_once(database, "inbound", handler) == 4
        assert await states(conn) == {"processed": 4, "pending": 1}
        for _ in range(3):
            assert await work_once(database, "inbound", handler) == 0
            waits.append(round(await make.scalar(conn, wait)))
            await conn.execute("UPDATE mailqueue.refused_rows SET retry_at = now()")
            assert await work_once(database, "inbound", handler) == 0
        assert waits == [5, 10, 20]
        why = await make.scalar(conn, "SELECT mailqueue.why(%s)", refused)
        assert "not claimed: a trigger or a constraint of this database refuses its change" in why
        assert "42501, PL/pgSQL function public.keep_as_it_is() line 1 at RAISE" in why
        assert MESSAGE not in why, "what a trigger says may name a person"
        [(state, found, fix)] = await make.rows(conn, HEALTH)
        assert state == "warning"
        assert "1 of inbound" in found
        assert str(refused) in fix

        await accept_changes(conn, "inbound_events")
        assert await work_once(database, "inbound", handler) == 1
        assert await states(conn) == {"processed": 5}
        assert (await make.rows(conn, HEALTH))[0][0] == "ok"


async def test_many_of_them_leave_room_for_the_others(database: DatabaseSettings) -> None:
    """More than one claim takes, and all due before the others."""
    handler = FakeHandler()
    async with connect(database) as conn:
        refused = await add_rows(conn, SPEC.batch + 5)
        await conn.execute("UPDATE mailqueue.inbound_events SET run_at = now() - interval '1 h'")
        await add_rows(conn, 3)
        await refuse_changes(conn, "inbound_events", refused)
        for _ in range(1 + -(-len(refused) // min(SPEC.batch, SPEC.concurrency))):
            await work_once(database, "inbound", handler)
        assert await states(conn) == {"processed": 3, "pending": len(refused)}


async def test_a_fault_of_the_server_is_no_fault_of_a_row(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        ids = await add_rows(conn, 2)
        await refuse_changes(conn, "inbound_events", ids, state="53200")
        worker = await make.worker(conn)
        with pytest.raises(OutOfMemory, match=MESSAGE):
            await store.claim(conn, SPEC, ClaimedRow, worker=worker, limit=2)
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.refused_rows") == 0
