"""Endpoints of exports to files."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import StreamingResponse

from mailqueue.analytics.exports import fetching, links, requests
from mailqueue.analytics.exports.model import FILTERS, WantedExport
from mailqueue.analytics.exports.writing import MEDIA_TYPES
from mailqueue.api.emails.schema import Instant, StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.exports import DataExport, ExportFormat, ExportKind
from mailqueue.contract.page import Page
from mailqueue.core.errors import ConfigError, Forbidden, InvalidField, Locked, SealBroken
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Caller, Scope

_TAG = "Analytics"
PATH = "/v1/analytics/exports"
_SCOPES = {
    ExportKind.EMAILS: Scope.EMAIL_READ,
    ExportKind.EVENTS: Scope.EMAIL_READ,
    ExportKind.RECIPIENTS: Scope.EMAIL_READ,
    ExportKind.STATS: Scope.ANALYTICS_READ,
    ExportKind.SUPPRESSIONS: Scope.SUPPRESSION_MANAGE,
    ExportKind.PERSON: Scope.SUPPRESSION_MANAGE,
}
"""What a key needs for an export of each kind, besides `analytics:read`."""
ExportCondition = Annotated[StorableText, Field(min_length=1, max_length=300)]


class ExportFilter(StrictRequestModel):
    """Conditions that a row must match, all of those that are given."""

    from_: Instant | None = Field(default=None, alias="from")
    """Start of the time: of acceptance for emails and recipients; no bound if omitted."""
    to: Instant | None = None
    """End of the time; now if omitted."""
    status: ExportCondition | None = None
    """Status, such as `sent`; of emails and recipients."""
    campaign: ExportCondition | None = None
    """Campaign of the email; of emails and recipients."""
    tag: ExportCondition | None = None
    """Tag of the email; of emails and recipients."""
    category: ExportCondition | None = None
    """Category; of emails, recipients and suppressions."""
    type: ExportCondition | None = None
    """Type, such as `hard_bounce`; of events."""
    dimension: ExportCondition | None = None
    """Dimension, such as `campaign`, or `total`; of stats."""
    reason: ExportCondition | None = None
    """Reason, such as `complaint`; of suppressions."""

    def conditions(self) -> dict[str, str]:
        """Return the conditions but the time, by name."""
        names = {name for known in FILTERS.values() for name in known}
        given = {name: getattr(self, name) for name in sorted(names)}
        return {name: value for name, value in given.items() if value is not None}


class NewExport(StrictRequestModel):
    """An export that is to begin."""

    kind: Literal["emails", "events", "recipients", "stats", "suppressions"]
    """What is exported. `recipients` has a row for each recipient of an email, `stats` one for each
    quarter of an hour and value of a dimension.
    """
    format: Literal["csv", "json", "ndjson", "parquet"] = "csv"
    """Format of the file: `csv`, `json` (an array), `ndjson` (one object per line) or `parquet`,
    where the server has pyarrow.
    """
    filter: ExportFilter = Field(default_factory=ExportFilter)
    """Conditions that a row must match."""


async def begin(call: RequestContext) -> DataExport:
    """Begin an export, which workers carry out."""
    asked: NewExport = call.body
    wanted = WantedExport(
        ExportKind(asked.kind),
        ExportFormat(asked.format),
        asked.filter.conditions(),
        asked.filter.from_,
        asked.filter.to,
        is_test=bool(call.is_test),
    )
    _check_scope(call.caller, wanted.kind)
    async with call.connection() as conn:
        try:
            return await requests.begin(conn, call.caller.project_id, wanted, by=call.by)
        except InvalidField as exc:
            raise exc.named(f"filter.{exc.field}") from exc


async def index(call: RequestContext) -> Page[DataExport]:
    """List exports, newest first."""
    query: PageQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await requests.page(
            conn, call.caller.project_id, before=before, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def show(call: RequestContext) -> DataExport:
    """Return one export with its progress, and a link to its file."""
    async with call.connection() as conn:
        found = await requests.find(conn, call.caller.project_id, call.id("export_id"))
        return await _linked(call, conn, found)


async def delete(call: RequestContext) -> DataExport:
    """Delete the file of an export."""
    async with call.connection() as conn:
        return await requests.delete(conn, call.caller.project_id, call.id("export_id"), by=call.by)


async def file(call: RequestContext) -> StreamingResponse:
    """Return the file of an export as a stream, part by part."""
    async with call.connection() as conn:
        found = await requests.find(conn, call.caller.project_id, call.id("export_id"))
    _check_scope(call.caller, found.kind)
    pieces = await fetching.begin_file(call.connection, call.caller.project_id, found, by=call.by)
    return file_response(found, pieces)


def file_response(export: DataExport, pieces: AsyncIterator[bytes]) -> StreamingResponse:
    """Return the response with a file."""
    name = f"{export.kind}-{export.id}.{export.format}"
    return StreamingResponse(
        pieces,
        media_type=MEDIA_TYPES[export.format],
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _linked(call: RequestContext, conn: Conn, export: DataExport) -> DataExport:
    """Return an export with a link to its file, if it is done and the key may read its kind.

    Without a master key there is no link; the file is fetched by the key then.
    """
    if export.state != "done" or export.expires_at is None:
        return export
    if _SCOPES[export.kind] not in call.caller.scopes:
        return export
    try:
        seals = await call.services.keyring.of(conn, call.caller.project_id)
    except (ConfigError, Locked, SealBroken):
        return export
    until = links.end_of(datetime.now(UTC), export.expires_at)
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    token = links.token_of(seals, export.id, until=until)
    return replace(export, download_url=f"{origin}{links.PATH}{token}", download_until=until)


def _check_scope(caller: Caller, kind: ExportKind) -> None:
    """Raise Forbidden if the key may not read rows of a kind. Pure."""
    if _SCOPES[kind] not in caller.scopes:
        raise Forbidden(_SCOPES[kind].value)


EXPORT_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/analytics/export",
        Scope.ANALYTICS_READ,
        "Export emails, events, recipients, counts or suppressions to a file.",
        begin,
        request=NewExport,
        response=DataExport,
        status=HTTPStatus.ACCEPTED,
        tag=_TAG,
        description="Workers write the file; `GET /v1/analytics/exports/{export_id}` shows the "
        "progress, and a link to the file once it is done. Emails, events and recipients need "
        "the scope `email:read` too, suppressions `suppression:manage`. 409 if "
        f"{requests.MAX_UNFINISHED} exports are not finished, or the files are as large as they "
        "may be together.",
        example={"kind": "emails", "format": "csv", "filter": {"status": "sent"}},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.ANALYTICS_READ,
        "List exports, newest first.",
        index,
        query=PageQuery,
        response=Page[DataExport],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{export_id}}",
        Scope.ANALYTICS_READ,
        "Show an export, its progress and a link to its file.",
        show,
        response=DataExport,
        tag=_TAG,
        description="`download_url` needs no key and ends after an hour; ask again for another. "
        "The file is deleted after seven days, and when a person of the project is erased.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "DELETE",
        f"{PATH}/{{export_id}}",
        Scope.ANALYTICS_READ,
        "Delete the file of an export.",
        delete,
        response=DataExport,
        tag=_TAG,
        description="An export that is not finished ends after its current part. 409 if the file "
        "is gone.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{export_id}}/file",
        Scope.ANALYTICS_READ,
        "Fetch the file of an export.",
        file,
        tag=_TAG,
        description="Needs the scope of its kind too. 409 if the export is not done, or its file "
        "is gone.",
        test_keys=ForTestKeys.OWN,
    ),
)
