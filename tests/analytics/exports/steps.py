"""Begins exports, lets a worker write them, and reads their files."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

from mailqueue.analytics.exports import fetching, requests
from mailqueue.analytics.exports.handler import ExportHandler
from mailqueue.analytics.exports.model import WantedExport
from mailqueue.contract.exports import DataExport, ExportFormat, ExportKind
from mailqueue.db.fetch import Conn
from mailqueue.privacy.collecting import collect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.working import work_once

KINDS = [kind for kind in ExportKind if kind is not ExportKind.PERSON]
"""What users and keys can export."""
PAGE_ROWS = 2
"""Rows of a part in tests: files have several parts."""


async def begun(
    conn: Conn,
    project_id: UUID,
    kind: str = "emails",
    form: str = "ndjson",
    *,
    since: Any = None,
    until: Any = None,
    is_test: bool = False,
    where: Mapping[str, str] | None = None,
) -> DataExport:
    """Begin an export."""
    wanted = WantedExport(
        ExportKind(kind), ExportFormat(form), where or {}, since, until, is_test=is_test
    )
    return await requests.begin(conn, project_id, wanted, by="tests")


async def worked(database: DatabaseSettings, *, page_rows: int = PAGE_ROWS) -> int:
    """Let a worker claim once; return the number of exports that it handled."""
    handler = ExportHandler(database, partial(collect, database), page_rows=page_rows)
    return await work_once(database, "exports", handler)


async def bytes_of(conn: Conn, project_id: UUID, export_id: UUID) -> bytes:
    """Return the file of an export as its bytes."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield conn

    export = await requests.find(conn, project_id, export_id)
    pieces = await fetching.begin_file(lend, project_id, export, by="tests")
    return b"".join([piece async for piece in pieces])


async def file_of(conn: Conn, project_id: UUID, export_id: UUID) -> str:
    """Return the file of an export, which is text."""
    return (await bytes_of(conn, project_id, export_id)).decode()


async def written(
    database: DatabaseSettings, conn: Conn, project_id: UUID, *args: str, **given: Any
) -> str:
    """Begin an export and let a worker write it; return its file."""
    export = await begun(conn, project_id, *args, **given)
    await worked(database)
    return await file_of(conn, project_id, export.id)


async def finished_email(conn: Conn, project_id: UUID, number: int, **columns: object) -> UUID:
    """Insert an email that was sent to person<number>@example.com."""
    email = await make.queued_email(
        conn, project_id=project_id, recipient_email=f"person{number}@example.com", **columns
    )
    await conn.execute("SELECT mailqueue.cancel_emails(%s, %s, 'tests')", (project_id, [email]))
    return email


async def rows_of_each_kind(conn: Conn, project: object, number: int) -> None:
    """Insert a row of each kind of export."""
    email = await make.queued_email(conn, project_id=project)
    await event(conn, project, email, "delivered", "ann@example.com")
    await conn.execute(
        "INSERT INTO mailqueue.stats_quarters (project_id, is_test, dimension, value, value2,"
        " started_at, sent) VALUES (%s, false, 'campaign', %s, '', now() - interval '1 h', 7)",
        (project, f"c{number}"),
    )
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason, source)"
        " VALUES (%s, %s, 'manual', 'tests')",
        (project, f"person{number}@example.com"),
    )


async def event(conn: Conn, project: object, email: object, kind: str, address: str) -> None:
    """Insert an event of an email."""
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, data,"
        " occurred_at) VALUES (%s, %s, %s, %s, '{\"url\": \"x\"}', now() - interval '1 s')",
        (project, email, kind, address),
    )
