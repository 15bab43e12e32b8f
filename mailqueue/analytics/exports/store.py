"""SQL of exports."""

from dataclasses import replace
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.analytics.exports.model import ExportPage, WantedExport
from mailqueue.contract.exports import DataExport, ExportFormat, ExportKind
from mailqueue.core.errors import Conflict, InvalidField, ProjectFull, Unavailable
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import part_refusals
from mailqueue.db.statements.analytics import exports as sql


async def begin(
    conn: Conn,
    project_id: UUID,
    wanted: WantedExport,
    *,
    max_unfinished: int,
    max_bytes: int,
    by: str,
) -> UUID:
    """Begin an export; return its id.

    Raises:
        Conflict: the project has too many unfinished exports, or bytes of files.
    """
    asked = {
        "project_id": project_id,
        "kind": wanted.kind.value,
        "format": wanted.format.value,
        "filter": Jsonb(dict(wanted.conditions)),
        "since": wanted.since,
        "until": wanted.until,
        "is_test": wanted.is_test,
        "max_unfinished": max_unfinished,
        "max_bytes": max_bytes,
        "by": by,
    }
    try:
        return await fetch.value(conn, sql.BEGIN_EXPORT, asked, UUID)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def delete(conn: Conn, project_id: UUID, export_id: UUID, *, by: str) -> bool:
    """Delete the file of an export; return False where it is gone already."""
    asked = {"project_id": project_id, "id": export_id, "by": by}
    return await fetch.value(conn, sql.DELETE_EXPORT, asked, bool)


async def page(
    conn: Conn, project_id: UUID | None, *, before: UUID | None, limit: int
) -> list[DataExport]:
    """Return exports of a project, or of all, newest first."""
    asked = {"project_id": project_id, "before": before, "limit": limit}
    return [_typed(one) for one in await fetch.many(conn, sql.LIST_EXPORTS, asked, DataExport)]


async def find(conn: Conn, project_id: UUID | None, export_id: UUID) -> DataExport | None:
    """Return an export, or None if there is none."""
    asked = {"project_id": project_id, "id": export_id}
    found = await fetch.maybe(conn, sql.FIND_EXPORT, asked, DataExport)
    return None if found is None else _typed(found)


async def offers_data(conn: Conn, project_id: UUID, email_id: UUID) -> bool:
    """Return whether the recipient of an email may ask for what is stored about them."""
    asked = {"project_id": project_id, "email_id": email_id}
    return await fetch.value(conn, sql.OFFERS_DATA, asked, bool)


async def ask_for_data(
    conn: Conn, project_id: UUID, *, email_id: UUID, recipient: int, language: str
) -> str:
    """Begin the export for a recipient, and send the link; return what became of it."""
    asked = {
        "project_id": project_id,
        "email_id": email_id,
        "recipient": recipient,
        "language": language,
    }
    try:
        with part_refusals():
            return await fetch.value(conn, sql.ASK_FOR_DATA, asked, str)
    except (InvalidField, ProjectFull, Conflict, ObjectInUse) as exc:
        raise Unavailable("the link to a person's data cannot be sent now") from exc


async def find_of_email(conn: Conn, project_id: UUID, email_id: UUID) -> UUID | None:
    """Return the id of the export that the link of an email leads to."""
    asked = {"project_id": project_id, "email_id": email_id}
    return await fetch.maybe(conn, sql.FIND_EXPORT_OF_EMAIL, asked, UUID)


async def read_page(
    conn: Conn, export_id: UUID, *, claim_no: int, limit: int, max_bytes: int
) -> ExportPage:
    """Return the next page of an export, which stays locked until the transaction ends."""
    asked = {"id": export_id, "claim_no": claim_no, "limit": limit, "max_bytes": max_bytes}
    return await fetch.one(conn, sql.READ_EXPORT_PAGE, asked, ExportPage)


async def write_part(
    conn: Conn,
    export_id: UUID,
    *,
    place: dict[str, object] | None,
    rows: int,
    size: int,
    data: bytes,
) -> None:
    """Store a part of an export, in the transaction that read its page.

    `place` None: it is the last one. `size` is that of the part before it was compressed.
    """
    asked = {
        "id": export_id,
        "place": None if place is None else Jsonb(place),
        "rows": rows,
        "bytes": size,
        "data": data,
    }
    await fetch.run(conn, sql.WRITE_EXPORT_PART, asked)


async def end(conn: Conn, export_id: UUID, *, state: str, error: str | None) -> None:
    """Insert the audit event of the end of an export."""
    await fetch.run(conn, sql.END_EXPORT, {"id": export_id, "state": state, "error": error})


async def read_part(conn: Conn, project_id: UUID, export_id: UUID, number: int) -> bytes | None:
    """Return a part of the file of an export, compressed; None where it is gone."""
    asked = {"project_id": project_id, "id": export_id, "number": number}
    return await fetch.maybe(conn, sql.READ_EXPORT_PART, asked, bytes)


async def note_fetched(conn: Conn, project_id: UUID, export_id: UUID, *, by: str) -> None:
    """Insert the audit event that the file of an export was fetched."""
    asked = {"project_id": project_id, "id": export_id, "by": by}
    await fetch.run(conn, sql.NOTE_EXPORT_FETCHED, asked)


def _typed(found: DataExport) -> DataExport:
    """Return an export with its kind and format, which are read as text, as such."""
    return replace(found, kind=ExportKind(found.kind), format=ExportFormat(found.format))
