"""Contacts, timed events and birthday rules for tests, and a worker that fires what is due."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import Kind, run_queues
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.timed_events.handler import TimedEventHandler
from mailqueue.timed_events.model import ClaimedEvent, DueEvent
from tests import make

SPEC = queue_named("timed-events")


async def template(conn: Conn) -> None:
    """Add the published template `welcome` and a sender account to the default project."""
    project_id = await make.project_named(conn)
    await make.sender_account(conn, project_id=project_id)
    found = await make.template(conn, project_id, slug="welcome", name="Welcome")
    text: dict[str, object] = {"language": "en", "subject": "Happy birthday", "needs": ["contact"]}
    text["text_body"] = "Dear {{ contact.first_name }}"
    query = "SELECT mailqueue.publish_template(mailqueue.add_template_version(%s, %s, 'tests'))"
    assert await make.scalar(conn, query, found, Jsonb({"texts": [text]}))


async def contact(conn: Conn, address: str = "ann@example.com", **fields: Any) -> UUID:
    """Add a contact of the default project; return its id."""
    given = Jsonb({"email": address} | {name: _plain(value) for name, value in fields.items()})
    query = "SELECT c.id FROM mailqueue.put_contact(%s, NULL, %s, true) AS c"
    found: UUID = await make.scalar(conn, query, await make.project_named(conn), given)
    return found


async def change(conn: Conn, contact_id: UUID, **fields: Any) -> None:
    """Change fields of a contact."""
    given = Jsonb({name: _plain(value) for name, value in fields.items()})
    query = "SELECT count(*) FROM mailqueue.put_contact(%s, %s, %s, false)"
    project_id = await make.project_named(conn)
    assert await make.scalar(conn, query, project_id, contact_id, given) == 1


async def birthdays(
    conn: Conn,
    *,
    local_time: str = "09:00",
    leap_day: str = "february_28",
    webhook_id: UUID | None = None,
) -> None:
    """Set the birthday rule of the default project."""
    slug = "welcome" if webhook_id is None else None
    await conn.execute(
        "SELECT mailqueue.put_birthday_rule(%s, %s, %s, %s, %s, '{}', 'tests')",
        (await make.project_named(conn), local_time, leap_day, slug, webhook_id),
    )


async def planned(conn: Conn) -> None:
    """Plan all birthdays, as workers do."""
    while await make.scalar(conn, "SELECT mailqueue.plan_birthdays(100)"):
        pass


async def pending(conn: Conn, contact_id: UUID) -> list[tuple[str, str]]:
    """Return the pending birthdays of a contact, each with its time zone."""
    query = (
        "SELECT to_char(local_at, 'YYYY-MM-DD HH24:MI'), time_zone FROM mailqueue.timed_events"
        " WHERE contact_id = %s AND status = 'pending' ORDER BY local_at"
    )
    return [(row[0], row[1]) for row in await make.rows(conn, query, contact_id)]


async def claim(conn: Conn) -> list[ClaimedEvent]:
    """Claim events that are due, as a new worker; return their ids and claim numbers."""
    query = (
        "SELECT id, claim_no, project_id"
        " FROM mailqueue.claim_timed_events(%s, 100, '1 min', false, 100, '{}', '{}')"
    )
    found = await make.rows(conn, query, await make.worker(conn))
    return [ClaimedEvent(*row) for row in found]


async def fire(conn: Conn) -> None:
    """Claim, fire and settle everything that is due, as one worker."""
    while claimed := await claim(conn):
        await settle(conn, claimed)


async def settle(conn: Conn, claimed: list[ClaimedEvent]) -> None:
    """Fire claimed events and settle them, as the handler does."""
    rows = [(row, DueEvent()) for row in claimed]
    await TimedEventHandler().settle(conn, SPEC, [], rows)


async def make_due(conn: Conn) -> None:
    """Let every pending event be due now; when its birthday is stays as it is."""
    await conn.execute("UPDATE mailqueue.timed_events SET run_at = now() WHERE status = 'pending'")


async def mails(conn: Conn) -> int:
    """Return the number of mails that events made."""
    found: int = await make.scalar(
        conn, "SELECT count(*) FROM mailqueue.emails WHERE custom_data ? 'timed_event_id'"
    )
    return found


@asynccontextmanager
async def worker(database: DatabaseSettings) -> AsyncIterator[None]:
    """Run a worker of the queue during the block."""
    stop = asyncio.Event()
    kinds = [Kind(SPEC, TimedEventHandler)]
    memory = InProgress()
    running = asyncio.create_task(
        run_queues(database, kinds, stop, launch_id=uuid4(), in_progress=memory)
    )
    try:
        yield
    finally:
        if running.done():
            running.result()  # why it ended before its time
        stop.set()
        await running


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value
