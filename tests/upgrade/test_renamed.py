"""Renamed columns and functions keep their old name for one release."""

import json
from uuid import UUID

import pytest
from psycopg import errors
from psycopg.errors import Diagnostic
from psycopg.types.json import Jsonb

from mailqueue.administration import settings
from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store.claims import read_contents
from tests import make
from tests.logged import log_of

pytestmark = pytest.mark.anyio

OPTIONS = """
    SELECT c.tracking_options, c.dressing FROM mailqueue.email_contents AS c
    JOIN mailqueue.email_queue AS q ON q.content_id = c.id ORDER BY q.created_at, q.id
"""
OLD_ALONE = "UPDATE mailqueue.email_contents SET tracking_options = NULL"


async def accepted(conn: Conn) -> None:
    """Accept mail with click tracking and an unsubscribe link, by INSERT and as a batch."""
    await conn.execute(
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, track_clicks,"
        " unsubscribe) VALUES ('ann@example.com', 'Hello', 'Hello', true, true)"
    )
    tracked = {"track_clicks": True, "unsubscribe": True}
    message = {"recipient": "ann@example.com", "subject": "x", "text": "x", **tracked}
    batch = "SELECT b.status FROM mailqueue.enqueue_batch('default', %s) AS b"
    assert await make.scalar(conn, batch, Jsonb([message])) == "queued"


async def test_both_columns_of_the_options_are_written(conn: Conn) -> None:
    await accepted(conn)

    assert await make.rows(conn, OPTIONS) == [(6, 6), (6, 6)]


async def test_options_of_the_old_column_are_read(conn: Conn) -> None:
    await accepted(conn)
    await conn.execute(OLD_ALONE)
    rows = await make.rows(conn, "SELECT id, created_on FROM mailqueue.email_contents")

    ids, days = zip(*rows, strict=True)
    found = await read_contents(conn, list(ids), days=list(days))

    assert [each.tracking_options for each in found] == [6, 6]


async def test_gaps_are_counted_and_shown_under_the_old_name(conn: Conn) -> None:
    project: UUID = await make.scalar(conn, "SELECT id FROM mailqueue.projects LIMIT 1")
    for name in ("note_dressing_gaps", "note_tracking_gaps"):
        await conn.execute(
            f"SELECT mailqueue.{name}(%s::uuid[], %s, %s::bigint[])".encode(),
            ([project], ["no_public_url"], [2]),
        )
    # As a function of the release before has it, between the migration and the new functions.
    await conn.execute(
        "INSERT INTO mailqueue.dressing_gaps AS d (project_id, gap, emails) VALUES (%s, %s, 3)"
        " ON CONFLICT (project_id, gap, day)"
        " DO UPDATE SET emails = d.emails + excluded.emails, seen_at = excluded.seen_at",
        (project, "no_public_url"),
    )

    for table in ("dressing_gaps", "tracking_gaps"):
        assert await make.rows(conn, f"SELECT emails, seen_at > now() FROM mailqueue.{table}") == [
            (7, True)
        ]


async def test_a_message_of_refusals_is_read_from_its_former_column(conn: Conn) -> None:
    told = await noticed(
        conn, "INSERT INTO mailqueue.refusals (reason, told) VALUES ('moving', 'the host moves')"
    )

    assert told == ["column told of mailqueue.refusals is deprecated"]
    with pytest.raises(errors.DiskFull, match="the host moves"):
        async with conn.transaction():
            await accepted(conn)

    assert await noticed(conn, "UPDATE mailqueue.refusals SET message = 'until 06:00'") == []
    both = "SELECT message, told FROM mailqueue.refusals"
    assert await make.rows(conn, both) == [("until 06:00", "until 06:00")]
    await noticed(conn, "UPDATE mailqueue.refusals SET told = 'until 07:00'")
    assert await make.rows(conn, both) == [("until 07:00", "until 07:00")]


async def test_settings_are_changed_by_their_former_names(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In SQL where the installation had them before; in commands and the API everywhere."""
    await conn.execute(
        "INSERT INTO mailqueue.system_settings (name, value, kind, meaning)"
        " VALUES ('attachment_bytes_most', '25 MB', 'bytes', 'deprecated')"
    )
    both = (
        "SELECT value FROM mailqueue.system_settings"
        " WHERE name IN ('attachment_bytes_most', 'max_attachment_bytes')"
    )
    change = "UPDATE mailqueue.system_settings SET value = '{}' WHERE name = '{}'"

    old, new = "attachment_bytes_most", "max_attachment_bytes"
    assert await noticed(conn, change.format("9 MB", old)) == [f"setting {old} is deprecated"]
    assert await make.rows(conn, both) == [("9 MB",), ("9 MB",)]
    assert await noticed(conn, change.format("8 MB", new)) == []
    assert await make.rows(conn, both) == [("8 MB",), ("8 MB",)]

    log = log_of(settings, monkeypatch)
    shown = await settings.change(conn, {old: "7 MB"}, by="ann")

    assert {one.name: one.value for one in shown}[new] == "7 MB"
    assert old not in {one.name for one in shown}
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(one["event"], one["current_name"]) for one in lines] == [("setting.renamed", new)]
    changed = "SELECT subject FROM mailqueue.audit_events WHERE action = 'setting.changed'"
    assert await make.rows(conn, changed) == [(f"setting {new}",)] * 3


async def noticed(conn: Conn, statement: str) -> list[str]:
    """Run a statement; return the warnings of the server."""
    found: list[str] = []

    def note(notice: Diagnostic) -> None:
        found.append(str(notice.message_primary))

    conn.add_notice_handler(note)
    await conn.execute(statement.encode())
    conn.remove_notice_handler(note)
    return found
