"""Resend's API: broadcasts.

Follows resend.com/docs/api-reference/broadcasts and its Python client 2.51. Drafts are kept here;
what sends them is a schedule, whose state is that of the broadcast.
"""

from dataclasses import replace
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from mailqueue.api.compat.broadcasts import store
from mailqueue.api.compat.broadcasts.sending import CHANGED, add_draft, take_back
from mailqueue.api.compat.broadcasts.store import Broadcast, BroadcastFields
from mailqueue.api.compat.reading import document_of
from mailqueue.api.compat.resend.broadcasts import outcomes, sending
from mailqueue.api.compat.resend.broadcasts.model import (
    ChangedBroadcast,
    NewBroadcast,
    SentBroadcast,
)
from mailqueue.api.compat.resend.faults import invalid_document
from mailqueue.api.compat.resend.pages import (
    DEFAULT_LIMIT,
    Body,
    ListPage,
    body_of,
    list_answer,
    page_query,
)
from mailqueue.api.compat.resend.segments import segment_of
from mailqueue.api.compat.resend.topics import topic_id_of, topic_of
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.projects.model import Scope

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_NAME = 200
_COPY = " (copy)"


async def create(call: RequestContext) -> Response:
    """Add a draft, or a broadcast that is sent at once or at a time: all or nothing."""
    body = await _body(call, NewBroadcast)
    if body.scheduled_at is not None and not body.send:
        raise InvalidField("scheduled_at", "is only valid when `send` is true")
    list_id = await _list_id(call, body)
    if list_id is None:
        raise InvalidField("segment_id", "is needed")
    topic = None if body.topic_id is None else (await topic_of(call, body.topic_id)).slug
    name = body.name or body.subject[:MAX_NAME]
    fields = BroadcastFields(name, list_id, topic, body.content())
    if body.send:
        return _answer(await sending.send(call, fields, body.scheduled_at), status=201)
    async with call.connection() as conn:
        made = await add_draft(call, conn, fields)
    return _answer(made, status=201)


async def index(call: RequestContext) -> Response:
    """List broadcasts, newest first."""
    query = page_query(call, ListPage)
    limit = query.limit or DEFAULT_LIMIT
    async with call.connection() as conn:
        found = await store.list_beside(
            *(conn, call.caller.project_id),
            after=query.after,
            before=query.before,
            limit=limit + 1,
        )
    page = found[:limit] if query.before is None else found[:limit][::-1]
    return list_answer([_listed(call, one) for one in page], len(found) > limit)


async def show(call: RequestContext) -> Response:
    """Show a broadcast."""
    one = await _found(call, call.id("broadcast_id"))
    said = one.content
    document = {
        "object": "broadcast",
        **_listed(call, one),
        "from": said.get("from"),
        "subject": said.get("subject"),
        "reply_to": said.get("reply_to"),
        "preview_text": said.get("preview_text"),
        "html": said.get("html"),
        "text": said.get("text"),
    }
    return json_answer(document)


async def change(call: RequestContext) -> Response:
    """Change a draft."""
    body = await _body(call, ChangedBroadcast)
    one = await _found(call, call.id("broadcast_id"))
    list_id = await _list_id(call, body) or one.list_id
    topic = one.topic
    if "topic_id" in body.model_fields_set:
        topic = None if body.topic_id is None else (await topic_of(call, body.topic_id)).slug
    name = one.name if body.name is None else body.name
    given = {key: value for key, value in body.content().items() if value is not None}
    fields = BroadcastFields(name, list_id, topic, one.content | given)
    if one.status != "draft":
        raise Conflict("Only a broadcast in draft status can be changed")
    async with call.connection() as conn:
        if not await store.change(conn, call.caller.project_id, one, fields):
            raise Conflict(CHANGED)
    return _answer(one.id)


