"""Mail of lost workers is always returned, and an outage declares no worker lost."""

import pytest

from mailqueue.db.link import Link
from mailqueue.queue.rescue import GRACE_SECONDS, RESCUE_SECONDS, rescue_once, turn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, opened

pytestmark = pytest.mark.anyio
_CUT = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = 'test/rescue'
"""


async def test_after_an_outage_workers_get_the_time_to_beat(database: DatabaseSettings) -> None:
    link = Link(database, "test/rescue")
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_email(conn)
        worker = await make.worker(conn)
        await claim(conn, worker)
        try:
            assert await rescue_once(link) == 0
            await make.silent(conn, worker)
            assert await make.scalar(conn, _CUT) == 1

            assert await rescue_once(link) is None
            assert await rescue_once(link) == 1
        finally:
            await link.close()


async def test_a_rescue_that_failed_is_tried_again(database: DatabaseSettings) -> None:
    """No other mechanism returns what a dead worker had claimed."""
    link = Link(database, "test/rescue")
    rename = "ALTER FUNCTION mailqueue.{}(interval, uuid) RENAME TO {}"
    async with opened(database, 1) as (conn,):
        await conn.execute(rename.format("rescue_emails", "away").encode())
        try:
            assert await turn(link) == GRACE_SECONDS
            await conn.execute(rename.format("away", "rescue_emails").encode())

            assert await turn(link) == RESCUE_SECONDS
        finally:
            await link.close()
