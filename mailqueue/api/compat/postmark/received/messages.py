"""Postmark's API: inbound messages, which are the bounce mail that came by the project's URLs.

Follows postmarkapp.com/developer/api/messages-api. Inbound rules block some of it; blocked mail can
be processed in spite of them, and what failed once more.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from starlette.responses import Response

from mailqueue.api.compat.mailboxes import split_mailbox, split_mailboxes
from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal, error_of
from mailqueue.api.compat.postmark.received import store as received_store
from mailqueue.api.compat.postmark.received.store import BounceMail, BounceMailFilter
from mailqueue.api.compat.postmark.search import PostmarkPage
from mailqueue.api.compat.postmark.times import QueryTime, last_of
from mailqueue.api.compat.reading import query_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import NotFound
from mailqueue.inbound.bounces.submitted import RECIPIENT
from mailqueue.inbound.bounces.tree import DEFAULT_LIMITS
from mailqueue.mime.parse import ShownMessage, parse_message
from mailqueue.projects.model import Scope

AT_ONCE = 20
"""Messages that are in memory at the same time; a list of 500 is read in parts."""


class InboundQuery(PostmarkPage):
    """The query of GET /messages/inbound."""

    status: Literal["queued", "scheduled", "processed", "blocked", "failed"] | None = None
    fromdate: QueryTime | None = None
    todate: QueryTime | None = None


async def index(call: RequestContext) -> Response:
    """List messages, newest first."""
    query = query_of(call, InboundQuery)
    wanted = BounceMailFilter(
        state=query.status,
        since=None if query.fromdate is None else query.fromdate.at,
        until=None if query.todate is None else last_of(query.todate),
    )
    project_id = call.caller.project_id
    shown: list[dict[str, Any]] = []
    async with call.connection() as conn:
        total = await received_store.count_mail(conn, project_id, wanted)
        for start in range(query.offset, query.offset + query.count, AT_ONCE):
            limit = min(AT_ONCE, query.offset + query.count - start)
            found = await received_store.list_mail(
                conn, project_id, wanted, limit=limit, offset=start
            )
            shown += await asyncio.to_thread(_all_listed, found)
            if len(found) < limit:
                break
    return json_answer({"TotalCount": total, "InboundMessages": shown})


async def details(call: RequestContext) -> Response:
    """Show a message with its texts."""
    found = await _found(call)
    return json_answer(await asyncio.to_thread(_detailed, found))


async def bypass(call: RequestContext) -> Response:
    """Have a blocked message processed in spite of the rules."""
    why = "Could not bypass this blocked inbound message: it is not blocked."
    return await _again(call, "blocked", ErrorCode.NOT_BYPASSED, why, "bypass")


async def retry(call: RequestContext) -> Response:
    """Have a failed message processed again."""
    why = "Could not retry this failed inbound message: it has not failed."
    return await _again(call, "failed", ErrorCode.NOT_RETRIED, why, "retry")


async def _again(
    call: RequestContext, state: str, code: ErrorCode, why: str, what: str
) -> Response:
    found = await _found(call)
    async with call.connection() as conn:
        is_done = await received_store.read_again(
            conn, call.caller.project_id, found.id, state=state, by=call.by
        )
    if not is_done:
        raise PostmarkRefusal(code, why)
    return json_answer(error_of(ErrorCode.OK, f"Successfully scheduled {what} of message."))


async def _found(call: RequestContext) -> BounceMail:
    """Return the message of the path.

    Raises:
        NotFound: the project has no such message.
    """
    inbound_id = call.id("inbound_id")
    async with call.connection() as conn:
        found = await received_store.find_mail(conn, call.caller.project_id, inbound_id)
    if found is None:
        raise NotFound("message", inbound_id)
    return found


def _all_listed(found: Sequence[BounceMail]) -> list[dict[str, Any]]:
    return [_listed(one) for one in found]


def _listed(one: BounceMail) -> dict[str, Any]:
    request = one.request()
    return _fields(one, parse_message(request.body, DEFAULT_LIMITS), request.query)


def _detailed(one: BounceMail) -> dict[str, Any]:
    request = one.request()
    read = parse_message(request.body, DEFAULT_LIMITS)
    return {
        **_fields(one, read, request.query),
        "TextBody": read.text or "",
        "HtmlBody": read.html or "",
        "Headers": [{"Name": name, "Value": value} for name, value in read.headers],
        "BlockedReason": "An inbound rule names its sender." if one.state == "blocked" else "",
    }


def _fields(one: BounceMail, read: ShownMessage, envelope: Any) -> dict[str, Any]:
    name, address = split_mailbox(read.sender)
    return {
        "MessageID": one.id,
        "From": address,
        "FromName": name,
        "FromFull": {"Email": address, "Name": name, "MailboxHash": ""},
        "To": read.to,
        "ToFull": _boxes(read.to),
        "Cc": read.header("Cc"),
        "CcFull": _boxes(read.header("Cc")),
        "ReplyTo": read.header("Reply-To"),
        "OriginalRecipient": envelope.get(RECIPIENT) or read.to,
        "Subject": read.subject,
        "Date": read.header("Date"),
        "MailboxHash": "",
        "Tag": "",
        "Attachments": [
            {
                "Name": each.filename,
                "ContentType": each.content_type,
                "ContentLength": each.size_bytes,
            }
            for each in read.attachments
        ],
        "Status": one.state.capitalize(),
    }


def _boxes(text: str) -> list[dict[str, str]]:
    return [
        {"Email": address, "Name": name, "MailboxHash": ""}
        for name, address in map(split_mailbox, split_mailboxes(text))
    ]


def _reading(path: str, summary: str, handler: Any) -> Endpoint:
    return Endpoint("GET", path, Scope.EMAIL_READ, summary, handler, test_keys=ForTestKeys.REFUSED)


_PATH = "/messages/inbound"
_ONE = f"{_PATH}/{{inbound_id}}"
INBOUND_ENDPOINTS = (
    _reading(_PATH, "List received bounce mail.", index),
    _reading(f"{_ONE}/details", "Show received bounce mail.", details),
    suppression_endpoint("PUT", f"{_ONE}/bypass", "Process ignored bounce mail.", bypass),
    suppression_endpoint("PUT", f"{_ONE}/retry", "Process failed bounce mail again.", retry),
)
