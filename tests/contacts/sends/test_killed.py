"""Workers that die after any chunk leave no contact without its mail, and none with two."""

import asyncio
import os
import signal
import sys

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts.sends import steps

pytestmark = pytest.mark.anyio

ADVANCED = "list_send.advanced"
"""The point after the commit of a chunk."""
ONE_TURN = """
import asyncio, os
from mailqueue.contacts.sends import handler
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.queue.working import work_once
handler.MAX_CHUNK = 2
database = DatabaseSettings(Secret(os.environ["DATABASE"]))
asyncio.run(work_once(database, "list-sends", handler.ListSendHandler(database)))
"""


@pytest.mark.parametrize(("passing", "made"), [(1, 0), (2, 2), (4, 5)])
async def test_a_worker_dies_after_a_chunk(
    database: DatabaseSettings, passing: int, made: int
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await steps.listed(conn, project, 5)
        send = await steps.sent(conn, project)

        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ONE_TURN),
            env=os.environ
            | {VARIABLE: f"{ADVANCED} kill {passing}", "DATABASE": database.url.reveal()},
        )
        assert await child.wait() == -signal.SIGKILL
        assert len(await steps.queued(conn)) == made
        await conn.execute("UPDATE mailqueue.list_sends SET lease_until = now() - interval '1 s'")
        await conn.execute("SELECT mailqueue.return_list_sends(NULL)")
        await steps.worked(database)

        assert await steps.queued(conn) == [f"news{n}@example.com" for n in range(5)]
        assert await steps.progress(conn, send) == {"status": "done", "contacts": 5, "accepted": 5}
