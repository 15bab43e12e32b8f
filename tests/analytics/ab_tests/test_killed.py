"""Workers that die after the answer or after any chunk decide once, and send each person one."""

import asyncio
import os
import signal
import sys

import pytest

from mailqueue.analytics.ab_tests import requests
from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.ab_tests import steps

pytestmark = pytest.mark.anyio

ADVANCED = "ab_test.advanced"
"""The point after the commit of the answer, and of each chunk."""
PEOPLE = 60
ONE_TURN = """
import asyncio, os
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.analytics.ab_tests import steps
asyncio.run(steps.worked(DatabaseSettings(Secret(os.environ["DATABASE"]))))
"""


@pytest.mark.parametrize("passing", [1, 2, 3])
async def test_a_worker_dies_after_the_answer_or_a_chunk(
    database: DatabaseSettings, passing: int
) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn, sample_percent=30)
        await steps.sent_to(conn, test.id, PEOPLE)
        await steps.time_over(conn, test.id)

        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ONE_TURN),
            env=os.environ
            | {VARIABLE: f"{ADVANCED} kill {passing}", "DATABASE": database.url.reveal()},
        )
        assert await child.wait() == -signal.SIGKILL
        before = await requests.find(conn, None, test.id)
        assert before.result == "too_few"
        await conn.execute("UPDATE mailqueue.ab_tests SET lease_until = now() - interval '1 s'")
        await conn.execute("SELECT mailqueue.return_ab_tests(NULL)")
        await steps.worked(database)

        after = await requests.find(conn, None, test.id)
        assert (after.state, after.decided_at) == ("completed", before.decided_at)
        query = "SELECT count(*), count(DISTINCT recipient_email) FROM mailqueue.email_queue"
        assert await make.rows(conn, query) == [(PEOPLE, PEOPLE)]
