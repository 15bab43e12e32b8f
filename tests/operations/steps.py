"""Operations on many mails, through the SQL functions."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from tests import make
from tests.mail.claim.steps import claim, settle


async def matching(conn: Conn, verb: str, *arguments: object, **conditions: object) -> int:
    """Apply an operation to matching mail; the filter's project is default unless given."""
    asked = Jsonb({"project": "default", **conditions})
    places = ", ".join(["%s"] * (1 + len(arguments)))
    found: int = await make.scalar(
        conn, f"SELECT mailqueue.{verb}_matching({places})", asked, *arguments
    )
    return found


async def count(conn: Conn, verb: str, **conditions: object) -> int:
    asked = Jsonb({"project": "default", **conditions})
    found: int = await make.scalar(
        conn, "SELECT mailqueue.count_matching(%s, %s, '{}')", verb, asked
    )
    return found


async def audit(conn: Conn) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (row[0], row[1], row[2])
        for row in await make.rows(
            conn, "SELECT action, subject, detail FROM mailqueue.audit_events ORDER BY id"
        )
    ]


async def finished(conn: Conn, ending: Ending = Ending.SENT, **columns: object) -> UUID:
    """Create a mail and send it, or let it fail."""
    email = await make.queued_email(conn, **columns)
    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker), ending, reason=None)
    return email


async def aged(conn: Conn, email: UUID, age: str) -> None:
    await conn.execute(
        "UPDATE mailqueue.email_queue SET created_at = now() - %s::interval WHERE id = %s",
        (age, email),
    )
