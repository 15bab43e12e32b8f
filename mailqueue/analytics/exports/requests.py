"""Begin, find and delete exports."""

from uuid import UUID

from mailqueue.analytics.exports import parquet, store
from mailqueue.analytics.exports.model import CHOICES, FILTERS, DataAsked, WantedExport
from mailqueue.contract.exports import DataExport, ExportFormat, ExportKind
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


async def offers_data(conn: Conn, project_id: UUID, email_id: UUID) -> bool:
    """Return whether the recipient of an email may ask for what is stored about them."""
    return await store.offers_data(conn, project_id, email_id)


async def ask_for_data(
    conn: Conn, project_id: UUID, *, email_id: UUID, recipient: int, language: str
) -> DataAsked:
    """Let workers collect what is stored about the recipient of an email, and send the address a
    link to it, in the caller's transaction.

    Raises:
        Unavailable: the project may send no mail now, or had too many such requests this day.
    """
    found = await store.ask_for_data(
        conn, project_id, email_id=email_id, recipient=recipient, language=language
    )
    return DataAsked(found)


async def of_email(conn: Conn, project_id: UUID, email_id: UUID) -> DataExport | None:
    """Return the export that the link of an email leads to; None if there is none."""
    found = await store.find_of_email(conn, project_id, email_id)
    return None if found is None else await find(conn, project_id, found)


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
    if wanted.kind is ExportKind.PERSON:
        raise InvalidField("kind", "persons ask for what is stored about them themselves")
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
