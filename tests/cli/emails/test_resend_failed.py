"""Failed emails are queued again by one command, and others are left alone."""

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from tests import make
from tests.cli.support.invoked import Cli
from tests.operations.steps import finished


def test_failed_emails_alone_are_queued_again(on_fresh_db: Cli) -> None:
    async def two(conn: Conn) -> None:
        await make.sender_account(conn)
        await finished(conn, Ending.FAILED)
        await finished(conn, Ending.SENT)

    on_fresh_db.sql(two)
    trial = on_fresh_db("email", "resend-failed", "--project", "default", "--dry-run")
    done = on_fresh_db("email", "resend-failed", "--project", "default", "--yes")

    assert "1" in trial.stdout
    assert done.stdout == "1 requeued\n"
    states = "SELECT status FROM mailqueue.emails ORDER BY status"
    assert on_fresh_db.sql(lambda conn: make.rows(conn, states)) == [("pending",), ("sent",)]


def test_it_takes_no_ids_and_no_other_state(on_fresh_db: Cli) -> None:
    for words in (
        ("019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11",),
        ("--project", "default", "--status", "cancelled"),
    ):
        refused = on_fresh_db("email", "resend-failed", *words)

        assert refused.exit_code == 2
        assert "requeue takes ids and states" in refused.stderr
