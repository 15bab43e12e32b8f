"""A project with bounds, and the interfaces that accept its mail."""

import json
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.projects import stats as projects_stats
from mailqueue.projects.model import Project
from tests import make

INSERT = (
    "INSERT INTO mailqueue.email_queue (project, recipient_email, subject, text_body)"
    " VALUES ('shop', 'ann@example.com', 'abc', '12345')"
)
COPY = "COPY mailqueue.email_queue (project, recipient_email, subject, text_body) FROM STDIN"
MANY = (
    "INSERT INTO mailqueue.email_queue (project, recipient_email, subject, text_body)"
    " SELECT 'shop', 'ann@example.com', 'abc', '12345' FROM generate_series(1, %s)"
)
MAIL = {"recipient": "ann@example.com", "subject": "abc", "text": "12345"}
BATCH = "SELECT mailqueue.enqueue_batch('shop', %s::jsonb)"
ENQUEUE = "SELECT mailqueue.enqueue('shop', 'ann@example.com', 'abc', text => '12345')"
SHARED = (
    'SELECT mailqueue.enqueue_shared(\'shop\', \'[{"subject": "abc", "text": "12345"}]\', \'{}\','
    " '[{\"recipient\": \"ann@example.com\"}]', false, 'ann')"
)


async def shop(conn: Conn, **bounds: int) -> Project:
    """Make the project `shop` with a sender account and bounds."""
    made = await projects_manage.add(conn, "shop", settings=bounds, by="ann")
    await make.sender_account(conn, project_id=made.id)
    return made


async def used(conn: Conn, project_id: UUID) -> dict[str, int]:
    """Return what a project uses, by the bound without `max_`."""
    found = await projects_stats.bounds(conn, project_id)
    return {each.bound.removeprefix("max_"): each.used for each in found}


async def counted(conn: Conn) -> None:
    """Count as workers do, also shortly after the last count."""
    await conn.execute("UPDATE mailqueue.usage_counts SET counted_at = '-infinity'")
    await conn.execute("SELECT mailqueue.gather_lanes()")


async def copy(conn: Conn, rows: int) -> None:
    async with conn.cursor().copy(COPY) as stream:
        for _ in range(rows):
            await stream.write_row(("shop", "ann@example.com", "abc", "12345"))


WAYS = ("INSERT", "ENQUEUE", "SHARED", "COPY", "BATCH", "MANY")


async def hand_in(conn: Conn, way: str, emails: int) -> None:
    """Submit emails of `shop` in one transaction, or one by one where the interface takes one."""
    async with conn.transaction():
        match way:
            case "COPY":
                await copy(conn, emails)
            case "BATCH":
                await conn.execute(BATCH, [json.dumps([MAIL] * emails)])
            case "MANY":
                await conn.execute(MANY, [emails])
            case _:
                single = {"INSERT": INSERT, "ENQUEUE": ENQUEUE, "SHARED": SHARED}[way]
                for _ in range(emails):
                    await conn.execute(single)
