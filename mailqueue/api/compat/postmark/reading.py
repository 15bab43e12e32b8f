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
from mailqueue.api.compat.postmark.model import PostmarkMessage, TemplatedMessage
from mailqueue.api.compat.reading import document_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField

AnyMessage = PostmarkMessage | TemplatedMessage
Body = TypeVar("Body", bound=BaseModel)
MAX_MESSAGES = 500
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
