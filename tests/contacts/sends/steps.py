"""Sends to lists, and lets a worker make their mail."""

from typing import Any
from uuid import UUID

from mailqueue.contacts.sends import store
from mailqueue.contacts.sends.handler import ListSendHandler
from mailqueue.contacts.sends.model import ListSend
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates.model import NewText
from tests import make
from tests.contacts import people
from tests.queue.working import work_once

HELLO = {"subject": "Hello", "text": "We moved."}


async def listed(
    conn: Conn, project: UUID, count: int, *, name: str = "news", **given: str
) -> list[UUID]:
    """Return the contacts of a new list."""
    emails = [f"{name}{number}@example.com" for number in range(count)]
    ids = await people.added(conn, project, *emails)
    await people.list_of(conn, project, name, members=ids, **given)
    return ids


async def sent(
    conn: Conn,
    project: UUID,
    *,
    name: str = "news",
    batch: UUID | None = None,
    content: dict[str, Any] | None = None,
    **given: Any,
) -> UUID:
    """Send to a list; return the id of the row of list_sends."""
    send = ListSend(name, content or HELLO, **given)
    return await store.expand(conn, project, batch, send, by="tests")


async def worked(database: DatabaseSettings) -> int:
    """Let a worker claim once; return the number of sends that it handled."""
    return await work_once(database, "list-sends", ListSendHandler(database))


async def progress(conn: Conn, send: UUID) -> dict[str, Any]:
    query = (
        "SELECT jsonb_build_object('status', status, 'contacts', contacts, 'accepted', accepted,"
        " 'suppressed', suppressed, 'rejected', rejected, 'withdrawn', withdrawn)"
        " FROM mailqueue.list_sends WHERE id = %s"
    )
    found = await make.scalar(conn, query, send)
    assert isinstance(found, dict)
    return {name: value for name, value in found.items() if value != 0}


async def queued(conn: Conn) -> list[str]:
    query = "SELECT recipient_email FROM mailqueue.email_queue ORDER BY recipient_email"
    return [row[0] for row in await make.rows(conn, query)]


HELLO_CONTACT = NewText("Hello {{ contact.first_name }}, {{ Edition }}", None, "x")
