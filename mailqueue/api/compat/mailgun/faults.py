"""Error responses of Mailgun's API: status and message."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mailqueue.api.compat.accepting import OneRefused
from mailqueue.api.compat.model import CompatError, headers_of
from mailqueue.api.compat.option_fields import names_in
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import (
    Conflict,
    Forbidden,
    InputError,
    InvalidField,
    LimitReached,
    Locked,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.core.mail_options import Api

NO_BODY = "Need at least one of 'text', 'html', 'amp-html' or 'template' parameters specified"
# Fields whose SQL name differs from their name here.
_FIELD = {
    "from_email": "from",
    "from_name": "from",
    "html_body": "html",
    "text_body": "text",
    "tags": "o:tag",
    "scheduled_at": "o:deliverytime",
    "template_slug": "template",
    "template_version": "t:version",
    "variables": "t:variables",
    "custom_data": "v:",
    "headers": "h:",
    "reply_to": "h:Reply-To",
    "attachments": "attachment",
    "idempotency_key": "Idempotency-Key",
    **names_in(Api.MAILGUN),
}


class DomainNotFound(InputError):
    """The project does not send from the domain in the path."""


class AddressNotFound(InputError):
    """The address is not in the list."""


class TagNotFound(InputError):
    """No mail with the tag was counted in the last days."""


class NoWebhook(InputError):
    """There is no such webhook."""

    def __init__(self) -> None:
        super().__init__("Webhook not found")


class MissingParameter(InvalidField):
    """A parameter is missing."""

    def __init__(self, field: str) -> None:
        super().__init__(field, "is missing")


class BadAddressParameter(InvalidField):
    """A parameter is no email address."""

    def __init__(self, field: str) -> None:
        super().__init__(field, "is not a valid address. please check documentation")


class BadJsonParameter(InvalidField):
    """A parameter is not JSON."""

    def __init__(self, field: str) -> None:
        super().__init__(field, "is not a valid JSON")


class NamedParameter(InvalidField):
    """A parameter is invalid; it is named as the client wrote it."""


class NoBody(InputError):
    """The mail has no content."""


def refused(request: Request, exc: CompatError) -> Response:  # noqa: ARG001
    """Return the response to an error."""
    status, message = description_of(exc)
    if status is HTTPStatus.UNAUTHORIZED:  # plain text, as Mailgun sends it
        headers = {"WWW-Authenticate": 'Basic realm="MG API"', "Cache-Control": "no-store"}
        return PlainTextResponse(message, status, headers)
    return json_answer({"message": message}, status=status, headers=headers_of(exc))


def description_of(exc: CompatError) -> tuple[HTTPStatus, str]:
    """Return status and message of an error. Pure."""
    match exc:
        case HTTPException():
            return HTTPStatus(exc.status_code), exc.detail
        case OneRefused():
            return description_of(exc.fault)
        case InvalidField():
            return HTTPStatus.BAD_REQUEST, field_description(exc)
        case DomainNotFound() | AddressNotFound() | NoWebhook() | TagNotFound():
            return HTTPStatus.NOT_FOUND, str(exc)
        case Unauthorized():
            return HTTPStatus.UNAUTHORIZED, "Forbidden"
        case Forbidden():
            return HTTPStatus.FORBIDDEN, f"Forbidden: this key lacks {exc.needed}"
        case NotFound():
            return HTTPStatus.NOT_FOUND, f"{exc.kind.capitalize()} not found"
        case TooManyRequests() | LimitReached():
            return HTTPStatus.TOO_MANY_REQUESTS, f"Too many requests: {exc.limit}"
        case Conflict() | InputError() | Locked():
            return HTTPStatus.BAD_REQUEST, str(exc)
        case Unavailable():
            return HTTPStatus.SERVICE_UNAVAILABLE, exc.public_message
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR, "Internal Server Error"


def field_description(exc: InvalidField) -> str:
    """Return the message for an invalid field. Pure."""
    if isinstance(exc, NamedParameter):
        return f"'{exc.field}' parameter: {exc.why}"
    name, dot, rest = exc.field.partition(".")
    field = _FIELD.get(name, name) + dot + rest
    if isinstance(exc, MissingParameter):
        return f"{field} parameter {exc.why}"
    if isinstance(exc, BadAddressParameter | BadJsonParameter):
        return f"'{field}' parameter {exc.why}"
    return f"'{field}' parameter: {exc.why}"
