"""`mailqueue.why` says that attempts ran out and with which code, and knows of the archive."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.operations.why.commands import commands, parsed, why
from tests.operations.why.mail_states import look_again, run
from tests.queue.kernel.kinds import KINDS

pytestmark = pytest.mark.anyio


async def failed_after(conn: Conn, *codes: str, log: LogStatus = LogStatus.DEFERRED) -> UUID:
    """Return a mail that failed: with these codes, one attempt each."""
    await make.sender_account(conn, name="relay")
    email = await make.queued_email(conn, max_attempts=len(codes))
    worker = await make.worker(conn)
    for code in codes:
        await run(
            conn,
            "UPDATE mailqueue.email_queue SET run_at = now() - interval '1 s' WHERE id = %s",
            email,
        )
        await look_again(conn)
        [claimed] = await claim(conn, worker)
        basic, _, enhanced = code.partition(" ")
        await settle(
            conn,
            [claimed],
            Ending.RETRY if log is LogStatus.DEFERRED else Ending.FAILED,
            log=log,
            code=basic,
            enhanced=enhanced or None,
            reason="told so",
            reply="told so",
        )
    return email


async def test_attempts_that_ran_out_are_named_with_the_last_code(conn: Conn) -> None:
    said = await why(conn, await failed_after(conn, "421", "450", "451 4.3.0"))

    assert ": told so; its attempts ran out after 3, answered 451 4.3.0 by sender account" in said
    assert "sender account relay; to queue it again" in said


async def test_a_mail_refused_at_once_has_a_code_and_attempts_left(conn: Conn) -> None:
    said = await why(conn, await failed_after(conn, "550 5.7.1", log=LogStatus.REJECTED))

    assert "ran out" not in said
    assert ": told so; attempt 1, answered 550 5.7.1 by sender account relay" in said


async def test_a_row_whose_attempts_ran_out_says_so(conn: Conn) -> None:
    async with KINDS["webhooks"](conn, 1) as made:
        row = made.ids[0]
    await run(
        conn,
        "UPDATE mailqueue.webhook_deliveries SET status = 'failed', finished_at = now(),"
        " attempts = max_attempts, last_error = 'told so' WHERE id = %s",
        row,
    )

    assert ": told so; its attempts ran out after " in await why(conn, row)


async def archived(conn: Conn, month: str) -> None:
    await run(
        conn,
        "INSERT INTO mailqueue.archives (project_id, kind, month, part, state, store, path,"
        " records, bytes, sha256, archived_at) VALUES (mailqueue.uuidv7(), 'email_history', %s, 1,"
        " 'archived', 'file:///archive', %s, 1, 1, 'x', now())",
        f"{month}-01",
        month,
    )


EMAIL = UUID("01912d68-783e-7a03-8467-5661c1243ad4")
"""The id of a mail of August 2024."""


async def test_a_mail_that_may_be_archived_names_the_command_that_reads_it(conn: Conn) -> None:
    assert await why(conn, EMAIL) == "there is no such email"

    await archived(conn, "2024-07")
    said = await why(conn, EMAIL)
    assert said.startswith("there is no such email here: old ones are in the archive; ")
    assert commands(said) == [f"archive read --kind email_history --having {EMAIL}"]

    await archived(conn, "2024-08")
    [line] = commands(await why(conn, EMAIL))
    assert line == f"archive read --kind email_history --month 2024-08 --having {EMAIL}"
    parsed(line)

    await archived(conn, "2024-09")
    [line] = commands(await why(conn, EMAIL))
    assert line == f"archive read --kind email_history --having {EMAIL}"
