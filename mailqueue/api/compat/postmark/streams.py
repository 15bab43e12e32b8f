"""Postmark's API: message streams, which are categories of the preference centre.

Follows postmarkapp.com/developer/api/message-streams-api. `outbound` and `broadcast` are always
there: the categories `transactional` and `marketing`. Of the others those that recipients cannot
leave are transactional. Streams are not archived.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal
from mailqueue.api.compat.postmark.reading import body_of
from mailqueue.api.compat.postmark.suppressions import stamp
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.contract.suppression import Category
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.projects import manage
from mailqueue.suppression.subscriptions import categories
from mailqueue.webhooks.formats.postmark import SERVER_ID, STREAMS

MAX_NAME = 100
MAX_DESCRIPTION = 300
_CATEGORIES = {stream: category for category, stream in STREAMS.items()}
_STANDARD: Mapping[str, tuple[str, str]] = {
    "outbound": ("Default Transactional Stream", "Transactional"),
    "broadcast": ("Default Broadcast Stream", "Broadcasts"),
}
"""Name and type of the streams that are always there."""
_HANDLING = {"Transactional": "None", "Broadcasts": "Postmark"}
_ID = re.compile(r"[a-z][a-z0-9_-]{0,29}")
_RESERVED = ("all", "inbound", "system", *STREAMS)


class _PascalFields(StrictRequestModel):
    model_config = ConfigDict(alias_generator=to_pascal)


class SubscriptionManagement(_PascalFields):
    """How recipients unsubscribe from a stream."""

    unsubscribe_handling_type: StorableText


class ChangedStream(_PascalFields):
    """The body of PATCH /message-streams/{stream}; what is left out stays."""

    name: StorableText | None = None
    description: StorableText | None = None
    subscription_management_configuration: SubscriptionManagement | None = None

    def check_words(self) -> None:
        """Check name and description.

        Raises:
            PostmarkRefusal: one of them is empty, too long, or has tags.
        """
        if self.name is not None and not self.name.strip():
            raise PostmarkRefusal(ErrorCode.STREAM_NAME, "A valid 'Name' must be provided.")
        if len(self.name or "") > MAX_NAME:
            why = f"The 'Name' is too long: at most {MAX_NAME} characters."
            raise PostmarkRefusal(ErrorCode.STREAM_NAME_LENGTH, why)
        description = self.description or ""
        if len(description) > MAX_DESCRIPTION:
            why = f"The 'Description' is too long: at most {MAX_DESCRIPTION} characters."
            raise PostmarkRefusal(ErrorCode.STREAM_DESCRIPTION_LENGTH, why)
        if "<" in description or ">" in description:
            why = "The 'Description' must not contain HTML tags."
            raise PostmarkRefusal(ErrorCode.STREAM_DESCRIPTION_HTML, why)

    def check_handling(self, kind: str) -> None:
        """Check that recipients of this type of stream unsubscribe as the body says.

        Raises:
            PostmarkRefusal: they do not.
        """
        asked = self.subscription_management_configuration
        if asked is not None and asked.unsubscribe_handling_type != _HANDLING[kind]:
            why = (
                "The 'UnsubscribeHandlingType' provided is not supported for this stream type: "
                f"it is {_HANDLING[kind]}."
            )
            raise PostmarkRefusal(ErrorCode.STREAM_HANDLING, why)


class NewStream(ChangedStream):
    """The body of POST /message-streams."""

    id: StorableText = Field(alias="ID")
    name: StorableText
    message_stream_type: StorableText


class StreamQuery(RequestModel):
    """The query of GET /message-streams; none is archived."""

    messagestreamtype: Literal["All", "Transactional", "Broadcasts", "Inbound"] = "All"
    includearchivedstreams: bool = False


async def index(call: RequestContext) -> Response:
    """List streams: the standard ones, then the others in the order recipients see them."""
    query = query_of(call, StreamQuery)
    shown = [
        one
        for one in (await _streams(call)).values()
        if query.messagestreamtype in ("All", one["MessageStreamType"])
    ]
    return json_answer({"MessageStreams": shown, "TotalCount": len(shown)})


async def show(call: RequestContext) -> Response:
    """Show a stream."""
    return json_answer(await _found(call))


async def create(call: RequestContext) -> Response:
    """Add a stream: a category of the preference centre."""
    body = await body_of(call, NewStream)
    if body.message_stream_type not in _HANDLING:
        why = "The 'MessageStreamType' is invalid here: it must be Transactional or Broadcasts."
        raise PostmarkRefusal(ErrorCode.STREAM_TYPE, why)
    body.check_words()
    body.check_handling(body.message_stream_type)
    _check_id(body.id)
    fields = {
        "name": body.name,
        "description": body.description,
        "is_required": body.message_stream_type == "Transactional",
    }
    async with call.connection() as conn:
        try:
            made = await categories.add(
                conn, call.caller.project, slug=body.id, fields=fields, by=call.by
            )
        except Conflict:
            why = "The 'ID' provided already exists for this server."
            raise PostmarkRefusal(ErrorCode.STREAM_EXISTS, why) from None
        except InvalidField as exc:
            raise _named(exc) from exc
    return json_answer(_shown(made))


async def change(call: RequestContext) -> Response:
    """Change name and description of a stream."""
    body = await body_of(call, ChangedStream)
    found = await _found(call)
    body.check_words()
    body.check_handling(found["MessageStreamType"])
    given = body.model_dump(include={"name", "description"}, exclude_none=True)
    slug = _CATEGORIES.get(found["ID"], found["ID"])
    if not given:
        return json_answer(found)
    async with call.connection() as conn:
        if all(one.slug != slug for one in await categories.list_(conn, call.caller.project)):
            why = f"The default stream {found['ID']!r} has no name of its own: add its category."
            raise PostmarkRefusal(ErrorCode.NOT_ALLOWED, why)
        try:
            made = await categories.change(
                conn, call.caller.project, slug=slug, fields=given, by=call.by
            )
        except InvalidField as exc:
            raise _named(exc) from exc
    return json_answer(_shown(made))


async def _streams(call: RequestContext) -> dict[str, dict[str, Any]]:
    """Return the streams by id."""
    async with call.connection() as conn:
        project = await manage.find(conn, call.caller.project)
        found = await categories.list_(conn, call.caller.project)
    standard = {
        stream: _document(stream, name, kind, project.created_at)
        for stream, (name, kind) in _STANDARD.items()
    }
    return standard | {document["ID"]: document for document in map(_shown, found)}


async def _found(call: RequestContext) -> dict[str, Any]:
    """Return the stream of the path.

    Raises:
        PostmarkRefusal: there is none.
    """
    found = (await _streams(call)).get(call.path["stream"])
    if found is None:
        why = "The message stream for the provided 'ID' was not found."
        raise PostmarkRefusal(ErrorCode.STREAM_NOT_FOUND, why)
    return found


def _check_id(stream: str) -> None:
    if stream in _STANDARD:
        why = "The 'ID' provided already exists for this server."
        raise PostmarkRefusal(ErrorCode.STREAM_EXISTS, why)
    if stream in _RESERVED:
        raise PostmarkRefusal(ErrorCode.STREAM_RESERVED, "The 'ID' is reserved.")
    if stream.startswith("pm-"):
        why = "The 'ID' must not start with the 'pm-' prefix."
        raise PostmarkRefusal(ErrorCode.STREAM_PREFIX, why)
    if not _ID.fullmatch(stream):
        why = "The 'ID' must be a non-empty string starting with a letter, up to 30 characters."
        raise PostmarkRefusal(ErrorCode.STREAM_ID, why)


def _named(exc: InvalidField) -> InvalidField | PostmarkRefusal:
    """Return an error of a category in Postmark's words. Pure."""
    if exc.field == "slug":
        why = "You have reached the maximum number of message streams for this server."
        return PostmarkRefusal(ErrorCode.STREAMS_FULL, why)
    return exc.named({"name": "Name", "description": "Description"}.get(exc.field, exc.field))


