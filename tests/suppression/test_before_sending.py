"""The check before a mail is handed over sees suppressions made since it was accepted."""

from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

HARD = "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES (%s, 'hard')"


async def marks(conn: Conn, **columns: Any) -> tuple[Any, ...]:
    """Accept and claim a mail, suppress two addresses, and mark it."""
    await make.sender_account(conn)
    email_id = await make.queued_email(conn, **columns)
    worker = await make.worker(conn)
    [(_, claim_no)] = await make.claimed(conn, worker)
    for address in ("ann@example.com", "cy@example.com"):
        await conn.execute(HARD, (address,))
    [found] = await make.rows(
        conn,
        "SELECT verdict, reason, stopped FROM mailqueue.mark_emails(%s, %s, %s, '{}', '{}')",
        worker,
        [email_id],
        [claim_no],
    )
    return found


async def test_a_mail_whose_recipient_was_suppressed_meanwhile_is_not_sent(conn: Conn) -> None:
    assert await marks(conn) == ("suppressed", "hard_bounce", None)


async def test_a_mail_to_another_address_is_sent(conn: Conn) -> None:
    assert await marks(conn, recipient_email="bob@example.com") == ("go", None, None)


async def test_only_the_suppressed_of_several_recipients_are_stopped(conn: Conn) -> None:
    found = await marks(conn, cc=["Cy@example.com", "bob@example.com"])

    assert found[:2] == ("go", None)
    assert sorted(found[2]) == ["Cy@example.com", "ann@example.com"]


async def test_a_mail_whose_recipients_are_all_suppressed_is_not_sent(conn: Conn) -> None:
    verdict, reason, _ = await marks(conn, cc=["cy@example.com"])

    assert (verdict, reason) == ("suppressed", "hard_bounce")


async def test_one_recipient_left_of_several_is_still_looked_at_by_itself(conn: Conn) -> None:
    """The first recipient was suppressed when the mail was accepted; the other one gets it."""
    await conn.execute(HARD, ("first@example.com",))

    found = await marks(conn, recipient_email="first@example.com", bcc=["bob@example.com"])

    assert found == ("go", None, None)


async def test_the_one_recipient_left_of_several_can_be_suppressed_too(conn: Conn) -> None:
    await conn.execute(HARD, ("first@example.com",))

    found = await marks(conn, recipient_email="first@example.com", bcc=["cy@example.com"])

    assert found[:2] == ("suppressed", "hard_bounce")
