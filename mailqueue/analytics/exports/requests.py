"""Begin, find and delete exports."""

from uuid import UUID

from mailqueue.analytics.exports import parquet, store
from mailqueue.analytics.exports.model import CHOICES, FILTERS, WantedExport
from mailqueue.contract.exports import DataExport, ExportFormat
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn

MAX_UNFINISHED = 5
"""Exports of a project, of each mode, that may be unfinished at a time."""
MAX_STORED_BYTES = 2 << 30
"""Bytes of all files of a project's exports together, compressed."""
NO_PARQUET = "parquet needs the package pyarrow: pip install 'mailqueue[parquet]'"


async def begin(conn: Conn, project_id: UUID, wanted: WantedExport, *, by: str) -> DataExport:
    """Begin an export, in the caller's transaction; workers write its file.

    Raises:
        InvalidField: a condition is not one of the kind, or has a value that it cannot have; the
            format needs a package that is not installed.
        Conflict: the project has too many unfinished exports, or bytes of files.
    """
    _check(wanted)
    if wanted.format is ExportFormat.PARQUET and not parquet.is_installed():
        raise InvalidField("format", NO_PARQUET)
    made = await store.begin(
        conn,
        project_id,
        wanted,
        max_unfinished=MAX_UNFINISHED,
        max_bytes=MAX_STORED_BYTES,
        by=by,
    )
    return await find(conn, project_id, made)


async def find(conn: Conn, project_id: UUID | None, export_id: UUID) -> DataExport:
    """Return an export of a project; None: of any.

    Raises:
        NotFound: there is no such export.
    """
    found = await store.find(conn, project_id, export_id)
    if found is None:
        raise NotFound("export", export_id)
    return found


async def page(
    conn: Conn, project_id: UUID | None, *, before: UUID | None = None, limit: int
) -> list[DataExport]:
    """Return exports of a project, newest first; None: of all projects."""
    return await store.page(conn, project_id, before=before, limit=limit)


async def delete(conn: Conn, project_id: UUID, export_id: UUID, *, by: str) -> DataExport:
    """Delete the file of an export, and end an unfinished one after its current part.

    Raises:
        NotFound: there is no such export.
        Conflict: its file is gone already.
    """
    found = await find(conn, project_id, export_id)
    if not await store.delete(conn, project_id, export_id, by=by):
        raise Conflict(f"the file of export {export_id} is gone: {found.state}")
    return await find(conn, project_id, export_id)


def _check(wanted: WantedExport) -> None:
    """Raise InvalidField for conditions that an export of its kind cannot have. Pure."""
    known = FILTERS[wanted.kind]
    for name, value in wanted.conditions.items():
        if name not in known:
            raise InvalidField(
                name, f"no filter of {wanted.kind}, which has {', '.join(known)}, from and to"
            )
        choices = CHOICES.get(name)
        if choices is not None and value not in choices:
            raise InvalidField(name, f"one of {', '.join(choices)}, got {value[:100]}")
    if wanted.since is not None and wanted.until is not None and wanted.since >= wanted.until:
        raise InvalidField("from", "must be before to")
