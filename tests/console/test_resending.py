"""Sending an email again whose recipients are suppressed, and the order of its timeline."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.console.emails.timeline import timeline
from mailqueue.contract.emails import Attempt, Email, Event
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails
from tests import make
from tests.console.test_pages import EMAILS, logged_in
from tests.console.visiting import Visiting, Visitor

pytestmark = pytest.mark.anyio
BOUNCED = "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES (%s, 'hard')"
AT = datetime(2030, 5, 1, tzinfo=UTC)


async def refused(conn: Conn, *addresses: str) -> UUID:
    """Make an email that was not sent because its recipients are suppressed."""
    for address in addresses:
        await conn.execute(BOUNCED, (address,))
    return await make.queued_email(conn, recipient_email=addresses[0])


@asynccontextmanager
async def on_form(
    console: Visiting, role: str, *addresses: str
) -> AsyncIterator[tuple[Visitor, str]]:
    """Yield a user, and the path of the form that sends an email to suppressed recipients again."""
    async with console.connection() as conn:
        email = await refused(conn, *addresses)
    async with console.visitor() as visitor:
        await logged_in(console, visitor, role)
        yield visitor, f"{EMAILS}/{email}/resend"


async def test_the_suppression_is_lifted_and_the_email_sent_by_one_form(console: Visiting) -> None:
    async with on_form(console, "project_admin", "ann@b.com") as (visitor, path):
        email_page = (await visitor.get(path.removesuffix("/resend"))).text
        asked = await visitor.get(path)
        unreasoned = await visitor.submit(path, path, lift="on")
        async with console.connection() as conn:
            kept = await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions")
        fields = await visitor.form(path, path) | {"lift": "on", "reason": "a new mailbox"}
        done = await visitor.post(path, fields)
        again = await visitor.post(path, fields)
        page = await visitor.get(done.headers["location"])

    assert f'<a class="button main" href="{path}">Lift the suppression and send …</a>' in email_page
    assert "Lift the suppression and send" in asked.text
    assert "No email is sent to this address." in asked.text
    assert ">hard bounce</span>" in asked.text
    assert unreasoned.status_code == 422
    assert kept == 1
    assert "The email is queued to be sent again." in page.text
    assert again.headers["location"].endswith("?done=before")
    async with console.connection() as conn:
        states = await make.rows(conn, "SELECT status FROM mailqueue.emails ORDER BY status")
        noted = await make.rows(
            conn,
            "SELECT action, actor LIKE '%%project_admin-%%(console)%%', detail ->> 'why',"
            " detail ->> 'reason' FROM mailqueue.audit_events"
            " WHERE action IN ('emails.resent', 'suppression.removed') ORDER BY action",
        )
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions")
    assert states == [("pending",), ("suppressed",)]
    assert left == 0
    assert noted == [
        ("emails.resent", True, None, "a new mailbox"),
        ("suppression.removed", True, "a new mailbox", None),
    ]


async def test_a_role_that_may_not_lift_a_suppression_is_told_who_may(console: Visiting) -> None:
    async with on_form(console, "support", "ann@b.com") as (visitor, path):
        email_page = (await visitor.get(path.removesuffix("/resend"))).text
        asked = await visitor.get(path)
        forced = await visitor.submit(path, path, lift="on", reason="please")

    assert f'<a class="button main" href="{path}">Send again …</a>' in email_page
    assert "Ask an admin of the project" in asked.text
    assert "Lift the suppression and send" not in asked.text
    assert forced.status_code == 403
    async with console.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 1


async def test_an_email_to_others_too_is_sent_without_a_question(console: Visiting) -> None:
    async with console.connection() as conn:
        email = await refused(conn, "ann@b.com")
        await conn.execute("DELETE FROM mailqueue.suppressions")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        asked = await visitor.get(f"{EMAILS}/{email}/resend")

    assert "Lift the suppression" not in asked.text
    assert ">Send again</button>" in asked.text


def attempt(at: datetime, **values: Any) -> Attempt:
    given = {"attempt": 1, "status": "bounced", "recipient_email": "a@b.com", "sender": None}
    given |= {"code": "550", "enhanced_code": None, "reply": "550 no such user"}
    given |= {"response_ms": None, "conversation": None, "sent_at": at}
    return Attempt(**given | values)  # type: ignore[arg-type]


def with_history(email: Email, attempts: list[Attempt], events: list[Event]) -> Email:
    return replace(email, attempts=attempts, events=events)


def event(at: datetime, **values: Any) -> Event:
    given = {"id": uuid4(), "occurred_at": at, "type": "failed", "recipient_email": "a@b.com"}
    given |= {"source": None, "code": None, "detail": "550 no such user", "data": None}
    return Event(**given | values)  # type: ignore[arg-type]


@pytest.mark.parametrize("early", [0, 1, 570, 999_999])
async def test_an_attempt_stands_before_its_outcome_and_its_reply_stands_once(
    conn: Conn, early: int
) -> None:
    made = await make.queued_email(conn)
    found = await emails.find(conn, made, project_id=await make.project_named(conn))
    outcome = event(AT - timedelta(microseconds=early))
    shown = with_history(found, [attempt(AT)], [outcome])

    entries = [entry for entry in timeline(shown) if entry.what != "accepted"]

    assert [entry.what for entry in entries] == ["attempt 1: bounced", "failed"]
    assert [entry.detail for entry in entries] == ["550 no such user", None]
    whats = [moment.what for moment in emails.timeline(shown)]
    assert whats.index("attempt_bounced") < whats.index("failed")


@pytest.mark.parametrize(
    "values",
    [
        {"source": "ses"},
        {"recipient_email": "other@b.com"},
        {"occurred_at": AT - timedelta(seconds=2)},
    ],
)
async def test_other_events_stand_at_their_own_time(conn: Conn, values: dict[str, Any]) -> None:
    made = await make.queued_email(conn)
    found = await emails.find(conn, made, project_id=await make.project_named(conn))
    at = values.pop("occurred_at", AT - timedelta(microseconds=1))
    shown = with_history(found, [attempt(AT)], [event(at, **values)])

    whats = [entry.what for entry in timeline(shown)]

    assert whats.index("failed") < whats.index("attempt 1: bounced")


async def test_the_outcome_of_an_attempt_does_not_move_behind_the_next_one(conn: Conn) -> None:
    made = await make.queued_email(conn)
    found = await emails.find(conn, made, project_id=await make.project_named(conn))
    soon = timedelta(milliseconds=10)
    attempts = [attempt(AT), attempt(AT + 2 * soon, attempt=2)]
    shown = with_history(found, attempts, [event(AT + soon)])

    whats = [entry.what for entry in timeline(shown)]

    assert whats.index("failed") < whats.index("attempt 2: bounced")
