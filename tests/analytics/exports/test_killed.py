"""Workers that die after any part leave no row out of a file, and write none twice."""

import asyncio
import json
import os
import signal
import sys

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio

WRITTEN = "export.written"
"""The point after the commit of a part."""
ONE_TURN = """
import asyncio, os
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.analytics.exports import steps
asyncio.run(steps.worked(DatabaseSettings(Secret(os.environ["DATABASE"]))))
"""


@pytest.mark.parametrize(("passing", "parts"), [(1, 1), (2, 2), (3, 3)])
async def test_a_worker_dies_after_a_part(
    database: DatabaseSettings, passing: int, parts: int
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        ids = [await make.queued_email(conn, project_id=project) for _ in range(5)]
        export = await steps.begun(conn, project)

        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ONE_TURN),
            env=os.environ
            | {VARIABLE: f"{WRITTEN} kill {passing}", "DATABASE": database.url.reveal()},
        )
        assert await child.wait() == -signal.SIGKILL
        assert await make.scalar(conn, "SELECT parts FROM mailqueue.exports") == parts
        await conn.execute("UPDATE mailqueue.exports SET lease_until = now() - interval '1 s'")
        await conn.execute("SELECT mailqueue.return_exports(NULL)")
        await steps.worked(database)

        text = await steps.file_of(conn, project, export.id)
        found = [json.loads(line)["id"] for line in text.splitlines()]
        assert found == [str(one) for one in sorted(ids)]
