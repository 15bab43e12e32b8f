"""Postmark's API: search of messages, and the opens and clicks of one or of all."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.mailboxes import format_mailbox
from mailqueue.api.compat.postmark import store as postmark_store
from mailqueue.api.compat.postmark.bounces import MAX_LISTED, MAX_REACHED
from mailqueue.api.compat.postmark.messages import mailboxes_by_kind, metadata_of, status_of
from mailqueue.api.compat.postmark.store import MessageRow, VisitFilter, VisitRow
from mailqueue.api.compat.postmark.suppressions import category_of_stream
from mailqueue.api.compat.postmark.times import QueryTime, last_of
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.store import OneRecipient
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.projects.model import Scope
from mailqueue.webhooks.formats.model import FormattedEvent
from mailqueue.webhooks.formats.postmark import STREAMS, visit_of
from mailqueue.webhooks.model import EventType


class PostmarkPage(RequestModel):
    """The part of a list: `count` rows after the first `offset` ones."""

    count: int = Field(default=MAX_LISTED, ge=0, le=MAX_LISTED)
    offset: int = Field(default=0, ge=0, le=MAX_REACHED - MAX_LISTED)


class MessageQuery(PostmarkPage):
    """The query of GET /messages/outbound."""

    recipient: StorableText | None = None
    fromemail: StorableText | None = None
    tag: StorableText | None = None
    status: Literal["queued", "sent"] | None = None
    fromdate: QueryTime | None = None
    todate: QueryTime | None = None
    messagestream: StorableText | None = None


class VisitQuery(PostmarkPage):
    """The query of GET /messages/outbound/opens and /clicks."""

    recipient: StorableText | None = None
    tag: StorableText | None = None
    messagestream: StorableText | None = None


async def index(call: RequestContext) -> Response:
    """List messages, newest first."""
    query = query_of(call, MessageQuery)
    wanted = EmailQuery(
        project_id=call.caller.project_id,
        status=query.status,
        tag=query.tag,
        sent_from=query.fromemail,
        to=query.recipient,
        category=_category_of(query.messagestream),
        since=None if query.fromdate is None else query.fromdate.at,
        until=None if query.todate is None else last_of(query.todate),
    )
    async with call.connection() as conn:
        total = await postmark_store.count_messages(conn, wanted, limit=MAX_REACHED)
        found = await postmark_store.list_messages(
            conn, wanted, count=query.count, offset=query.offset
        )
        recipients = await compat_store.list_recipients(
            conn, [one.id for one in found], project_id=call.caller.project_id
        )
    by_email: dict[UUID, list[OneRecipient]] = {}
    for one in recipients:
        by_email.setdefault(one.email_id, []).append(one)
    is_test = call.caller.is_test
    messages = [_message(one, by_email.get(one.id, []), is_test=is_test) for one in found]
    return json_answer({"TotalCount": total, "Messages": messages})


def _category_of(stream: str | None) -> str | None:
    return None if stream is None else category_of_stream(stream)


def _message(
    one: MessageRow, recipients: Iterable[OneRecipient], *, is_test: bool
) -> dict[str, Any]:
    boxes = [(each.kind, each.address, each.name) for each in recipients]
    boxes = boxes or [("to", one.recipient_email, one.recipient_name)]
    sender = one.from_email
    return {
        "MessageID": one.id,
        "MessageStream": STREAMS.get(one.category, one.category),
        **mailboxes_by_kind(boxes),
        "Recipients": [address for _, address, _ in boxes],
        "From": "" if sender is None else format_mailbox(one.from_name, sender),
        "Subject": one.subject or "",
        "Tag": one.tags[0] if one.tags else "",
        "Metadata": metadata_of(one.custom_data),
        "ReceivedAt": one.created_at,
        "Status": status_of(one.status, is_finished=one.finished_at is not None),
        "Sandboxed": is_test,
    }


def visits(kind: EventType, name: str) -> Callable[[RequestContext], Awaitable[Response]]:
    """Return the handler that lists the opens or clicks of a message, newest first."""
    stored = _stored(kind)

    async def listed(call: RequestContext) -> Response:
        query = query_of(call, PostmarkPage)
        email_id, project_id = call.id("message_id"), call.caller.project_id
        async with call.connection() as conn:
            email = await emails.find_state(conn, email_id, project_id=project_id)
            total = await postmark_store.count_visits(
                conn, email_id, project_id=project_id, kind=stored
            )
            found = await postmark_store.list_visits(
                conn,
                email_id,
                project_id=project_id,
                kind=stored,
                limit=query.count,
                offset=query.offset,
            )
        shown = [
            _visit(kind, one, email_id=email_id, category=email.category, tags=email.tags)
            for one in found
        ]
        return json_answer({"TotalCount": total, name: shown})

    return listed


def visits_of_all(kind: EventType, name: str) -> Callable[[RequestContext], Awaitable[Response]]:
    """Return the handler that lists the opens or clicks of all messages, newest first."""
    stored = _stored(kind)

    async def listed(call: RequestContext) -> Response:
        query = query_of(call, VisitQuery)
        wanted = VisitFilter(
            project_id=call.caller.project_id,
            type=stored,
            recipient=query.recipient,
            tag=query.tag,
            category=_category_of(query.messagestream),
        )
        async with call.connection() as conn:
            total = await postmark_store.count_project_visits(conn, wanted, limit=MAX_REACHED)
            found = await postmark_store.list_project_visits(
                conn, wanted, limit=query.count, offset=query.offset
            )
        shown = [
            _visit(kind, one, email_id=one.email_id, category=one.category, tags=one.tags)
            for one in found
        ]
        return json_answer({"TotalCount": total, name: shown})

    return listed


def _stored(kind: EventType) -> str:
    return kind.removeprefix("email.")


def _visit(
    kind: EventType,
    one: VisitRow,
    *,
    email_id: UUID,
    category: str | None,
    tags: Sequence[str] | None,
) -> dict[str, Any]:
    data = {**(one.data or {}), "recipient": one.recipient_email}
    category = category or "transactional"
    return {
        **visit_of(FormattedEvent(one.id, kind, one.occurred_at, data)),
        "MessageID": email_id,
        "MessageStream": STREAMS.get(category, category),
        "Tag": tags[0] if tags else "",
    }


def _reading(path: str, summary: str, handler: Any) -> Endpoint:
    return Endpoint("GET", path, Scope.EMAIL_READ, summary, handler, test_keys=ForTestKeys.OWN)


SEARCH_ENDPOINTS = (
    _reading("/messages/outbound", "Search messages.", index),
    _reading(
        "/messages/outbound/opens",
        "List the opens of all messages.",
        visits_of_all(EventType.OPENED, "Opens"),
    ),
    _reading(
        "/messages/outbound/clicks",
        "List the clicks of all messages.",
        visits_of_all(EventType.CLICKED, "Clicks"),
    ),
    _reading(
        "/messages/outbound/opens/{message_id}",
        "List the opens of a message.",
        visits(EventType.OPENED, "Opens"),
    ),
    _reading(
        "/messages/outbound/clicks/{message_id}",
        "List the clicks of a message.",
        visits(EventType.CLICKED, "Clicks"),
    ),
)
