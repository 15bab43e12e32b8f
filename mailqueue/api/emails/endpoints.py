"""Endpoints that show mail and its events."""

from datetime import datetime
from uuid import UUID

from pydantic import AliasChoices, Field
from starlette.responses import Response

from mailqueue.api.emails.actions import ACTING_ENDPOINTS
from mailqueue.api.emails.schema import Instant
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.contract.emails import Email, Event, ListedEmail
from mailqueue.contract.page import Page
from mailqueue.core.errors import Conflict
from mailqueue.core.paging import cursor_of, key_of
from mailqueue.mail.message.preview import MessageSources, build_preview, find_email
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.custom_data import parse_filter
from mailqueue.mail.reads.model import EmailQuery, StatusName
from mailqueue.projects.model import Scope

_TAG = "Emails"


class EmailsQuery(PageQuery):
    """Filters of a list of mail; a mail is listed if all given filters match."""

    status: StatusName | None = None
    """Filter by status; `queued` means pending, `sending` means assigned."""
    tag: str | None = None
    """Filter by tag."""
    sent_from: str | None = Field(default=None, validation_alias=AliasChoices("from"))
    """Filter by From address, if the email sets one."""
    to: str | None = None
    """Filter by recipient address."""
    sender: str | None = None
    """Filter by name of the sender account that sent or tried it."""
    campaign: str | None = None
    """Filter by `campaign_id`."""
    category: str | None = None
    """Filter by category, such as `marketing`."""
    batch: UUID | None = None
    """Filter by batch id."""
    contains: str | None = None
    """Filter by a part of the subject or of the first recipient, in upper and lower case alike."""
    template: str | None = None
    """Filter by the slug of the template."""
    provider: str | None = None
    """Filter by the provider of the sender account that sent or tried it, such as `ses`."""
    custom_data: str | None = None
    """Filter by `custom_data` that contains this: `KEY=VALUE`, such as `order=81`, or a JSON
    object, such as `{"order": 81}`. Template variables, and custom data of more than 2,000
    characters without them, are not searched.
    """
    since: Instant | None = None
    """Accepted at this time or later: RFC 3339 with offset, `2030-05-01T08:00:00+02:00`."""
    until: Instant | None = None
    """Accepted before this time: RFC 3339 with offset."""


async def list_(call: RequestContext) -> Page[ListedEmail]:
    """List mail, newest first."""
    query: EmailsQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    asked = EmailQuery(
        project_id=call.caller.project_id,
        status=query.status,
        tag=query.tag,
        sent_from=query.sent_from,
        to=query.to,
        sender=query.sender,
        campaign=query.campaign,
        category=query.category,
        batch=query.batch,
        custom_data=None if query.custom_data is None else parse_filter(query.custom_data),
        contains=query.contains,
        template=query.template,
        provider=query.provider,
        since=query.since,
        until=query.until,
        before=before,
        limit=query.limit,
    )
    async with call.connection() as conn:
        found = await emails.search_page(conn, asked)
    return Page(found.emails, None if found.next is None else cursor_of(found.next))


async def email(call: RequestContext) -> Email:
    """Return one email with its recipients, attempts and newest events."""
    email_id = call.id("email_id")
    async with call.connection() as conn:
        return await emails.find(conn, email_id, project_id=call.caller.project_id)


async def events(call: RequestContext) -> Page[Event]:
    """Return the events of a mail, from being queued on."""
    email_id = call.id("email_id")
    query: PageQuery = call.query
    after, after_id = key_of(query.cursor, datetime, UUID)
    async with call.connection() as conn:
        listed = await emails.list_events(
            conn,
            email_id,
            project_id=call.caller.project_id,
            after=(after, after_id),
            limit=query.limit + 1,
        )
    return page_of(listed, query.limit, key=lambda one: (one.occurred_at, one.id))


async def source(call: RequestContext) -> Response:
    """Return the message as a server receives it, without DKIM signatures."""
    email_id = call.id("email_id")
    shown = await find_email(call.connection, project_id=call.caller.project_id, email_id=email_id)
    try:
        letter = await build_preview(call.connection, _library(call), shown)
    except ValueError as exc:
        raise Conflict(f"the message of this email cannot be built: {exc}") from exc
    return Response(
        letter.message,
        media_type="message/rfc822",
        headers={
            "Content-Disposition": f'attachment; filename="{email_id}.eml"',
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


def _library(call: RequestContext) -> MessageSources:
    return MessageSources(
        call.services.storage, call.services.template_cache, call.services.tracking
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/emails",
        Scope.EMAIL_READ,
        "List emails, newest first.",
        list_,
        query=EmailsQuery,
        response=Page[ListedEmail],
        tag=_TAG,
        description="Statuses are pending, assigned, held, sent, failed, suppressed, expired "
        "and cancelled; queued means pending. With `contains`, `template` or `provider` a page "
        f"looks at {emails.MAX_LOOKED:,} emails: it may have fewer than `limit`, or none, and a "
        "`next_cursor` with which the search goes on.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/v1/emails/{email_id}",
        Scope.EMAIL_READ,
        "Show an email with its recipients, newest attempts and newest events.",
        email,
        response=Email,
        tag=_TAG,
        description="`attempts` has the newest 200, `events` the newest 100; where there are more "
        "events, `more_events` is the path that lists all of them.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/v1/emails/{email_id}/events",
        Scope.EMAIL_READ,
        "List the events of an email.",
        events,
        query=PageQuery,
        response=Page[Event],
        tag=_TAG,
        description="Oldest first: `queued`, `sent` and other changes of state, and reports of its "
        "provider, its recipients and bounce mail. Attempts to send are part of the email.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/v1/emails/{email_id}/source",
        Scope.EMAIL_READ,
        "Show the raw message.",
        source,
        tag=_TAG,
        description="The raw message (message/rfc822) as a server receives it, without DKIM "
        "signatures.",
        test_keys=ForTestKeys.OWN,
    ),
    *ACTING_ENDPOINTS,
)
