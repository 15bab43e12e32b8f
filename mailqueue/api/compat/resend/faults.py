"""Error responses of Resend's API: status, name, message."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.accepting import OneRefused
from mailqueue.api.compat.idempotency import AnotherRequest
from mailqueue.api.compat.model import CompatError, headers_of
from mailqueue.api.compat.option_fields import names_in
from mailqueue.api.compat.resend.model import MissingField
from mailqueue.api.http.responses import BadJson, Busy, RawHeaders, json_answer
from mailqueue.core.errors import (
    Conflict,
    Forbidden,
    InputError,
    InvalidField,
    LimitReached,
    Locked,
    NotFound,
    Refusal,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.core.mail_options import Api
from mailqueue.projects.rate_limit.limiter import WINDOW_SECONDS, BucketState

# Fields whose SQL name differs from their name here.
_FIELD = {
    "from_email": "from",
    "from_name": "from",
    "html_body": "html",
    "text_body": "text",
    "template_slug": "template.id",
    "template_version": "template.id",
    **names_in(Api.RESEND),
}
_STATUS_NAME = {
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal_server_error",
}
_BOX = (
    "The email address needs to follow the `email@example.com` or "
    "`Name <email@example.com>` format."
)


class MissingKey(Unauthorized):
    """The request has no API key."""


class InvalidKey(InputError):
    """The idempotency key is invalid."""


class WrongState(InputError):
    """The state of the email does not allow the operation."""


def refused(request: Request, exc: CompatError) -> Response:  # noqa: ARG001
    """Return the response to an error."""
    status, name, message = description_of(exc)
    document = {"statusCode": int(status), "name": name, "message": message}
    return json_answer(document, status=status, headers=headers_of(exc))


def description_of(exc: CompatError) -> tuple[HTTPStatus, str, str]:
    """Return status, name and message of an error. Pure."""
    match exc:
        case HTTPException():
            status = HTTPStatus(exc.status_code)
            return status, _STATUS_NAME.get(status, "validation_error"), exc.detail
        case MissingKey():
            return HTTPStatus.UNAUTHORIZED, "missing_api_key", "Missing API Key"
        case Unauthorized():
            return HTTPStatus.FORBIDDEN, "invalid_api_key", "API key is invalid"
        case Forbidden():
            return HTTPStatus.UNAUTHORIZED, "restricted_api_key", f"This API key lacks {exc.needed}"
        case InvalidKey():
            return HTTPStatus.BAD_REQUEST, "invalid_idempotency_key", str(exc)
        case AnotherRequest():
            why = "Same idempotency key used with a different request payload."
            return HTTPStatus.CONFLICT, "invalid_idempotent_request", why
        case Busy():
            why = "Same idempotency key used while original request is still in progress."
            return HTTPStatus.CONFLICT, "concurrent_idempotent_requests", why
        case BadJson():
            return HTTPStatus.BAD_REQUEST, "validation_error", str(exc)
        case OneRefused():
            status, name, message = description_of(exc.fault)
            return status, name, f"emails[{exc.index}]: {message}"
        case InvalidField():
            return field_description(exc)
        case NotFound():
            return HTTPStatus.NOT_FOUND, "not_found", f"{exc.kind.capitalize()} not found"
        case LimitReached():
            return HTTPStatus.TOO_MANY_REQUESTS, "daily_quota_exceeded", str(exc)
        case TooManyRequests():
            why = f"Too many requests. Please limit the number of requests: {exc.limit}"
            return HTTPStatus.TOO_MANY_REQUESTS, "rate_limit_exceeded", why
        case WrongState() | Conflict() | InputError() | Locked():
            return HTTPStatus.UNPROCESSABLE_ENTITY, "validation_error", str(exc)
        case Unavailable():
            return HTTPStatus.SERVICE_UNAVAILABLE, "application_error", exc.public_message
        case _:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            return status, "internal_server_error", "internal error; report it with the request id"


def field_description(exc: InvalidField) -> tuple[HTTPStatus, str, str]:
    """Return status, name and message for an invalid field. Pure."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    field = _FIELD.get(exc.field, exc.field)
    if isinstance(exc, MissingField):
        return status, "missing_required_field", exc.why
    if field == "attachments":
        return status, "invalid_attachment", exc.why
    if exc.refusal is Refusal.SENDER_NOT_ALLOWED:
        return HTTPStatus.FORBIDDEN, "validation_error", f"The `from` address {exc.why}"
    if field in ("from", "to", "cc", "bcc", "reply_to"):
        name = "invalid_from_address" if field == "from" else "validation_error"
        return status, name, f"Invalid `{field}` field. {_BOX} ({exc.why})"
    if field.startswith("variables"):
        field = f"template.{field}"
    return status, "validation_error", f"Invalid `{field}` field: {exc.why}"


def invalid_document(exc: ValidationError) -> InvalidField:
    """Return the first error of a body. Pure."""
    found = exc.errors(include_input=False, include_url=False, include_context=False)
    same = [one for one in found if _place(one)[:1] == _place(found[0])[:1]]
    first = next((one for one in same if not one["type"].endswith("_type")), found[0])
    field = ".".join(_place(first))[:200] or "body"
    if first["type"] == "missing":
        return MissingField(field)
    if first["type"] == "extra_forbidden":
        return InvalidField(field, "the field is not supported or not known")
    return InvalidField(field, first["msg"].removeprefix("Value error, "))


def _place(wrong: Mapping[str, Any]) -> list[str]:
    # A union reports the errors of each of its branches, with the branch's name.
    return [str(part) for part in wrong["loc"] if "[" not in str(part) and str(part) != "str"]


def rates(standing: BucketState) -> RawHeaders:
    """Return Resend's rate limit headers. Pure."""
    return [
        (b"ratelimit-limit", b"%d" % standing.limit),
        (b"ratelimit-remaining", b"%d" % standing.left),
        (b"ratelimit-reset", b"%d" % standing.full_seconds),
        (b"ratelimit-policy", b"%d;w=%d" % (standing.limit, WINDOW_SECONDS)),
    ]
