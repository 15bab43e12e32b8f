"""How to bring ordered mail into each state that `mailqueue.why` explains."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.operations.why.mail_states import Build, run


async def _two(conn: Conn, *, on_failure: str = "continue") -> UUID:
    """Return the second of two mails that go in order."""
    await run(
        conn,
        "UPDATE mailqueue.projects SET ordering = 'project', ordering_on_failure = %s",
        on_failure,
    )
    await make.sender_account(conn)
    await make.queued_email(conn)
    return await make.queued_email(conn)


async def first(conn: Conn) -> UUID:
    await _two(conn)
    return UUID(
        str(
            await make.scalar(
                conn, "SELECT email_id FROM mailqueue.email_order ORDER BY sequence_number LIMIT 1"
            )
        )
    )


async def behind(conn: Conn) -> UUID:
    return await _two(conn)


async def blocked(conn: Conn) -> UUID:
    email = await _two(conn, on_failure="block")
    await settle(conn, await claim(conn, await make.worker(conn)), Ending.FAILED, reason="550")
    return email


ORDERED: dict[tuple[str, str], Build] = {
    ("order", "first"): first,
    ("order", "behind"): behind,
    ("order", "blocked"): blocked,
}
