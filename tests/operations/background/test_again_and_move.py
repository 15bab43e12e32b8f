"""Workers queue again what failed and move what waits, by a filter, each email once."""

from uuid import UUID

import pytest

from mailqueue.contract.background import BackgroundOperation
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import background
from mailqueue.operations import handler as handler_module
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.store import background as store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.background.steps import SPRING, begun, found, worked
from tests.operations.steps import matching

pytestmark = pytest.mark.anyio

ROUTES = (
    "SELECT q.subject, l.route FROM mailqueue.emails AS q"
    " JOIN mailqueue.email_queue AS e ON e.id = q.id"
    " JOIN mailqueue.lanes AS l ON l.id = e.lane_id ORDER BY q.subject"
)


async def ended(conn: Conn, subject: str, status: str = "failed", **columns: object) -> UUID:
    """Insert an email that has ended with a status."""
    email = await make.queued_email(conn, subject=subject, **columns)
    await conn.execute(
        "SELECT mailqueue.retire_emails(ARRAY[%s], NULL, ARRAY[%s], ARRAY['x'], NULL, NULL)",
        (email, status),
    )
    return email


async def moved(conn: Conn, where: dict[str, str], to: str | None) -> BackgroundOperation:
    return await background.begin(
        conn,
        await make.project_named(conn),
        verb=OperationVerb.MOVE,
        where=where,
        reason="relay is down",
        by="ann",
        to=to,
    )


async def counted(conn: Conn, verb: OperationVerb, to: str | None = None) -> int:
    project = await make.project_named(conn)
    return (await background.count(conn, project, verb=verb, where=SPRING, to=to)).emails


async def states(conn: Conn) -> dict[str, str]:
    rows = await make.rows(conn, "SELECT subject, status FROM mailqueue.emails")
    return {row[0]: row[1] for row in rows}


async def test_what_failed_and_matches_is_queued_again_with_its_id_and_nothing_else(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 2)
    async with connect(database) as conn:
        failed = [await ended(conn, f"Spring {status}", status) for status in ("failed", "expired")]
        cancelled = await ended(conn, "Spring cancelled", "cancelled")
        for number in range(3):
            await ended(conn, f"Your bill {number}")
        await ended(conn, "Spring sent", "sent")
        await make.project(conn, "shop")
        await ended(conn, "Spring at the shop", project="shop")
        await ended(conn, "Spring to nobody", recipient_email="gone@example.com")
        await conn.execute(
            "INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('gone@example.com')"
        )
        assert await counted(conn, OperationVerb.REQUEUE) == 4

        operation = await begun(conn, verb=OperationVerb.REQUEUE)
        await worked(database)

        done = await found(conn, operation)
        assert (done.state, done.emails, done.passes) == ("done", 3, 1)
        ids = await make.rows(conn, "SELECT id FROM mailqueue.email_queue ORDER BY id")
        assert [row[0] for row in ids] == sorted([*failed, cancelled])
        shown = await states(conn)
        assert [shown[f"Your bill {number}"] for number in range(3)] == ["failed"] * 3
        assert (shown["Spring sent"], shown["Spring at the shop"]) == ("sent", "failed")
        assert shown["Spring to nobody"] == "failed"


async def test_an_email_that_fails_again_meanwhile_is_not_queued_twice_by_one_operation(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 1)
    monkeypatch.setattr(handler_module, "MAX_BATCHES", 1)
    async with connect(database) as conn:
        first = await ended(conn, "Spring 1")
        await ended(conn, "Spring 2")
        operation = await begun(conn, verb=OperationVerb.REQUEUE)
        await worked(database)
        await conn.execute(
            "SELECT mailqueue.retire_emails(ARRAY[%s], NULL, ARRAY['failed'], ARRAY['x'], NULL,"
            " NULL)",
            (first,),
        )
        for _ in range(3):
            await worked(database)

        done = await found(conn, operation)
        assert (done.state, done.emails) == ("done", 2)
        assert await states(conn) == {"Spring 1": "failed", "Spring 2": "pending"}


