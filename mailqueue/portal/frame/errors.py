"""Errors as pages: what went wrong, and the id to quote; never a traceback."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from mailqueue.core.errors import (
    Conflict,
    InputError,
    InvalidField,
    Locked,
    MailqueueError,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.portal.frame.context import PortalContext
from mailqueue.web.rendering import sentence

_STATUSES: tuple[tuple[type[MailqueueError], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Unauthorized, HTTPStatus.UNAUTHORIZED),
    (Conflict, HTTPStatus.CONFLICT),
    (Locked, HTTPStatus.CONFLICT),
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


def status_of(exc: MailqueueError) -> HTTPStatus:
    """Return the status of an error. Pure."""
    found = (code for kind, code in _STATUSES if isinstance(exc, kind))
    return next(found, HTTPStatus.INTERNAL_SERVER_ERROR)


def why_of(exc: MailqueueError) -> str:
    """Return what a person reads of an error, as a sentence. Pure."""
    return sentence(exc.public_message if isinstance(exc, Unavailable) else str(exc))


def error_page(context: PortalContext, exc: MailqueueError | HTTPException | None) -> Response:
    """Return the page of an error; None is an unexpected one, whose details are in the log."""
    status, why = HTTPStatus.INTERNAL_SERVER_ERROR, "The error was logged. Nothing was changed."
    headers: dict[str, str] = {}
    if isinstance(exc, HTTPException):
        status, why = HTTPStatus(exc.status_code), sentence(exc.detail)
        headers = dict(exc.headers or {})
    elif exc is not None:
        status = status_of(exc)
        if status != HTTPStatus.INTERNAL_SERVER_ERROR:
            why = why_of(exc)
    response = context.page(
        "frame/error.html",
        status=status,
        code=int(status),
        title=_TITLES.get(status, "This request cannot be met"),
        why=why,
        request_id=context.request.scope.get("mailqueue.request_id"),
    )
    response.headers.update(headers)
    return response
