"""Parse the bodies of Postmark's API: one message, a batch, or settings."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from mailqueue.api.compat.postmark.faults import (
    NoFormat,
    NotJson,
    TooManyMessages,
    invalid_document,
)
from mailqueue.api.compat.postmark.model import (
    BulkMessage,
    PostmarkMessage,
    TemplatedMessage,
)
from mailqueue.api.compat.reading import document_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField

AnyMessage = PostmarkMessage | TemplatedMessage
Body = TypeVar("Body", bound=BaseModel)
MAX_MESSAGES = 500
MAX_BULK = 10_000
"""Most messages of a bulk request."""
_OF_MESSAGE = frozenset({"To", "Cc", "Bcc", "TemplateModel", "Metadata", "Headers"})
_OF_TEMPLATE = frozenset({"TemplateId", "TemplateAlias"})
_OF_ALL = frozenset({"Metadata", "Headers"})
MAX_BODY_BYTES = 64 * 1024
"""Largest body in bytes of requests that change settings."""
_NOT_JSON = (
    "Your HTTP request does not have the Accept and Content-Type headers set to application/json."
)


def check_headers(request: Request) -> None:
    """Raise NotJson if the headers exclude JSON.

    Raises:
        NotJson: Content-Type or Accept name another type.
    """
    head = headers_by_name(request)
    kind = head.get(b"content-type", b"").partition(b";")[0].strip().lower()
    wanted = head.get(b"accept", b"*/*").lower()
    if kind != b"application/json" or not any(
        each in wanted for each in (b"application/json", b"application/*", b"*/*")
    ):
        raise NotJson(_NOT_JSON)


async def body_of(call: RequestContext, model: type[Body]) -> Body:
    """Return the body of a request that changes settings.

    Raises:
        BadJson: it is not JSON.
        InvalidField: a field is invalid; the first one is named.
    """
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def listed(model: type[AnyMessage], document: Any) -> list[Any]:
    """Return the messages of a batch.

    Raises:
        NoFormat: it is not a list of messages.
        TooManyMessages: it has more than 500.
    """
    if model is TemplatedMessage:
        if not isinstance(document, dict) or set(document) != {"Messages"}:
            raise NoFormat("Messages", "The body must be an object with 'Messages' only.")
        document = document["Messages"]
    if not isinstance(document, list):
        raise NoFormat("Messages", "A list of messages is needed.")
    if len(document) > MAX_MESSAGES:
        why = f"Too many batch messages: at most {MAX_MESSAGES}, got {len(document)}."
        raise TooManyMessages(why)
    return document


def bulk_of(document: Any) -> tuple[type[BulkMessage] | type[TemplatedMessage], list[Any]]:
    """Return the messages of a bulk request, each with what all have in common, and their kind.

    Raises:
        NoFormat: it is not an object with a list of messages, or a field is in the wrong place.
        TooManyMessages: it has more than 10,000.
    """
    if not isinstance(document, dict) or not isinstance(document.get("Messages"), list):
        raise NoFormat("Messages", "The body must be an object with a list of 'Messages'.")
    shared = {name: value for name, value in document.items() if value is not None}
    given = shared.pop("Messages")
    if not given:
        raise NoFormat("Messages", "Provide at least one message in 'Messages'.")
    if len(given) > MAX_BULK:
        why = f"Too many bulk messages: at most {MAX_BULK}, got {len(given)}."
        raise TooManyMessages(why)
    for name in sorted(_OF_MESSAGE - _OF_ALL):
        if name in shared:
            raise NoFormat(name, f"'{name}' belongs into each of 'Messages'.")
    model = BulkMessage if shared.keys().isdisjoint(_OF_TEMPLATE) else TemplatedMessage
    return model, [_joined(model, shared, one) for one in given]


def _joined(model: type[AnyMessage], shared: dict[str, Any], one: Any) -> dict[str, Any]:
    """Return one message of a bulk request with what all have in common. Pure.

    Raises:
        NoFormat: it is not an object, or has a field of the request.
    """
    if not isinstance(one, dict):
        raise NoFormat("Messages", "Each of 'Messages' must be an object.")
    for name in one:
        if name not in _OF_MESSAGE:
            raise NoFormat(name, f"'{name[:100]}' is not a field of one of 'Messages'.")
    own = {name: value for name, value in one.items() if value is not None}
    found = shared | own
    match shared, own:
        case {"Metadata": dict(before)}, {"Metadata": dict(more)}:
            found["Metadata"] = before | more
        case {"Metadata": before}, _ if not isinstance(before, dict):
            found["Metadata"] = before
    match shared, own:
        case {"Headers": list(fields)}, {"Headers": list(own_fields)}:
            found["Headers"] = _replaced(fields, own_fields)
        case {"Headers": fields}, _ if not isinstance(fields, list):
            found["Headers"] = fields
    return {"TemplateModel": {}, **found} if model is TemplatedMessage else found


def _replaced(before: list[Any], more: list[Any]) -> list[Any]:
    """Return header fields, without those before that one of `more` has the name of. Pure."""

    def name_of(one: Any) -> str | None:
        return str(one.get("Name")).lower() if isinstance(one, dict) else None

    names = {name_of(one) for one in more} - {None}
    return [one for one in before if name_of(one) not in names] + more


def message_of(model: type[AnyMessage], document: Any, values: int) -> AnyMessage:
    """Return one message of a body with `values` JSON values.

    Raises:
        InvalidField: the message is invalid.
    """
    try:
        return validated(model, document, values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def messages_of(
    model: type[AnyMessage], documents: Sequence[Any], values: int
) -> list[AnyMessage | InvalidField]:
    """Return messages, or the error of each invalid one."""
    found: list[AnyMessage | InvalidField] = []
    for document in documents:
        try:
            found.append(message_of(model, document, values))
        except InvalidField as exc:
            found.append(exc)
    return found


def sent_at() -> str:
    """Return the current time in Postmark's format."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
