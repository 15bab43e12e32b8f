"""Endpoints that import and export lists of addresses."""

from starlette.responses import StreamingResponse

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.requests.spool import spooled
from mailqueue.api.suppression.schema import (
    ExportQuery,
    ImportQuery,
)
from mailqueue.contract.suppression import ImportedSuppressions
from mailqueue.projects.model import Scope
from mailqueue.suppression.acceptable import category_of, reason_of
from mailqueue.suppression.lists.exporting import Format, export
from mailqueue.suppression.lists.importing import import_list
from mailqueue.suppression.model import ImportTally

IMPORT_BYTES = 64 * 1024 * 1024
_TAG = "Suppressions"
_TYPE_BY_FORMAT = {
    Format.CSV: "text/csv; charset=utf-8; header=present",
    Format.JSON: "application/json",
}


async def import_(call: RequestContext) -> ImportedSuppressions:
    """Import a list: all of it, or nothing if it is not a list."""
    query: ImportQuery = call.query
    tally = ImportTally()
    # Received completely first: a slow client must not hold a connection.
    async with spooled(call.request, max_bytes=IMPORT_BYTES) as file, call.connection() as conn:
        await import_list(
            conn,
            call.caller.project,
            file=file,
            otherwise=None if query.reason is None else reason_of(query.reason),
            is_trial=query.dry_run,
            by=call.by,
            tally=tally,
        )
    return tally.result(is_trial=query.dry_run)


async def export_(call: RequestContext) -> StreamingResponse:
    """Return the list as a stream, page by page."""
    query: ExportQuery = call.query
    category = None if query.category is None else category_of(query.category)
    pieces = export(
        call.connection,
        call.caller.project,
        form=query.format,
        reason=None if query.reason is None else reason_of(query.reason),
        category=category,
    )
    return StreamingResponse(
        pieces,
        media_type=_TYPE_BY_FORMAT[query.format],
        headers={
            "Content-Disposition": f'attachment; filename="suppressions.{query.format}"',
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


LIST_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/suppressions/import",
        Scope.SUPPRESSION_MANAGE,
        "Import a list of addresses.",
        import_,
        query=ImportQuery,
        response=ImportedSuppressions,
        tag=_TAG,
        description="The body is CSV with a header that names a column email, or JSON: an array "
        "of addresses or of objects, or one object per line. Invalid lines are "
        "reported with their number and do not stop the others. It may be in UTF-8, UTF-16 with a "
        "byte order mark, or Windows-1252; `encoding` says how it was read. At most 64 MiB, 30 "
        "with an Idempotency-Key.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        "/v1/suppressions/export",
        Scope.SUPPRESSION_MANAGE,
        "Export all suppressed addresses as CSV or JSON.",
        export_,
        query=ExportQuery,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
)