async def test_all_that_wait_and_match_are_moved_to_the_account_and_only_once(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_module, "MAX_SEARCHED", 3)
    async with connect(database) as conn:
        for name in ("relay", "backup"):
            await make.sender_account(conn, name=name)
        held = await make.queued_email(conn, subject="Spring held", sender="relay")
        project = await make.project_named(conn)
        await make.rows(conn, "SELECT mailqueue.hold_emails(%s, %s, 'x')", project, [held])
        for number in range(4):
            await make.queued_email(conn, subject=f"Spring {number}", sender="relay")
        await make.queued_email(conn, subject="Spring there", sender="backup")
        tested = await make.queued_email(conn, subject="Spring test", sender="relay")
        await conn.execute(
            "UPDATE mailqueue.email_queue SET is_test = true WHERE id = %s", (tested,)
        )
        await make.queued_email(conn, subject="Your bill", sender="relay")
        assert await counted(conn, OperationVerb.MOVE, "backup") == 5

        operation = await moved(conn, SPRING, "backup")
        await worked(database)

        done = await found(conn, operation)
        assert (done.state, done.emails, done.passes, done.to) == ("done", 5, 2, "backup")
        routes = dict(await make.rows(conn, ROUTES))
        assert routes["Your bill"] == "relay"
        assert {routes[f"Spring {one}"] for one in ("held", "there", "0", "3")} == {"backup"}
        assert routes["Spring test"] != "backup"
        assert (await states(conn))["Spring held"] == "held"
        assert await counted(conn, OperationVerb.MOVE, "backup") == 0
        assert await counted(conn, OperationVerb.MOVE) == 6
        detail = await make.scalar(
            conn, "SELECT detail FROM mailqueue.audit_events WHERE action = 'operation.begun'"
        )
        assert (detail["verb"], detail["to"]) == ("move", "backup")


async def test_mail_that_is_moved_in_sql_wakes_the_other_account(conn: Conn) -> None:
    for name in ("relay", "backup"):
        await make.sender_account(conn, name=name)
    for number in range(3):
        await make.queued_email(conn, subject=f"Spring {number}", sender="relay")
    await conn.execute("DELETE FROM mailqueue.lane_signals")

    assert await matching(conn, "move", "backup", "x", True, subject="spring") == 3
    assert await matching(conn, "move", "backup", "x", False, 2, subject="spring") == 2
    assert await matching(conn, "move", "backup", subject="spring") == 1
    assert await matching(conn, "move", "backup", subject="spring") == 0
    signalled = await make.rows(
        conn,
        "SELECT DISTINCT l.route FROM mailqueue.lane_signals AS s"
        " JOIN mailqueue.lanes AS l ON l.id = s.lane_id",
    )
    assert signalled == [("backup",)]


@pytest.mark.parametrize(
    ("verb", "to", "field"),
    [
        ("move", "nobody", "to"),
        ("move", "", "to"),
        ("move", "(relay", "to"),
        ("hold", "relay", "to"),
        ("requeue", "relay", "to"),
    ],
)
async def test_an_account_that_there_is_not_and_one_for_another_verb_are_refused(
    conn: Conn, verb: str, to: str, field: str
) -> None:
    await make.sender_account(conn, name="relay")
    project = await make.project_named(conn)
    for call in (
        store.begin(conn, project, verb=verb, where=SPRING, reason="x", by="ann", to=to),
        store.preview(
            conn,
            project,
            verb=verb,
            where=SPRING,
            max_emails=1,
            max_searched=1,
            examples=1,
            to=to,
        ),
    ):
        await conn.execute("SAVEPOINT before")
        with pytest.raises(InvalidField) as refused:
            await call
        assert refused.value.field == field
        await conn.execute("ROLLBACK TO before")


async def test_an_account_that_is_removed_meanwhile_ends_the_move_in_a_failure(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await make.sender_account(conn, name="backup")
        await make.queued_email(conn, subject="Spring")
        operation = await moved(conn, SPRING, "backup")
        await conn.execute("UPDATE mailqueue.bulk_operations SET to_sender = 'gone'")
        await worked(database)

        failed = await found(conn, operation)
        assert failed.state == "failed"
        assert "no sender account" in (failed.error or "")
