"""A database full of extremes through which workers have gone, and what became of it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import structlog

from mailqueue.core.queues.registry import QUEUES
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import run_queues
from mailqueue.settings.environment import DatabaseSettings, Settings, load_settings
from mailqueue.wiring import sending
from mailqueue.wiring.queues import kinds_of
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli
from tests.conftest import Server
from tests.queue.extremes.columns import columns
from tests.queue.extremes.filling import Filled, Site, fill, projects, queued
from tests.smtp.client.scripted import scripted

PATIENCE_SECONDS = 150.0
"""Wait on a busy machine until something more is done: maintenance runs one task at a time, and of
these the archive alone takes a third of the whole wait.
"""
POLL_SECONDS = 1.0
"""Interval at which is looked for what is done: a look reads a table of each queue."""
MAX_STEPS = 6
"""Such waits of a run at most."""
FEW, ALL = 1, 30
"""Extremes of each column: in each run, and of a long one."""
NEIGHBOURS = 20


@dataclass(frozen=True, slots=True)
class Extreme:
    """The database after workers of all kinds have run."""

    filled: Filled
    database: DatabaseSettings
    settings: Settings
    cli: Cli
    left: dict[str, dict[str, int]]
    """Rows of neighbours that are not done, by table, state and error."""
    unseen: list[str]
    """Projects with emails that no worker has looked at, though nothing blocks them."""
    logged: list[Any]
    most: int
    """Extremes of each column."""
    is_running: bool
    """Whether the workers ran until they were told to stop."""


@pytest.fixture(scope="module", params=[FEW, pytest.param(ALL, marks=pytest.mark.soak)])
async def extreme(
    request: pytest.FixtureRequest,
    module_db: str,
    server: Server,
    tmp_path_factory: pytest.TempPathFactory,
    anyio_backend: str,
) -> AsyncIterator[Extreme]:
    """Fill a database, then run every kind of worker beside mail and rows of neighbours."""
    folder = tmp_path_factory.mktemp("extremes")
    database = DatabaseSettings(Secret(module_db))
    cli = Cli(module_db, folder)
    cli.environment |= {
        "MAILQUEUE_MASTER_KEY": MASTER,
        "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8",
        "MAILQUEUE_ARCHIVE": str(folder / "archive"),
        "MAILQUEUE_PUBLIC_URL": "https://mail.example.com",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cli.environment.items():
            patch.setenv(name, str(value))
        settings = load_settings()
    async with site(database, server, folder) as here:
        filled = await fill(here, await columns(here.conn), most=request.param)
        left, waiting = {"email_queue": {"pending": NEIGHBOURS}}, list[str]()
        near, stop = Filled(), asyncio.Event()
        with structlog.testing.capture_logs() as logged:
            sender = sending.build_send_worker(settings, launch_id=uuid4())
            kinds = kinds_of(settings, [spec.name for spec in QUEUES])
            running = [
                asyncio.create_task(sender.run(stop)),
                asyncio.create_task(
                    run_queues(database, kinds, stop, launch_id=uuid4(), in_progress=InProgress())
                ),
            ]
            rows = await neighbours(here, near)
            patience = PATIENCE_SECONDS * request.param
            last, end = time.monotonic() + patience, time.monotonic() + patience * MAX_STEPS
            while time.monotonic() < min(last, end) and not _any_done(running):
                before, left = left, await unfinished(here, near, rows)
                rows = {table: rows[table] for table in rows if table in left}
                waiting = await unseen(here)
                if not left and not waiting:
                    break
                if left != before:
                    last = time.monotonic() + patience
                await asyncio.sleep(POLL_SECONDS)
            is_running = not _any_done(running)
            stop.set()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asyncio.gather(*running, return_exceptions=not is_running)
        yield Extreme(
            filled,
            database,
            settings,
            cli,
            left=left,
            unseen=waiting,
            logged=logged,
            most=request.param,
            is_running=is_running,
        )


def _any_done(running: list[asyncio.Task[Any]]) -> bool:
    return any(one.done() for one in running)


@asynccontextmanager
async def site(database: DatabaseSettings, server: Server, folder: Path) -> AsyncIterator[Site]:
    """Serve SMTP and HTTP, and open connections; `owner` passes by triggers and foreign keys."""
    name = database.url.reveal().rpartition("/")[2]
    superuser = DatabaseSettings(Secret(server.superuser_url(name)))
    async with (
        scripted() as smtp,
        fake([FakeReply(200)]) as http,
        connect(database) as conn,
        connect(superuser) as owner,
    ):
        await owner.execute("SET session_replication_role = replica")
        yield Site(conn, owner, smtp.port, http.port, folder)


async def neighbours(here: Site, near: Filled) -> dict[str, list[str]]:
    """Queue mail and rows of other projects; return the conditions that find the rows."""
    await projects(here, near, "near", NEIGHBOURS)
    rows = {}
    for spec in QUEUES:
        if spec.name == "maintenance":
            rows[spec.table] = ["task ~ '^[a-z_]+$'"]
            await here.conn.execute(
                "UPDATE mailqueue.maintenance_tasks SET run_at = now(), last_run_at = NULL"
                " WHERE task ~ '^[a-z_]+$'"
            )
        else:
            rows[spec.table] = await queued(here, near, spec.table, 3, prefix="near-")
    # Erasures look through all tables, one at a time.
    await here.conn.execute(
        "UPDATE mailqueue.erasures SET run_at = now() - interval '1 day'"
        f" WHERE {' OR '.join(rows['erasures'])}"
    )
    return rows


async def unfinished(
    here: Site, near: Filled, rows: dict[str, list[str]]
) -> dict[str, dict[str, int]]:
    """Return the rows of neighbours that are not done, by table, state and error."""
    found = {
        "email_queue": dict(
            await make.rows(
                here.conn,
                "SELECT e.status, count(*) FROM mailqueue.emails AS e"
                " JOIN mailqueue.projects AS p ON p.id = e.project_id"
                " WHERE p.name = ANY (%s) AND e.status <> 'sent' GROUP BY 1",
                near.projects,
            )
        )
    }
    for spec in (one for one in QUEUES if one.table in rows):
        done = "last_run_at IS NOT NULL" if spec.name == "maintenance" else "status = %s"
        params = () if spec.name == "maintenance" else (spec.done,)
        state = "concat_ws(': ', status, left(last_error, 200))"
        query = f"SELECT {state}, count(*) FROM mailqueue.{spec.table} WHERE NOT ({done})"
        condition = " OR ".join(rows[spec.table])
        found[spec.table] = dict(
            await make.rows(here.conn, f"{query} AND ({condition}) GROUP BY 1", *params)
        )
    return {table: states for table, states in found.items() if states}


async def unseen(here: Site) -> list[str]:
    """Return the projects of emails that no worker has looked at, though nothing blocks them."""
    found = await make.rows(
        here.conn,
        "SELECT DISTINCT p.name FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
        " LEFT JOIN mailqueue.projects AS p ON p.id = q.project_id"
        " WHERE q.status = 'pending' AND q.run_at <= now() AND q.attempts = 0"
        " AND q.crashes = 0 AND q.last_error IS NULL AND l.blocked_until IS NULL",
    )
    return [row[0] for row in found]
