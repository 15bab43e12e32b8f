"""The timeline of an email: what caused something stands before it."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.reads.emails import find
from tests import make

pytestmark = pytest.mark.anyio


async def settled(conn: Conn, outcome: str, log: str, *, delivery: str = "resend") -> UUID:
    """Return an email whose first attempt had this outcome."""
    email_id = await make.queued_email(conn, delivery=delivery)
    [(_, claim_no)] = await make.claimed(conn, await make.worker(conn))
    await conn.execute(
        "SELECT mailqueue.settle_emails(%s, %s, %s, '{no such user}', '{NULL}', '{1}', '{1}', %s,"
        " '{NULL}', '{NULL}', '{550}', '{5.1.1}', '{no such user}', '{7}', '{f}')",
        ([email_id], [claim_no], [outcome], [log]),
    )
    return email_id


@pytest.mark.parametrize(
    ("outcome", "log", "after"),
    [
        ("failed", "rejected", ["failed"]),
        ("failed", "bounced", ["failed", "soft_bounce"]),
        ("expired", "deferred", ["expired"]),
        ("cancelled", "deferred", ["cancelled"]),
        ("unknown", "unknown", ["held"]),
        ("sent", "sent", ["sent"]),
    ],
)
async def test_an_attempt_stands_before_its_outcome(
    conn: Conn, outcome: str, log: str, after: list[str]
) -> None:
    await make.sender_account(conn, name="relay")
    email_id = await settled(conn, outcome, log, delivery="hold")

    email = await find(conn, email_id, project_id=await make.project_named(conn))

    what = [moment.what for moment in email.timeline if moment.what != "queued"]
    assert what == ["accepted", f"attempt_{log}", *after]
