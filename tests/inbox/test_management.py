"""Events that manage mail: off, until a project says by which way they may come."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events

pytestmark = pytest.mark.anyio
CLEAN_UP = "CleanUpSentEmailIntegrationEvent"
RESEND = "ResendErrorEmailIntegrationEvent"


async def allow(conn: Conn, ways: str | None) -> None:
    changes = Jsonb({"management_events": ways})
    await make.rows(conn, "SELECT mailqueue.change_project('default', %s, 'tests')", changes)


async def failed_mail(conn: Conn, tag: str = "orders") -> UUID:
    """Return the id of a mail that failed after all of its attempts."""
    found: UUID = await make.scalar(
        conn,
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, tags)"
        " VALUES ('ann@example.com', 'Hi', 'Hi', ARRAY[%s]) RETURNING id",
        tag,
    )
    await make.rows(
        conn,
        "SELECT mailqueue.retire_emails(ARRAY[%s]::uuid[], NULL, '{failed}', '{rejected}', NULL,"
        " NULL)",
        found,
    )
    return found


async def status(conn: Conn, email: UUID) -> str:
    query = (
        "SELECT status FROM mailqueue.email_queue WHERE id = %s"
        " UNION ALL SELECT status FROM mailqueue.email_history WHERE id = %s"
    )
    return str(await make.scalar(conn, query, email, email))


async def audited(conn: Conn, action: str) -> list[Any]:
    query = "SELECT subject, detail FROM mailqueue.audit_events WHERE action = %s ORDER BY id"
    return await make.rows(conn, query, action)


@pytest.mark.parametrize("ways", [None, "api", "rabbitmq", "api,rabbitmq"])
async def test_nothing_is_done_unless_the_project_allows_the_way_it_came(
    ways: str | None, conn: Conn
) -> None:
    email = await failed_mail(conn)
    await allow(conn, ways)

    done = await events.consume(conn, {"emailIds": [str(email)]}, type_=RESEND)

    assert done["status"] == "ignored"
    assert await status(conn, email) == "failed"


async def test_failed_mail_is_queued_again_by_its_id_once(conn: Conn) -> None:
    email, other = await failed_mail(conn), await failed_mail(conn)
    await allow(conn, "sql")
    message = uuid4()

    done = await events.consume(conn, {"emailIds": [str(email)]}, type_=RESEND, message=message)

    assert (done["status"], done["reason"]) == (
        "handled",
        "1 emails were queued again, 0 held emails released",
    )
    assert (await status(conn, email), await status(conn, other)) == ("pending", "failed")
    assert await audited(conn, "emails.resent_by_event") == [
        (
            f"event {message}",
            {
                "requeued": 1,
                "released": 0,
                "is_complete": True,
                "payload": {"emailIds": [str(email)]},
            },
        )
    ]
    again = await events.consume(conn, {"emailIds": [str(email)]}, type_=RESEND, message=message)
    assert again["is_duplicate"]
    replayed = await make.scalar(
        conn,
        "SELECT mailqueue.replay_inbox(p.id, ARRAY[%s]::uuid[], NULL, NULL, NULL, NULL, NULL, 10,"
        " false) FROM mailqueue.projects AS p WHERE p.name = 'default'",
        message,
    )
    assert replayed["events"] == 1
    assert len(await audited(conn, "emails.resent_by_event")) == 1


async def test_mail_that_matches_a_filter_is_queued_again_and_held_mail_released(
    conn: Conn,
) -> None:
    email, other = await failed_mail(conn), await failed_mail(conn, "news")
    held: UUID = await make.scalar(
        conn,
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, tags)"
        " VALUES ('ann@example.com', 'Hi', 'Hi', '{orders}') RETURNING id",
    )
    await make.rows(
        conn,
        "SELECT mailqueue.hold_emails(project_id, ARRAY[id], 'all attempts were made')"
        " FROM mailqueue.email_queue WHERE id = %s",
        held,
    )
    await allow(conn, "sql,rabbitmq")

    done = await events.consume(conn, {"filter": {"tag": "orders"}}, type_=RESEND)

    assert done["reason"] == "1 emails were queued again, 1 held emails released"
    assert [await status(conn, one) for one in (email, held, other)] == [
        "pending",
        "pending",
        "failed",
    ]


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({}, "payload: either emailIds or filter is needed"),
        ({"emailIds": [], "filter": {}}, "payload: either emailIds or filter is needed"),
        ({"emailIds": []}, "emailIds: a list of 1 to 1000 ids of emails is needed"),
        ({"emailIds": ["x"]}, "emailIds: a list of 1 to 1000 ids of emails is needed"),
        ({"emailIds": 5}, "emailIds: a list of 1 to 1000 ids of emails is needed"),
        ({"filter": 5}, "filter: an object is needed, got number"),
        ({"filter": {}}, "filter: at least one condition is needed"),
        ({"filter": {"project": "other"}}, "project: there is no such filter"),
        ({"filter": {"colour": "red"}}, "colour: there is no such filter"),
    ],
)
async def test_a_request_that_cannot_be_read_fails_with_the_field(
    payload: dict[str, object], why: str, conn: Conn
) -> None:
    await allow(conn, "sql")

    done = await events.consume(conn, payload, type_=RESEND)

    assert (done["status"], done["reason"]) == ("failed", why)
    assert await audited(conn, "emails.resent_by_event") == []


async def test_cleaning_up_makes_archive_and_retention_due(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.maintenance_tasks SET run_at = now() + interval '1 day'")
    await allow(conn, "sql")

    done = await events.consume(conn, {}, type_=CLEAN_UP)

    assert (done["status"], done["reason"]) == ("handled", "archive and retention are due")
    due = (
        "SELECT task FROM mailqueue.maintenance_tasks WHERE run_at <= clock_timestamp() ORDER BY 1"
    )
    assert await make.rows(conn, due) == [("archive",), ("retention",)]
    [(_, detail)] = await audited(conn, "emails.cleaned_up")
    assert detail == {"tasks": ["archive", "retention"]}


async def test_ways_that_do_not_exist_are_refused(conn: Conn) -> None:
    with pytest.raises(Exception, match="management_events: sql, api and rabbitmq"):
        await allow(conn, "sql,everybody")
