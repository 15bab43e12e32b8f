"""Endpoints that import and export contacts."""

from starlette.responses import StreamingResponse

from mailqueue.api.contacts.schema import ExportContactsQuery, ImportContactsQuery
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.requests.spool import spooled
from mailqueue.contacts.exporting import export
from mailqueue.contacts.importing import import_contacts
from mailqueue.contacts.lists import get
from mailqueue.contacts.model import ContactTally
from mailqueue.contract.contacts import ImportedContacts
from mailqueue.projects.model import Scope
from mailqueue.suppression.lists.exporting import Format

IMPORT_BYTES = 64 * 1024 * 1024
_TAG = "Contacts"
_TYPE_BY_FORMAT = {
    Format.CSV: "text/csv; charset=utf-8; header=present",
    Format.JSON: "application/json",
}


async def import_(call: RequestContext) -> ImportedContacts:
    """Import contacts."""
    query: ImportContactsQuery = call.query
    tally = ContactTally()
    # Received completely first: a slow client must not hold a connection.
    async with spooled(call.request, max_bytes=IMPORT_BYTES) as file, call.connection() as conn:
        if query.list is not None:
            await get(conn, call.caller.project_id, query.list)
        await import_contacts(
            conn,
            call.caller.project_id,
            file=file,
            list_name=query.list,
            is_trial=query.dry_run,
            tally=tally,
        )
    return tally.result(is_trial=query.dry_run)


async def export_(call: RequestContext) -> StreamingResponse:
    """Return contacts as a stream, page by page."""
    query: ExportContactsQuery = call.query
    if query.list is not None:
        async with call.connection() as conn:
            await get(conn, call.caller.project_id, query.list)
    pieces = export(
        call.connection, call.caller.project_id, form=query.format, list_name=query.list
    )
    return StreamingResponse(
        pieces,
        media_type=_TYPE_BY_FORMAT[query.format],
        headers={
            "Content-Disposition": f'attachment; filename="contacts.{query.format}"',
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


FILE_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/contacts/import",
        Scope.CONTACTS_WRITE,
        "Import contacts.",
        import_,
        query=ImportContactsQuery,
        response=ImportedContacts,
        tag=_TAG,
        description="The body is CSV with a header that names a column email, or JSON: an array "
        "of objects, or one object per line. Contacts are added, or changed where the address is "
        "known; columns that are no field of a contact are attributes. Invalid lines are reported "
        "with their number and do not stop the others. At most 64 MiB, 30 with an Idempotency-Key.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/v1/contacts/export",
        Scope.CONTACTS_READ,
        "Export contacts as CSV or JSON.",
        export_,
        query=ExportContactsQuery,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
)
