"""Inbox watch in the console: persons, inboxes, channels, and what became of notifications."""

import re
from collections.abc import AsyncIterator
from html import unescape

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.visiting import Visiting, Visitor, visiting
from tests.watch import watching

pytestmark = pytest.mark.anyio

PEOPLE = "/console/projects/default/inbox-users"
TOLD = "/console/projects/default/notifications"
FAILED = (
    "UPDATE mailqueue.notifications SET status = 'failed',"
    " last_error = 'channel_not_found', finished_at = now() WHERE id = %s"
)


@pytest.fixture
async def console(database: DatabaseSettings) -> AsyncIterator[Visiting]:
    async with visiting(database, public_url="https://mail.example.com") as made:
        yield made


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def text_of(visitor: Visitor, path: str) -> str:
    response = await visitor.get(path)
    assert response.status_code == 200, f"{path}: {response.status_code}"
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", response.text)))


async def test_a_person_is_added_invited_and_paused(console: Visiting, visitor: Visitor) -> None:
    assert "No person yet" in await text_of(visitor, PEOPLE)
    fields = await visitor.form(f"{PEOPLE}/new", f"{PEOPLE}/new")
    refused = await visitor.post(f"{PEOPLE}/new", fields | {"email": "no address"})
    assert refused.status_code == 422
    fields = await visitor.form(f"{PEOPLE}/new", f"{PEOPLE}/new")
    response = await visitor.post(f"{PEOPLE}/new", fields | {"email": "bob@example.com"})
    person = response.headers["location"].partition("?")[0]
    assert "No inbox is connected" in await text_of(visitor, person)

    async with console.connection() as conn:
        await make.sender_account(conn)
    for act, shown in (
        ("invite", "The invitation is queued"),
        ("pause", "Nothing is reported"),
        ("resume", "is reported to this person again"),
    ):
        fields = await visitor.form(f"{person}/{act}", f"{person}/{act}")
        done = await visitor.post(f"{person}/{act}", fields)
        assert done.status_code == 303, done.text
        assert shown in await text_of(visitor, done.headers["location"])
    async with console.connection() as conn:
        query = "SELECT recipient_email FROM mailqueue.email_queue"
        assert await make.rows(conn, query) == [("bob@example.com",)]
        audit = (
            "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'inbox_user.%' ORDER BY id"
        )
        assert [row[0] for row in await make.rows(conn, audit)] == [
            "inbox_user.added",
            "inbox_user.invited",
            "inbox_user.paused",
            "inbox_user.resumed",
        ]
    for status in (303, 303, 429):
        fields = await visitor.form(f"{person}/invite", f"{person}/invite")
        done = await visitor.post(f"{person}/invite", fields)
        assert done.status_code == status, done.text
    assert "the next one may at" in done.text


async def test_an_inbox_is_paused_resumed_and_scanned_and_a_channel_ends(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        owner, inbox, channel = await watching.person(conn, 1, 993)
        other, _, _ = await watching.person(conn, 2, 993)
    person = f"{PEOPLE}/{owner}"
    status = "SELECT status FROM mailqueue.email_accounts WHERE id = %s"
    for act, state in (("pause", "paused"), ("resume", "active"), ("scan", "active")):
        path = f"{person}/{act}-inbox-{inbox}"
        done = await visitor.post(path, await visitor.form(path, path))
        assert done.status_code == 303, done.text
        async with console.connection() as conn:
            assert await make.scalar(conn, status, inbox) == state
    foreign = f"{PEOPLE}/{other}/pause-inbox-{inbox}"
    assert (await visitor.get(foreign)).status_code == 404, "it is another person's"
    path = f"{person}/disconnect-{channel}"
    done = await visitor.post(path, await visitor.form(path, path))
    assert done.status_code == 303
    assert "No channel is connected" in await text_of(visitor, person)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("notification_channels SET status = 'active'", "New mail in 1 inbox is reported"),
        ("notification_channels SET status = 'error'", "channel is in error: what is reported"),
        ("notification_channels SET status = 'opted_out'", "opted out of messages, so nothing"),
        ("mailboxes SET paused_by = 'ann'", "No inbox is scanned now, so nothing is reported"),
    ],
)
async def test_the_page_of_a_person_says_whether_mail_is_reported(
    console: Visiting, visitor: Visitor, change: str, said: str
) -> None:
    async with console.connection() as conn:
        owner, _, _ = await watching.person(conn, 1, 993)
        await conn.execute(f"UPDATE mailqueue.{change}".encode())
    assert said in await text_of(visitor, f"{PEOPLE}/{owner}")


async def test_a_page_says_why_a_notification_failed_and_delivers_it_again(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        owner, inbox, channel = await watching.person(conn, 1, 993)
        one = await watching.queued(conn, owner, inbox, channel, 7)
        await conn.execute(FAILED.encode(), (one,))
    shown = await text_of(visitor, f"{TOLD}?status=failed")
    assert "Mail 7" in shown
    assert "channel_not_found" in shown
    page = await text_of(visitor, f"{TOLD}/{one}")
    assert "channel_not_found" in page
    assert "How are you?" not in page, "what the mail says is not shown"
    path = f"{TOLD}/{one}/retry"
    done = await visitor.post(path, await visitor.form(path, path))
    assert done.status_code == 303, done.text
    assert "delivered again in a moment" in await text_of(visitor, done.headers["location"])
    again = await visitor.post(path, await visitor.form(path, path))
    assert again.status_code == 422, "it waits already"


@pytest.mark.parametrize("query", ["status=lost", "person=x", "before=x&status=sent"])
async def test_a_faulty_filter_lists_nothing_or_all_of_its_state(
    visitor: Visitor, query: str
) -> None:
    shown = await text_of(visitor, f"{TOLD}?{query}")
    assert "Nothing is listed" in shown or "No notification matches" in shown
