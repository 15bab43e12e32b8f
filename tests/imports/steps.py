"""Begins imports, and lets a worker take their lines."""

import io
from typing import Any
from uuid import UUID

from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.db.fetch import Conn
from mailqueue.imports import requests
from mailqueue.imports.handler import ImportHandler
from mailqueue.imports.model import WantedImport
from mailqueue.privacy import erasing, persons
from mailqueue.settings.environment import DatabaseSettings
from tests.queue.working import work_once

LINES_PER_COMMIT = 2
"""Lines of a commit in tests: files have several."""


async def begun(
    conn: Conn,
    project_id: UUID,
    content: bytes | str,
    *,
    kind: ImportKind = ImportKind.CONTACTS,
    is_test: bool = False,
    **options: Any,
) -> DataImport:
    """Begin an import."""
    file = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    wanted = WantedImport(kind, file, "a.csv", options, is_test=is_test)
    return await requests.begin(conn, project_id, wanted, by="tests")


async def found(conn: Conn, project_id: UUID, import_id: UUID) -> DataImport:
    """Return an import."""
    return await requests.find(conn, project_id, None, import_id)


async def worked(database: DatabaseSettings, *, lines: int = LINES_PER_COMMIT) -> int:
    """Let a worker claim once; return the number of imports that it handled."""
    handler = ImportHandler(database, lines_per_commit=dict.fromkeys(ImportKind, lines))
    return await work_once(database, "imports", handler)


async def erased(conn: Conn, project_id: UUID, address: str) -> None:
    """Erase a person of a project."""
    lend = persons.lending(conn)
    erasure = await erasing.begin(lend, project_id, persons.spellings_of(address), by="tests")
    assert (await erasing.go_on(lend, erasure, by="tests")).is_done


def csv_of(count: int) -> str:
    """Return a file of persons. Pure."""
    return "email\n" + "".join(f"person{number}@example.com\n" for number in range(count))
