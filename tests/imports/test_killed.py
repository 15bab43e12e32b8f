"""Workers that die after any commit of an import leave no line out, and take none twice."""

import asyncio
import os
import signal
import sys

import pytest

from mailqueue.contract.background import ImportKind
from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.imports import steps

pytestmark = pytest.mark.anyio

TAKEN = "import.taken"
"""The point after the commit of some lines."""
ONE_TURN = """
import asyncio, os
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.imports import steps
asyncio.run(steps.worked(DatabaseSettings(Secret(os.environ["DATABASE"]))))
"""


@pytest.mark.parametrize("kind", ImportKind)
@pytest.mark.parametrize(("passing", "lines"), [(1, 2), (2, 4), (3, 5)])
async def test_a_worker_dies_after_some_lines(
    database: DatabaseSettings, passing: int, lines: int, kind: ImportKind
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        begun = await steps.begun(conn, project, steps.csv_of(5), kind=kind)

        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ONE_TURN),
            env=os.environ
            | {VARIABLE: f"{TAKEN} kill {passing}", "DATABASE": database.url.reveal()},
        )
        assert await child.wait() == -signal.SIGKILL
        assert (await steps.found(conn, project, begun.id)).lines_read == lines
        await conn.execute("UPDATE mailqueue.imports SET lease_until = now() - interval '1 s'")
        await conn.execute("SELECT mailqueue.return_imports(NULL)")
        await steps.worked(database)

        done = await steps.found(conn, project, begun.id)
        assert (done.state, done.lines_read, done.taken) == ("done", 5, {"added": 5})
