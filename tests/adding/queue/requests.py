"""Requests to suppress an address later: retention, the person's data, and the books."""

import pytest
from mailqueue.suppression.handler import RequestHandler

from mailqueue.maintenance import retention
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.operations import books
from mailqueue.operations.store.health import kinds_past_retention
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.exporting import export_person
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio
INSERT = (
    "INSERT INTO mailqueue.suppression_requests (project_id, address, run_at, created_at)"
    " VALUES (%s, %s, now() + %s::interval, now() - %s::interval)"
)
LEFT = "SELECT address, status FROM mailqueue.suppression_requests ORDER BY address"


async def test_finished_requests_leave_after_their_days(
    desk: MaintenanceContext, database: DatabaseSettings
) -> None:
    conn = desk.conn
    project_id = await make.project_named(conn)
    for address, due, age in (
        ("ann@example.com", "-1 d", "100 d"),
        ("bob@example.com", "-1 d", "5 d"),
        ("eve@example.com", "+1 d", "100 d"),
        ("no address", "-1 d", "100 d"),
    ):
        await conn.execute(INSERT, (project_id, address, due, age))
    await work_once(database, "suppression-requests", RequestHandler())
    assert await make.rows(conn, LEFT) == [
        ("ann@example.com", "done"),
        ("bob@example.com", "done"),
        ("eve@example.com", "pending"),
        ("no address", "failed"),
    ]

    late = await kinds_past_retention(conn, days=7, pages=100)
    assert [one.kind for one in late] == ["suppression_requests"]
    report = await retention.run(desk)
    assert books.faults(await books.read(conn)) == []
    assert report.counts["suppression_requests"] == 2
    assert await make.rows(conn, LEFT) == [
        ("bob@example.com", "done"),
        ("eve@example.com", "pending"),
    ]


async def test_requests_are_exported_and_erased_with_their_person(
    desk: MaintenanceContext,
) -> None:
    conn = desk.conn
    (project,) = await persons.projects(conn, "default")
    for address in ("ann@example.com", "bob@example.com"):
        await conn.execute(INSERT, (project.id, address, "+1 d", "0 d"))
    lend, spellings = persons.lending(conn), persons.spellings_of("ann@example.com")

    found = await export_person(lend, project, spellings, context=desk)
    assert "suppression_requests" in str(found)
    begun = await erasing.begin(lend, project.id, spellings, by="tests")
    await erasing.go_on(lend, begun, context=desk, by="tests")
    assert await make.rows(conn, LEFT) == [("bob@example.com", "pending")]
