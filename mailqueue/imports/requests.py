"""Begin, find and cancel imports."""

import asyncio
from dataclasses import replace
from uuid import UUID

from mailqueue.contacts import lists
from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.imports import reading, store
from mailqueue.imports.model import WantedImport
from mailqueue.suppression.acceptable import reason_of

MAX_UNFINISHED = 5
"""Imports of a project, of each mode, that may be unfinished at a time."""


async def begin(conn: Conn, project_id: UUID, wanted: WantedImport, *, by: str) -> DataImport:
    """Begin an import, in the caller's transaction; workers read its file.

    Raises:
        InvalidField: field `file`; it is not a list. Or field `list`: it has a condition. Or field
            `reason`: it is none of a suppression.
        NotFound: there is no such list.
        Conflict: the project has too many unfinished imports.
    """
    encoding, lines = await asyncio.to_thread(reading.examine, wanted.file)
    if (name := wanted.options.get("list")) is not None:
        found = await lists.get(conn, project_id, name)
        if found.condition is not None:
            raise InvalidField("list", "its condition says who is in this list")
    if (reason := wanted.options.get("reason")) is not None:
        wanted = replace(wanted, options={**wanted.options, "reason": reason_of(reason).value})
    async with conn.transaction():
        made = await store.begin(
            conn,
            project_id,
            wanted,
            encoding=encoding,
            lines=lines,
            max_unfinished=MAX_UNFINISHED,
            by=by,
        )
        while (part := await asyncio.to_thread(reading.next_part, wanted.file)) is not None:
            size, data = part
            await store.add_part(conn, project_id, made, size=size, data=data)
    return await find(conn, project_id, wanted.kind, made)


async def find(
    conn: Conn, project_id: UUID, kind: ImportKind | None, import_id: UUID
) -> DataImport:
    """Return an import of a project; `kind` None: of any kind.

    Raises:
        NotFound: there is no such import.
    """
    found = await store.find(conn, project_id, kind, import_id)
    if found is None:
        raise NotFound("import", import_id)
    return found


async def page(
    conn: Conn, project_id: UUID, kind: ImportKind | None, *, before: UUID | None = None, limit: int
) -> list[DataImport]:
    """Return imports of a project, newest first, without the lines that were refused; `kind` None:
    of all kinds.
    """
    return await store.page(conn, project_id, kind, before=before, limit=limit)


async def cancel(
    conn: Conn, project_id: UUID, kind: ImportKind | None, import_id: UUID, *, by: str
) -> DataImport:
    """Take no more lines of an import, in the caller's transaction; what was taken stays.

    Raises:
        NotFound: there is no such import; `kind` None: of any kind.
        Conflict: it has ended.
    """
    state = await store.cancel(conn, project_id, kind, import_id, by=by)
    if state is not None and state != "waiting":
        raise Conflict(f"the import has ended: it is {state}")
    return await find(conn, project_id, kind, import_id)