def _shown(one: Category) -> dict[str, Any]:
    kind = "Transactional" if one.is_required else "Broadcasts"
    updated_at = one.updated_at if one.updated_at != one.created_at else None
    return _document(
        STREAMS.get(one.slug, one.slug),
        one.name,
        kind,
        one.created_at,
        description=one.description,
        updated_at=updated_at,
    )


def _document(
    stream: str,
    name: str,
    kind: str,
    created_at: datetime,
    *,
    description: str | None = None,
    updated_at: datetime | None = None,
) -> dict[str, Any]:
    return {
        "ID": stream,
        "ServerID": SERVER_ID,
        "Name": name,
        "Description": description,
        "MessageStreamType": kind,
        "CreatedAt": stamp(created_at),
        "UpdatedAt": None if updated_at is None else stamp(updated_at),
        "ArchivedAt": None,
        "ExpectedPurgeDate": None,
        "SubscriptionManagementConfiguration": {"UnsubscribeHandlingType": _HANDLING[kind]},
    }


_PATH = "/message-streams"
_ONE = f"{_PATH}/{{stream}}"
STREAM_ENDPOINTS = (
    suppression_endpoint("GET", _PATH, "List message streams.", index),
    suppression_endpoint("POST", _PATH, "Add a message stream.", create),
    suppression_endpoint("GET", _ONE, "Show a message stream.", show),
    suppression_endpoint("PATCH", _ONE, "Change a message stream.", change),
)
