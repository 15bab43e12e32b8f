"""Doctor names logins with asynchronous commits: a crash may lose their transactions."""

from mailqueue.db.fetch import Conn
from tests.cli.support.invoked import Cli


def test_a_commit_that_is_not_waited_for_is_told(on_fresh_db: Cli) -> None:
    url = on_fresh_db.database + "?options=-csynchronous_commit%3Doff"

    shown = on_fresh_db("doctor", env={"MAILQUEUE_DATABASE_URL": url}).stdout

    assert "synchronous_commit is off" in shown


def test_a_user_whose_commits_are_not_waited_for_is_told(on_fresh_db: Cli) -> None:
    """Workers may use another login than the command."""

    async def hasty(conn: Conn) -> None:
        await conn.execute("CREATE ROLE hasty")
        await conn.execute("ALTER ROLE hasty SET synchronous_commit = off")
        await conn.execute("GRANT INSERT ON mailqueue.email_queue TO hasty")

    async def gone(conn: Conn) -> None:
        await conn.execute("REVOKE INSERT ON mailqueue.email_queue FROM hasty")
        await conn.execute("DROP ROLE hasty")

    on_fresh_db.sql(hasty)
    try:
        shown = on_fresh_db("doctor").stdout
    finally:
        on_fresh_db.sql(gone)

    assert "synchronous_commit is off for user hasty" in " ".join(shown.split())
