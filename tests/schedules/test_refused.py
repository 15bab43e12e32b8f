"""A project that accepts no mail now, or a contact that is locked, delays its own runs alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mailqueue.core.outcome import Defer
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.db.pool import connect
from mailqueue.schedules.countries import ZoneFinder
from mailqueue.schedules.model import ClaimedRun, RunEnd
from mailqueue.schedules.runs import RunHandler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people
from tests.schedules import turning

pytestmark = pytest.mark.anyio
CHANGE = "UPDATE mailqueue.projects SET {} WHERE name = 'shop' RETURNING 1"
FULL, ROOM = "max_queued_emails = 0", "max_queued_emails = NULL"
DELETED = "status = 'suspended', deleted_at = now()"
RESTORED = "status = 'active', deleted_at = NULL"
CLAIM = """
    UPDATE mailqueue.schedule_runs SET status = 'assigned', claim_no = 7, worker_id = 1,
           assigned_at = now(), lease_until = now() + interval '1 h'
     WHERE status = 'pending' RETURNING id
"""


@pytest.mark.parametrize(
    ("refuse", "allow", "reason"),
    [(FULL, ROOM, "project shop is full"), (DELETED, RESTORED, 'project "shop" is deleted')],
)
async def test_schedules_wait_while_their_project_accepts_no_mail_and_those_of_others_run(
    conn: Conn, refuse: str, allow: str, reason: str
) -> None:
    await make.project(conn, "shop")
    rule = {"schedule_type": "cron", "cron_expression": "0 * * * *", "timezone": "UTC"}
    others = await turning.put(conn, **rule)
    own = await turning.put(conn, project="shop", **rule)
    await turning.turn(conn)
    assert await make.rows(conn, CHANGE.format(refuse))
    for one in (own, others):
        await turning.due(conn, one)

    assert await turning.turn(conn) == 2

    assert [run["queued"] for run in await turning.runs_of(conn, others)] == [1]
    assert await turning.runs_of(conn, own) == []
    found = await turning.row_of(conn, own)
    assert (found["status"], found["attempts"]) == ("pending", 0)
    assert reason in found["last_error"]
    assert await make.rows(conn, CHANGE.format(allow))
    await conn.execute("UPDATE mailqueue.schedules SET run_at = now() WHERE id = %s", [own])
    await turning.turn(conn)
    assert [run["queued"] for run in await turning.runs_of(conn, own)] == [1]


async def test_as_many_run_as_a_project_has_room_for(conn: Conn) -> None:
    await make.project(conn, "shop")
    rule = {"schedule_type": "cron", "cron_expression": "0 * * * *", "timezone": "UTC"}
    made = [await turning.put(conn, project="shop", **rule) for _ in range(5)]
    await turning.turn(conn)
    assert await make.rows(conn, CHANGE.format("max_queued_emails = 3"))
    for one in made:
        await turning.due(conn, one)

    assert await turning.turn(conn) == 5

    runs = [len(await turning.runs_of(conn, one)) for one in made]
    assert sorted(runs) == [0, 0, 1, 1, 1]
    assert await turning.queued(conn) == 3


async def test_a_run_waits_for_a_transaction_that_holds_a_contact_and_counts_no_attempt(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, _begun(conn, database) as (handler, run, project):
        async with connect(database) as other, other.transaction():
            await other.execute("SELECT FROM mailqueue.contacts FOR UPDATE")
            waits = await handler.handle(run)
        assert isinstance(waits, Defer)
        assert waits.reason == "a contact of it is being changed or removed"
        assert await turning.queued(conn) == 0

        limit = "UPDATE mailqueue.projects SET max_queued_emails = 0 WHERE id = %s RETURNING 1"
        assert await make.rows(conn, limit, project)
        waits = await handler.handle(run)
        assert isinstance(waits, Defer)
        assert "is full" in (waits.reason or "")

        assert await make.rows(conn, limit.replace("= 0", "= NULL"), project)
        assert await handler.handle(run) == RunEnd("done")
        assert await turning.queued(conn) == 1


async def test_a_run_makes_as_much_mail_as_there_is_room_for(database: DatabaseSettings) -> None:
    async with (
        connect(database) as conn,
        _begun(conn, database, contacts=5) as (handler, run, _),
    ):
        await conn.execute("UPDATE mailqueue.projects SET max_queued_emails = 3")

        assert isinstance(await handler.handle(run), Defer)

        assert await turning.queued(conn) == 3
        await conn.execute("UPDATE mailqueue.projects SET max_queued_emails = NULL")
        assert await handler.handle(run) == RunEnd("done")
        assert await turning.queued(conn) == 5


@asynccontextmanager
async def _begun(
    conn: Conn, database: DatabaseSettings, *, contacts: int = 1
) -> AsyncIterator[tuple[RunHandler, ClaimedRun, UUID]]:
    """Claim a run over a list."""
    project = await make.project_named(conn)
    members = await people.added(conn, project, *(f"n{n}@example.com" for n in range(contacts)))
    await people.list_of(conn, project, members=members)
    made = await turning.put(
        conn,
        schedule_type="cron",
        cron_expression="0 9 1 1 *",
        payload=turning.RAW | {"to": ["news"]},
    )
    await make.rows(conn, "SELECT * FROM mailqueue.run_schedule(%s, %s)", project, made)
    await make.worker(conn)
    ((run_id,),) = await make.rows(conn, CLAIM)
    handler = RunHandler(Link(database, "test"), ZoneFinder(None))
    try:
        yield handler, ClaimedRun(run_id, 7, project), project
    finally:
        await handler.close()
