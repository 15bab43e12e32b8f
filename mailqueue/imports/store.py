"""SQL of imports."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.contract.suppression import BadLine, ListEncoding
from mailqueue.core.errors import Conflict
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import part_refusals
from mailqueue.db.statements.contacts import imports as sql
from mailqueue.imports.model import OpenImport, ReadLines, WantedImport


async def begin(
    conn: Conn,
    project_id: UUID,
    wanted: WantedImport,
    *,
    encoding: ListEncoding,
    lines: int,
    max_unfinished: int,
    by: str,
) -> UUID:
    """Begin an import; return its id.

    Raises:
        Conflict: the project has too many unfinished imports.
    """
    asked = {
        "project_id": project_id,
        "kind": wanted.kind.value,
        "options": Jsonb(dict(wanted.options)),
        "file_name": wanted.file_name,
        "encoding": encoding.value,
        "lines": lines,
        "is_test": wanted.is_test,
        "max_unfinished": max_unfinished,
        "by": by,
    }
    try:
        return await fetch.value(conn, sql.BEGIN_IMPORT, asked, UUID)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def add_part(
    conn: Conn, project_id: UUID, import_id: UUID, *, size: int, data: bytes
) -> None:
    """Add the next part of the file of an import, in the transaction that begins it."""
    asked = {"project_id": project_id, "id": import_id, "bytes": size, "data": data}
    await fetch.run(conn, sql.ADD_IMPORT_PART, asked)


async def page(
    conn: Conn, project_id: UUID, kind: ImportKind | None, *, before: UUID | None, limit: int
) -> list[DataImport]:
    """Return imports of a project, newest first; `kind` None: of all kinds."""
    asked = {"project_id": project_id, "kind": _text_of(kind), "before": before, "limit": limit}
    return [_typed(one) for one in await fetch.many(conn, sql.LIST_IMPORTS, asked, DataImport)]


async def find(
    conn: Conn, project_id: UUID, kind: ImportKind | None, import_id: UUID
) -> DataImport | None:
    """Return an import, or None if there is none; `kind` None: of any kind."""
    asked = {"project_id": project_id, "kind": _text_of(kind), "id": import_id}
    found = await fetch.maybe(conn, sql.FIND_IMPORT, asked, DataImport)
    return None if found is None else _typed(found)


async def cancel(
    conn: Conn, project_id: UUID, kind: ImportKind | None, import_id: UUID, *, by: str
) -> str | None:
    """Cancel an import; return the state of one that has ended, `waiting` of another, None if there
    is none.
    """
    asked = {"project_id": project_id, "kind": _text_of(kind), "id": import_id, "by": by}
    return await fetch.maybe(conn, sql.CANCEL_IMPORT, asked, str)


async def open_import(conn: Conn, import_id: UUID, *, claim_no: int) -> OpenImport:
    """Return what a worker needs to know of an import."""
    asked = {"id": import_id, "claim_no": claim_no}
    return await fetch.one(conn, sql.OPEN_IMPORT, asked, OpenImport)


async def read_part(conn: Conn, import_id: UUID, number: int, *, claim_no: int) -> bytes | None:
    """Return a part of the file of an import, compressed; None where it is gone."""
    asked = {"id": import_id, "claim_no": claim_no, "number": number}
    return await fetch.maybe(conn, sql.READ_IMPORT_PART, asked, bytes)


async def take(conn: Conn, import_id: UUID, read: ReadLines, *, claim_no: int) -> str:
    """Take lines and count them, all or none; return the state of the import.

    Raises:
        InvalidField: the list of contacts is gone, or takes no members.
        ProjectFull: the project may have no more contacts.
        Conflict: another transaction changes or removes a contact.
    """
    asked: Mapping[str, Any] = {
        "id": import_id,
        "claim_no": claim_no,
        "to": read.to,
        "lines": Jsonb([{"line": number, "fields": fields} for number, fields in read.valid]),
        "refused": Jsonb([asdict(one) for one in read.refused]),
    }
    with part_refusals():
        async with conn.transaction():
            return await fetch.value(conn, sql.TAKE_IMPORT_LINES, asked, str)


async def end(conn: Conn, import_id: UUID, *, state: str, error: str | None) -> None:
    """Delete the file of an import, and insert the audit event of its end."""
    await fetch.run(conn, sql.END_IMPORT, {"id": import_id, "state": state, "error": error})


def _text_of(kind: ImportKind | None) -> str | None:
    return None if kind is None else kind.value


def _typed(found: DataImport) -> DataImport:
    """Return an import with the types of its values, which are read as text and JSON."""
    refusals: Any = found.refusals
    return replace(
        found,
        kind=ImportKind(found.kind),
        encoding=ListEncoding(found.encoding),
        refusals=[BadLine(**each) for each in refusals],
    )
