"""`mailqueue status` shows exact counts, and marks estimates as such."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending
from mailqueue.operations.overview import look
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, settle

pytestmark = pytest.mark.anyio

_ANALYSE = "ANALYZE mailqueue.email_queue, mailqueue.email_history"


async def fill(conn: Conn) -> None:
    """Create sixty sent and forty failed mails, a hundred pending in one lane and five in
    another.
    """
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 100)
    taken = await claim(conn, worker)
    await settle(conn, taken[:60])
    await settle(conn, taken[60:], Ending.FAILED, reason="no such user")
    await make.queued_emails(conn, 100)
    await make.queued_emails(conn, 5, priority=0)


async def test_little_mail_is_counted(conn: Conn) -> None:
    await fill(conn)

    overview = await look(conn)

    assert overview.estimated == []
    assert (overview.totals["sent"], overview.totals["failed"]) == (60, 40)
    assert overview.totals["pending"] == 105
    assert [lane.due for lane in overview.lanes] == [5, 100]


async def test_much_mail_is_estimated_by_statistics(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await conn.execute(
            "UPDATE mailqueue.system_settings SET value = 50 WHERE name = 'count_exactly'"
        )
        await fill(conn)
        await conn.execute("SELECT pg_stat_force_next_flush()")
        await conn.execute(_ANALYSE)

        overview = await look(conn)

    assert set(overview.estimated) == {"pending", "sent", "failed"}
    assert overview.totals["sent"] == pytest.approx(60, abs=5)
    assert overview.totals["failed"] == pytest.approx(40, abs=5)
    assert overview.totals["pending"] == pytest.approx(105, abs=5)
    assert overview.totals["held"] == 0
    assert [lane.pending for lane in overview.lanes] == pytest.approx([5, 100], abs=5)


async def test_finished_mail_of_a_project_is_counted(conn: Conn) -> None:
    await fill(conn)
    other = await make.project(conn, "other")

    overview = await look(conn, project="default")

    assert overview.estimated == []
    assert (overview.totals["sent"], overview.totals["failed"]) == (60, 40)
    assert overview.totals["pending"] == 105
    await conn.execute("UPDATE mailqueue.email_history SET project_id = %s", (other,))
    assert (await look(conn, project="default")).totals["sent"] == 0


async def test_much_finished_mail_of_a_project_is_estimated(database: DatabaseSettings) -> None:
    """By the newest, here those that failed, and by statistics of how many the project has."""
    async with connect(database) as conn:
        await conn.execute(
            "UPDATE mailqueue.system_settings SET value = 50 WHERE name = 'count_exactly'"
        )
        await fill(conn)
        await conn.execute("SELECT pg_stat_force_next_flush()")
        await conn.execute(_ANALYSE)

        overview = await look(conn, project="default")

    assert set(overview.estimated) == {"sent", "failed"}
    assert overview.totals["sent"] + overview.totals["failed"] == pytest.approx(100, abs=5)
    assert overview.totals["failed"] > overview.totals["sent"]
