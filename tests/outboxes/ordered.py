"""A project that orders its mail, and its mail in the order in which it is sent."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail
from tests import make
from tests.mail.claim.steps import claim, sent


async def ordered(conn: Conn, by: str, *, on_failure: str = "continue") -> None:
    """Let the default project order its mail; give it a sender account."""
    await conn.execute(
        b"SELECT mailqueue.change_project('default', %s)",
        [Jsonb({"ordering": by, "ordering_on_failure": on_failure})],
    )
    await make.sender_account(conn)


async def of_customer(conn: Conn, customer: object, **columns: object) -> UUID:
    return await make.queued_email(conn, custom_data={"customer": customer}, **columns)


def ids(emails: Sequence[ClaimedEmail]) -> list[UUID]:
    return [email.id for email in emails]


async def drained(conn: Conn, worker: int) -> list[UUID]:
    """Send all mail that has its turn until none is left; return the ids in order."""
    order = []
    while emails := await claim(conn, worker):
        order += ids(emails)
        await sent(conn, emails)
    return order


async def why(conn: Conn, email: UUID) -> str:
    found: str = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    return found
