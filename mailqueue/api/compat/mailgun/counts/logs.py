"""Mailgun's API: the log of a message, or of the messages to a recipient.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/logs. The events are those
of `/v3/{domain}/events`, in the form of the log.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Literal

from pydantic import Field, ValidationError
from starlette.responses import Response

from mailqueue.analytics.rows import current_time
from mailqueue.api.compat.mailgun.counts.metrics import MAX_BODY_BYTES, MetricFilter
from mailqueue.api.compat.mailgun.counts.times import CountedTime, counted_time
from mailqueue.api.compat.mailgun.domains import check_name
from mailqueue.api.compat.mailgun.events import (
    MAX_LISTED,
    EventPlace,
    ListedEvent,
    MailgunEventQuery,
    last_page,
    next_page,
    place_of,
    previous_page,
    read_events,
)
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.api.compat.reading import document_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import invalid_request, json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope

_NEWEST: Literal["timestamp:desc"] = "timestamp:desc"
_MESSAGE = ("message-id", "message_id")


class MailgunLogPage(StrictRequestModel):
    """The part of the log that is shown, and its order; `token` is of the answer before."""

    sort: Literal["timestamp:asc", "timestamp:desc"] = _NEWEST
    token: StorableText | None = None
    limit: int = Field(default=100, ge=1, le=MAX_LISTED)


class MailgunLogQuery(StrictRequestModel):
    """The body of POST /v1/analytics/logs; `include_subaccounts` has no effect."""

    start: StorableText | None = None
    end: StorableText | None = None
    duration: StorableText | None = None
    events: list[StorableText] = Field(default_factory=list, max_length=20)
    filter: MetricFilter = MetricFilter()
    include_subaccounts: bool = False
    pagination: MailgunLogPage = MailgunLogPage()


async def logs(call: RequestContext) -> Response:
    """List the log of a message, or of the messages to a recipient."""
    body = await _body(call)
    filters = await _filters(call, body)
    given = {name: getattr(body, name) for name in ("start", "end", "duration")}
    async with call.connection() as conn:
        asked = counted_time(given, now=await current_time(conn))
    page = body.pagination
    is_ascending = page.sort != _NEWEST
    query = _query(body, asked, filters, is_ascending=is_ascending)
    here = EventPlace() if page.token is None else place_of(page.token, field="pagination.token")
    try:
        found = await read_events(call, query, here)
    except InvalidField as exc:
        raise NamedParameter("events" if exc.field == "event" else "filter", exc.why) from exc
    return json_answer(
        {
            "start": format_datetime(asked.span.since.astimezone(UTC)),
            "end": format_datetime(asked.span.until.astimezone(UTC)),
            "items": [_shown(call, one.shown) for one in found if one.shown is not None],
            "pagination": _tokens(found, page.token, is_ascending=is_ascending),
            "aggregates": {},
        }
    )


def _query(
    body: MailgunLogQuery, asked: CountedTime, filters: dict[str, str], *, is_ascending: bool
) -> MailgunEventQuery:
    """Return the query for the same events. Pure."""
    since, until = asked.span.since, asked.span.until
    return MailgunEventQuery.model_construct(
        message_id=filters.get("message-id"),
        recipient=filters.get("recipient"),
        event=" OR ".join(body.events) or None,
        begin=since if is_ascending else until,
        end=until if is_ascending else since,
        ascending="yes" if is_ascending else "no",
        limit=body.pagination.limit,
    )


async def _body(call: RequestContext) -> MailgunLogQuery:
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(MailgunLogQuery, document, call.values)
    except ValidationError as exc:
        wrong = invalid_request(exc)
        if isinstance(wrong, InvalidField):
            raise NamedParameter(wrong.field, wrong.why) from None
        raise wrong from None


async def _filters(call: RequestContext, body: MailgunLogQuery) -> dict[str, str]:
    """Return the message and the recipient that the log is of.

    Raises:
        DomainNotFound: the filter names a domain that is not the project's.
        NamedParameter: a filter is not supported or repeated, or neither is given.
    """
    chosen: dict[str, str] = {}
    for one in body.filter.AND:
        value = one.values[0].value
        name = "message-id" if one.attribute in _MESSAGE else one.attribute
        if name == "domain":
            await check_name(call, value)
        elif name in ("message-id", "recipient") and name not in chosen:
            chosen[name] = value
        else:
            raise NamedParameter("filter", f"{name[:100]!r} is not supported or repeated")
    if not chosen:
        why = "message-id or recipient is needed: the log is that of messages"
        raise NamedParameter("filter", why)
    return chosen


def _shown(call: RequestContext, event: dict[str, Any]) -> dict[str, Any]:
    """Return an event in the form of the log."""
    shown = {name: value for name, value in event.items() if name != "timestamp"}
    variables = json.dumps(event["user-variables"], separators=(",", ":"))
    return {
        **shown,
        "@timestamp": _stamp(event["timestamp"]),
        "account": {"id": str(call.caller.project_id), "parent-id": ""},
        "user-variables": variables,
    }


def _stamp(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tokens(
    found: Sequence[ListedEvent], token: str | None, *, is_ascending: bool
) -> dict[str, str]:
    """Return the tokens of the pages around one; past an end they name the same page. Pure."""
    tokens = {"last": last_page(is_ascending=is_ascending)}
    if found:
        tokens["previous"] = previous_page(found[0].row)
        tokens["next"] = next_page(found[-1].row)
    elif token is not None:
        tokens |= {"previous": token, "next": token}
    return tokens


LOG_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/analytics/logs",
        Scope.EMAIL_READ,
        "List the log of a message or a recipient.",
        logs,
        test_keys=ForTestKeys.OWN,
    ),
)
