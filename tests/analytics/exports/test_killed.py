"""Workers that die after any part leave no row out of a file, and write none twice."""

import asyncio
import json
import os
import signal
import sys

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps

pytestmark = pytest.mark.anyio

WRITTEN = "export.written"
"""The point after the commit of a part."""
COLLECTED = "export.collected"
"""The point at which a person's data is read, and nothing of it is written."""
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

        await _killed(database, f"{WRITTEN} kill {passing}")
        assert await make.scalar(conn, "SELECT parts FROM mailqueue.exports") == parts
        await _again(conn, database)

        text = await steps.file_of(conn, project, export.id)
        found = [json.loads(line)["id"] for line in text.splitlines()]
        assert found == [str(one) for one in sorted(ids)]


@pytest.mark.parametrize(("point", "parts"), [(COLLECTED, 0), (WRITTEN, 1)])
async def test_a_worker_dies_while_it_collects_what_is_stored_about_a_person(
    database: DatabaseSettings, point: str, parts: int
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        mail = await make.queued_email(conn, recipient_email="ann@example.com")
        language = "SELECT mailqueue.ask_for_data(%s, %s, 0, 'en')"
        assert await make.scalar(conn, language, project, mail) == "sent"
        export = await make.scalar(conn, "SELECT id FROM mailqueue.exports")
        await _killed(database, f"{point} kill 1")
        killed = await make.scalar(conn, "SELECT parts FROM mailqueue.exports")
        await _again(conn, database)
        rows = json.loads(await steps.file_of(conn, project, export))

    assert killed == parts
    mails = [row["record"]["id"] for row in rows if row["table"] == "mails"]
    assert len(mails) == len(set(mails)) == 2, "the mail, and that with the link"
    assert str(mail) in mails


async def _killed(database: DatabaseSettings, point: str) -> None:
    """Let a worker claim once, which is killed at a point."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ONE_TURN),
        env=os.environ | {VARIABLE: point, "DATABASE": database.url.reveal()},
    )
    assert await child.wait() == -signal.SIGKILL


async def _again(conn: Conn, database: DatabaseSettings) -> None:
    """Let the lease of a dead worker end, and another go on."""
    await conn.execute("UPDATE mailqueue.exports SET lease_until = now() - interval '1 s'")
    await conn.execute("SELECT mailqueue.return_exports(NULL)")
    await steps.worked(database)
