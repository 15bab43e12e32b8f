"""Accept and NoWait: a mail exists exactly if its transaction commits; producers never wait."""

from uuid import UUID

import pytest
from psycopg.errors import InvalidParameterValue

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.accept.intakes import WAYS, Way, plain

pytestmark = pytest.mark.anyio

SAME = plain(campaign_id="spring", cc=["c@example.com"], tags=["t"], priority=1)


@pytest.mark.parametrize("other", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
async def test_producers_never_wait_for_each_other(
    database: DatabaseSettings, way: Way, other: Way
) -> None:
    """Neither with the same campaign, content, recipient nor lane."""
    async with connect(database) as first, connect(database) as second:
        for conn in (first, second):
            await conn.execute("SET lock_timeout = '5s'")
        async with first.transaction(), second.transaction():
            for _ in range(2):
                await way(first, **SAME)
                await other(second, **SAME)

    async with connect(database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 4


async def test_an_open_producer_waits_for_no_worker_and_no_worker_for_it(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as producer, connect(database) as worker:
        await make.sender_account(worker)
        await make.queued_email(worker)
        worker_id = await make.worker(worker)
        for conn in (producer, worker):
            await conn.execute("SET lock_timeout = '5s'")
        async with producer.transaction():
            unseen = await WAYS["enqueue"](producer, **SAME)
            claimed = await make.claimed(worker, worker_id)
            async with worker.transaction():
                await worker.execute("SELECT mailqueue.gather_lanes()")
                await WAYS["batch"](producer, **SAME)

        assert len(claimed) == 1
        assert unseen not in dict(claimed)
        assert len(await make.claimed(worker, worker_id)) == 2


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
async def test_a_mail_is_seen_when_its_transaction_commits_and_not_before(
    database: DatabaseSettings, way: Way
) -> None:
    async with connect(database) as producer, connect(database) as looking:
        async with producer.transaction():
            email_id = await way(producer, **SAME)
            assert await make.status_of(looking, email_id) is None

        assert await make.status_of(looking, email_id) == "pending"


async def test_a_mail_committed_late_is_claimed_although_others_came_after_it(
    database: DatabaseSettings,
) -> None:
    """Its position in the lane lies behind mail that workers have claimed already."""
    async with connect(database) as producer, connect(database) as worker:
        await make.sender_account(worker)
        worker_id = await make.worker(worker)
        async with producer.transaction():
            late = await WAYS["insert"](producer, **SAME)
            early = await WAYS["insert"](worker, **SAME)
            assert set(dict(await make.claimed(worker, worker_id))) == {early}
            assert await make.claimed(worker, worker_id) == []

        assert set(dict(await make.claimed(worker, worker_id))) == {late}


async def test_what_is_accepted_is_counted_by_the_accepting_transaction(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        for way in WAYS.values():
            await way(conn, **SAME)
            async with conn.transaction(force_rollback=True):
                await way(conn, **SAME)
        before = await books(conn)
        await conn.execute("SELECT mailqueue.gather_lanes()")

        assert before == await books(conn) == [(len(WAYS), len(WAYS), 0)]


async def test_many_rows_of_one_statement_are_all_or_none(conn: Conn) -> None:
    good = "('ann' || n || '@example.com', 'Hello', 'Hi')"
    many = f"SELECT {good[1:-1]} FROM generate_series(1, 1000) AS n"
    insert = "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body) "

    await conn.execute((insert + many).encode())
    with pytest.raises(InvalidParameterValue, match='"nobody" is not an address'):
        async with conn.transaction():
            await conn.execute((insert + many + " UNION ALL SELECT 'nobody', 's', 't'").encode())

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 1000
    assert await books(conn) == [(1000, 1000, 0)]


async def test_ids_are_new_and_rise(conn: Conn) -> None:
    ids = [UUID(str(await way(conn, **SAME))) for way in WAYS.values() for _ in range(3)]

    assert sorted(set(ids)) == ids
    assert {email_id.version for email_id in ids} == {7}


async def books(conn: Conn) -> list[tuple[int, ...]]:
    return await make.rows(
        conn, "SELECT accepted::int, queued::int, difference::int FROM mailqueue.books"
    )


async def test_a_project_given_by_its_id_is_the_one(conn: Conn) -> None:
    project = await make.project(conn)
    email = await make.queued_email(conn, project_id=project)

    found = (
        "SELECT q.project_id, l.project_id FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s"
    )
    assert await make.rows(conn, found, email) == [(project, project)]
