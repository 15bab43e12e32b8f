"""A few rows of the queues that write and read files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from tests import make
from tests.analytics.exports import steps
from tests.imports import steps as import_steps
from tests.queue.kernel.rows import DONE, Rows, ids_of

EMAILS = 5
"""Emails of each project."""


@asynccontextmanager
async def exports(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create exports of projects of their own, each of whose files has every email once."""
    begun = []
    for number in range(count):
        project = await make.project(conn, f"shop-{number}")
        ids = [await make.queued_email(conn, project_id=project) for _ in range(EMAILS)]
        begun.append((project, (await steps.begun(conn, project, form="csv")).id, sorted(ids)))

    async def check(_doubtful: int) -> None:
        for project, export, ids in begun:
            lines = (await steps.file_of(conn, project, export)).splitlines()[1:]
            assert [line.partition(",")[0] for line in lines] == [str(each) for each in ids]

    spec = queue_named("exports")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def imports(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create imports of projects of their own, each of whose lines is taken once."""
    begun = []
    for number in range(count):
        project = await make.project(conn, f"shop-{number}")
        file = import_steps.csv_of(EMAILS)
        begun.append((project, (await import_steps.begun(conn, project, file)).id))

    async def check(_doubtful: int) -> None:
        for project, import_id in begun:
            found = await import_steps.found(conn, project, import_id)
            assert (found.lines_read, found.taken) == (EMAILS, {"added": EMAILS})

    spec = queue_named("imports")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)
