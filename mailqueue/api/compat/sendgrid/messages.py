"""SendGrid's API: email activity, the mail of a project with what happened to it.

Follows twilio.com/docs/sendgrid/api-reference/e-mail-activity. A mail with several recipients is
one message, shown with the first of them.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from mailqueue.api.compat.content import content_of
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.store import EmailActivity, list_activity
from mailqueue.api.compat.sendgrid.suppressions import refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.emails import Email, Event, ListedEmail
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.projects.model import Scope
from mailqueue.webhooks.formats.sendgrid import CUSTOM_ARGS, GROUP

MAX_LISTED = 1_000
_FIELDS = ("to_email", "from_email", "msg_id")
_CONDITION = re.compile(r"\s*([A-Za-z_]{1,50})\s*=\s*\"([^\"]*)\"\s*(AND\b)?", re.IGNORECASE)
_UNSENT = frozenset({"failed", "expired", "suppressed", "cancelled"})
_EVENTS = {
    "delivered": "delivered",
    "deferred": "deferred",
    "soft_bounce": "bounced",
    "hard_bounce": "bounced",
    "opened": "opened",
    "clicked": "clicked",
    "complaint": "spam_report",
    "unsubscribed": "unsubscribed",
    "failed": "dropped",
    "expired": "dropped",
    "suppressed": "dropped",
}
"""SendGrid's names of our events; others are not shown."""
_BOUNCES = {"soft_bounce": "soft", "hard_bounce": "hard"}
_Handler = Callable[[RequestContext], Awaitable[Response]]


class SendGridActivityQuery(RequestModel):
    """The query of GET /v3/messages."""

    query: Annotated[StorableText, Field(min_length=1, max_length=2_000)]
    limit: int = Field(default=10, ge=1, le=MAX_LISTED)


async def index(call: RequestContext) -> Response:
    """List the messages that a query finds, newest first."""
    refuse_subuser(call.request)
    query = query_of(call, SendGridActivityQuery)
    wanted, project_id = conditions_of(query.query), call.caller.project_id
    chosen = EmailQuery(
        project_id=project_id,
        to=wanted.get("to_email"),
        sent_from=wanted.get("from_email"),
        limit=query.limit,
    )
    async with call.connection() as conn:
        found: Sequence[ListedEmail | Email]
        if "msg_id" in wanted:
            named = await _named(conn, wanted["msg_id"], project_id=project_id)
            found = [] if named is None else [named]
        else:
            found = await emails.list_page(conn, chosen)
        activity = await list_activity(conn, [one.id for one in found], project_id=project_id)
    return json_answer({"messages": [_listed(one, activity.get(one.id)) for one in found]})


async def show(call: RequestContext) -> Response:
    """Show a message with its newest events."""
    refuse_subuser(call.request)
    email_id, project_id = call.id("message_id"), call.caller.project_id
    async with call.connection() as conn:
        email = await emails.find(conn, email_id, project_id=project_id)
        activity = await list_activity(conn, [email_id], project_id=project_id)
    said = await content_of(call, email_id)
    custom = email.custom_data if isinstance(email.custom_data, dict) else {}
    group = email.category.removeprefix(GROUP)
    document = {
        "from_email": email.from_email or said.sender,
        "msg_id": str(email.id),
        "subject": said.subject or "",
        "to_email": email.recipient_email,
        "status": status_of(email.status, activity.get(email_id)),
        "events": _events(email),
        "categories": list(email.tags or ()),
        "unique_args": custom.get(CUSTOM_ARGS, {}),
    }
    if group != email.category and group.isascii() and group.isdigit():
        document["asm_group_id"] = int(group)
    return json_answer(document)


def conditions_of(text: str) -> dict[str, str]:
    """Return the values of a query by field, such as `to_email="a@example.com"`. Pure.

    Raises:
        HTTPException: 400, the query has another form or field than those that are read.
    """
    found: dict[str, str] = {}
    at, goes_on = 0, True
    while goes_on:
        one = _CONDITION.match(text, at)
        if one is None:
            raise _invalid(f'write FIELD="VALUE" AND FIELD="VALUE", got {text[at : at + 60]!r}')
        name = one[1].lower()
        if name not in _FIELDS:
            raise _invalid(f"'{one[1]}' is not a known field, use {', '.join(_FIELDS)}")
        if name in found:
            raise _invalid(f"'{name}' is there twice")
        found[name] = one[2]
        at, goes_on = one.end(), one[3] is not None
    if at != len(text):
        raise _invalid(f"{text[at : at + 60]!r} is not read")
    if "msg_id" in found and len(found) > 1:
        raise _invalid("'msg_id' stands alone")
    return found


def status_of(status: str, activity: EmailActivity | None) -> str:
    """Return the status of a message in SendGrid's words. Pure."""
    if status in _UNSENT or (activity is not None and activity.is_bounced):
        return "not_delivered"
    return "delivered" if activity is not None and activity.is_delivered else "processed"


def _invalid(why: str) -> HTTPException:
    return HTTPException(HTTPStatus.BAD_REQUEST, f"invalid syntax: {why}")


async def _named(conn: Conn, given: str, *, project_id: UUID) -> Email | None:
    """Return the mail of an id, which may have SendGrid's suffix; None if there is none."""
    try:
        email_id = UUID(given.partition(".")[0])
        return await emails.find_state(conn, email_id, project_id=project_id)
    except (NotFound, ValueError):
        return None


def _listed(one: ListedEmail | Email, activity: EmailActivity | None) -> dict[str, Any]:
    last = one.finished_at or one.created_at
    if activity is not None:
        last = max(last, activity.last_at)
    return {
        "from_email": one.from_email or "",
        "msg_id": str(one.id),
        "subject": one.subject or "",
        "to_email": one.recipient_email,
        "status": status_of(one.status, activity),
        "opens_count": 0 if activity is None else activity.opens,
        "clicks_count": 0 if activity is None else activity.clicks,
        "last_event_time": _stamp(last),
    }


def _events(email: Email) -> list[dict[str, Any]]:
    accepted = {"event_name": "processed", "processed": _stamp(email.created_at)}
    return [accepted, *(_event(one) for one in email.events if one.type in _EVENTS)]


def _event(one: Event) -> dict[str, Any]:
    data = one.data if isinstance(one.data, dict) else {}
    found = {
        "event_name": _EVENTS[one.type],
        "processed": _stamp(one.occurred_at),
        "reason": one.detail,
        "bounce_type": _BOUNCES.get(one.type),
        "url": data.get("url"),
        "http_user_agent": data.get("user_agent"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _reading(path: str, summary: str, handler: _Handler) -> Endpoint:
    return Endpoint("GET", path, Scope.EMAIL_READ, summary, handler, test_keys=ForTestKeys.OWN)


ACTIVITY_ENDPOINTS = (
    _reading("/v3/messages", "Find messages.", index),
    _reading("/v3/messages/{message_id}", "Show a message and its events.", show),
)
