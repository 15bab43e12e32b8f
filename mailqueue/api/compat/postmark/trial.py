"""Postmark's test token: messages are validated by their form, and not accepted.

It belongs to no project, so no database is used, and bodies are limited more strictly.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.postmark.faults import ErrorCode, error_of, field_description
from mailqueue.api.compat.postmark.model import PostmarkMessage, TemplatedMessage
from mailqueue.api.compat.postmark.reading import (
    AnyMessage,
    bulk_of,
    check_headers,
    listed,
    message_of,
    messages_of,
    sent_at,
)
from mailqueue.api.compat.reading import parsed_json
from mailqueue.api.http.requests.body import body_of
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField, Unauthorized
from mailqueue.core.json.size import values_in

TEST_TOKEN = b"POSTMARK_API_TEST"
TRIED_BYTES = 1024 * 1024
MAX_TRIED = 20_000
"""Most JSON values of a body."""
_ONE: Mapping[str, type[AnyMessage]] = {
    "/email": PostmarkMessage,
    "/email/withTemplate": TemplatedMessage,
}
_MANY: Mapping[str, type[AnyMessage]] = {
    "/email/batch": PostmarkMessage,
    "/email/batchWithTemplates": TemplatedMessage,
}
_BULK = "/email/bulk"


async def validate(request: Request) -> Response:
    """Return the response that says whether messages are valid.

    Raises:
        Unauthorized: the endpoint does not send mail.
        InvalidField: a message is invalid.
    """
    path = request.scope["path"].rstrip("/")
    if path not in _ONE and path not in _MANY and path != _BULK:
        raise Unauthorized("the test token is valid for sending only")
    check_headers(request)
    body = await body_of(request, max_bytes=TRIED_BYTES)
    if (values := values_in(body, few=MAX_TRIED, most=MAX_TRIED)) > MAX_TRIED:
        raise InvalidField(
            "body", f"at most {MAX_TRIED} JSON values are allowed with the test token"
        )
    document = parsed_json(body)
    if (model := _ONE.get(path)) is not None:
        message = message_of(model, document, values)
        message.to_mail()
        return json_answer(_right(message))
    if path == _BULK:
        kind, documents = bulk_of(document)
        for one in documents:
            message_of(kind, one, values).to_mail()
        return json_answer({"Id": uuid4(), "Status": "Accepted", "SubmittedAt": sent_at()})
    model = _MANY[path]
    return json_answer(
        [_judged(one) for one in messages_of(model, listed(model, document), values)]
    )


def _judged(message: AnyMessage | InvalidField) -> dict[str, Any]:
    try:
        if isinstance(message, InvalidField):
            raise message
        message.to_mail()
    except InvalidField as exc:
        return error_of(*field_description(exc))
    return _right(message)


def _right(message: AnyMessage) -> dict[str, Any]:
    return {
        "To": message.to,
        "SubmittedAt": sent_at(),
        "MessageID": uuid4(),
        **error_of(ErrorCode.OK, "Test job accepted"),
    }
