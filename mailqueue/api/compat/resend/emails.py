"""Resend's API: show, list, reschedule and cancel accepted mail."""

from datetime import UTC, datetime
from uuid import UUID

from pydantic import Field, ValidationError
from starlette.responses import Response

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.reading import document_of
from mailqueue.api.compat.resend.faults import WrongState, invalid_document
from mailqueue.api.compat.resend.times import instant_of
from mailqueue.api.compat.resend.views import email_of, listed
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.requests.body import parse_query
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails as reads
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.operations import acting
from mailqueue.projects.model import Scope

SMALL_BYTES = 64 * 1024
MAX_LISTED = 100


class RescheduleBody(StrictRequestModel):
    """The body of PATCH /emails/{id}."""

    id: StorableText | None = None  # Resend's Python client repeats it
    scheduled_at: StorableText


class Query(RequestModel):
    """The query of GET /emails."""

    limit: int = Field(default=20, ge=1, le=MAX_LISTED)
    after: UUID | None = None
    before: UUID | None = None


async def show(call: RequestContext) -> Response:
    """Show a mail."""
    return json_answer(await email_of(call, call.id("email_id")))


async def index(call: RequestContext) -> Response:
    """List mail, newest first."""
    query = parse_query(Query, call.request)
    assert isinstance(query, Query)
    if query.after is not None and query.before is not None:
        raise InvalidField("before", "cannot be given together with `after`")
    project_id = call.caller.project_id
    async with call.connection() as conn:
        ids = await _page(conn, query, project_id=project_id)
        has_more = len(ids) > query.limit
        shown = ids[: query.limit]
        emails = await compat_store.list_named(conn, shown, project_id=project_id)
        recipients = await compat_store.list_recipients(conn, shown, project_id=project_id)
    found = listed(emails, recipients, datetime.now(UTC))
    return json_answer({"object": "list", "has_more": has_more, "data": found})


async def _page(conn: Conn, query: Query, *, project_id: UUID) -> list[UUID]:
    """Return the ids of a page, and one more if there is another page."""
    limit = query.limit + 1
    if query.before is not None:
        return await compat_store.list_newer_ids(
            conn, query.before, project_id=project_id, limit=limit
        )
    wanted = EmailQuery(project_id=project_id, before=query.after, limit=limit)
    return [one.id for one in await reads.list_page(conn, wanted)]


async def change(call: RequestContext) -> Response:
    """Reschedule a mail that was not attempted yet."""
    email_id = call.id("email_id")
    document = await document_of(call, max_bytes=SMALL_BYTES)
    try:
        wanted = validated(RescheduleBody, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None
    if wanted.id not in (None, call.path["email_id"]):
        raise InvalidField("id", "the path names another email")
    at = instant_of(wanted.scheduled_at, datetime.now(UTC))
    async with call.connection() as conn:
        done = await compat_store.reschedule(
            conn, email_id, project_id=call.caller.project_id, at=at, by=call.by
        )
    if done is None:
        raise NotFound("email", email_id)
    if done.outcome is None:
        raise WrongState(f"Only waiting emails can be updated, this one is {done.state}")
    return json_answer({"object": "email", "id": email_id})


async def cancel(call: RequestContext) -> Response:
    """Cancel a mail that has not been sent yet."""
    email_id = call.id("email_id")
    async with call.connection() as conn:
        try:
            await acting.act(
                conn,
                email_id,
                project_id=call.caller.project_id,
                action="cancel",
                reason="by the API",
                by=call.by,
            )
        except acting.NotAllowed as exc:
            raise WrongState(
                f"Only emails that were not sent can be canceled, this one is {exc.state}"
            ) from None
    return json_answer({"object": "email", "id": email_id})


EMAIL_ENDPOINTS = (
    Endpoint(
        "GET",
        "/emails",
        Scope.EMAIL_READ,
        "List emails.",
        index,
        once=Once.NEVER,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/emails/{email_id}",
        Scope.EMAIL_READ,
        "Show an email.",
        show,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PATCH",
        "/emails/{email_id}",
        Scope.EMAIL_SEND,
        "Reschedule an email.",
        change,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        "/emails/{email_id}/cancel",
        Scope.EMAIL_SEND,
        "Cancel an email.",
        cancel,
        once=Once.NEVER,
        test_keys=ForTestKeys.OWN,
    ),
)