async def send(call: RequestContext) -> Response:
    """Send a draft, now or at a time."""
    body = await body_of(call, SentBroadcast)
    one = await _found(call, call.id("broadcast_id"))
    if one.status != "draft":
        raise Conflict(f"Broadcast is {one.status}: only a draft can be sent")
    await sending.send(call, one.fields(), body.scheduled_at, draft=one)
    return _answer(one.id)


async def cancel(call: RequestContext) -> Response:
    """Cancel a broadcast that has not begun to be sent; it is a draft again."""
    async with call.in_one_transaction() as conn:
        one = await _found(call, call.id("broadcast_id"))
        await take_back(call, conn, one)
    return _answer(one.id)


async def duplicate(call: RequestContext) -> Response:
    """Add a draft that says what another broadcast does."""
    one = await _found(call, call.id("broadcast_id"))
    name = one.name[: MAX_NAME - len(_COPY)] + _COPY
    async with call.connection() as conn:
        made = await add_draft(call, conn, replace(one.fields(), name=name))
    return _answer(made, status=201)


async def remove(call: RequestContext) -> Response:
    """Remove a draft; one that has not begun to be sent is canceled first."""
    async with call.in_one_transaction() as conn:
        one = await _found(call, call.id("broadcast_id"))
        if one.status != "draft":
            await take_back(call, conn, one)
        await store.remove(conn, call.caller.project_id, one.id)
    return json_answer({"object": "broadcast", "id": one.id, "deleted": True})


async def _found(call: RequestContext, broadcast_id: UUID) -> Broadcast:
    """Return a broadcast of the project.

    Raises:
        NotFound: the project has none of the id.
    """
    async with call.connection() as conn:
        found = await store.find(conn, call.caller.project_id, broadcast_id)
    if found is None:
        raise NotFound("broadcast", broadcast_id)
    return found


async def _list_id(call: RequestContext, body: ChangedBroadcast) -> UUID | None:
    """Return the segment that a body names; None where it names none.

    Raises:
        NotFound: the project has no such segment.
    """
    return None if body.list_id is None else (await segment_of(call, body.list_id)).id


async def _body(call: RequestContext, model: type[Body]) -> Body:
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def _answer(broadcast_id: UUID, *, status: int = 200) -> Response:
    return json_answer({"object": "broadcast", "id": broadcast_id}, status=status)


def _listed(call: RequestContext, one: Broadcast) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "segment_id": one.list_id,
        "audience_id": one.list_id,
        "topic_id": None if one.topic is None else topic_id_of(call, one.topic),
        "status": one.status,
        "created_at": stamp(one.created_at),
        "scheduled_at": None if one.scheduled_at is None else stamp(one.scheduled_at),
        "sent_at": None if one.sent_at is None else stamp(one.sent_at),
    }


def _endpoint(method: str, path: str, summary: str, handler: Any) -> Endpoint:
    scope = Scope.EMAIL_READ if method == "GET" else Scope.EMAIL_SEND
    return Endpoint(
        method,
        path,
        scope,
        summary,
        handler,
        once=Once.NEVER,
        test_keys=ForTestKeys.REFUSED,
    )


_ONE = "/broadcasts/{broadcast_id}"
BROADCAST_ENDPOINTS = (
    _endpoint("POST", "/broadcasts", "Add a broadcast.", create),
    _endpoint("GET", "/broadcasts", "List broadcasts.", index),
    _endpoint("GET", _ONE, "Show a broadcast.", show),
    _endpoint("GET", f"{_ONE}/recipients", "List recipients by event.", outcomes.recipients),
    _endpoint("GET", f"{_ONE}/clicked-links", "List the links that were clicked.", outcomes.links),
    _endpoint("PATCH", _ONE, "Change a broadcast.", change),
    _endpoint("POST", f"{_ONE}/send", "Send a broadcast.", send),
    _endpoint("POST", f"{_ONE}/cancel", "Cancel a broadcast.", cancel),
    _endpoint("POST", f"{_ONE}/duplicate", "Copy a broadcast.", duplicate),
    _endpoint("DELETE", _ONE, "Remove a broadcast.", remove),
)
