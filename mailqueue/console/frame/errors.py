"""Errors as pages: what went wrong, what to do, and the id to quote; never a traceback."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from mailqueue.console.frame.context import PageContext
from mailqueue.core.errors import (
    Conflict,
    Forbidden,
    InputError,
    InvalidField,
    MailqueueError,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from mailqueue.web.rendering import sentence

_STATUSES: tuple[tuple[type[MailqueueError], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (Conflict, HTTPStatus.CONFLICT),
    (InvalidField, HTTPStatus.UNPROCESSABLE_ENTITY),
    (TooManyRequests, HTTPStatus.TOO_MANY_REQUESTS),
    (InputError, HTTPStatus.BAD_REQUEST),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)
_TITLES = {
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.CONFLICT: "Not possible now",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available now",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong here",
}


def error_page(context: PageContext, exc: MailqueueError | HTTPException | None) -> Response:
    """Return the page of an error; None is an unexpected one, whose details are in the log."""
    status, why = HTTPStatus.INTERNAL_SERVER_ERROR, "The error was logged. Nothing was changed."
    headers: dict[str, str] = {}
    if isinstance(exc, HTTPException):
        status, why = HTTPStatus(exc.status_code), exc.detail
        headers = dict(exc.headers or {})
    elif exc is not None:
        status = next((code for kind, code in _STATUSES if isinstance(exc, kind)), status)
        why = exc.public_message if isinstance(exc, Unavailable) else str(exc)
    response = context.page(
        "frame/error.html",
        status=status,
        code=int(status),
        title=_TITLES.get(status, "This request cannot be met"),
        why=sentence(why),
        request_id=context.request.scope.get("mailqueue.request_id"),
    )
    response.headers.update(headers)
    return response
