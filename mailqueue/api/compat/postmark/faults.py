"""Error responses of Postmark's API: HTTP status, ErrorCode, Message."""

from collections.abc import Sequence
from enum import IntEnum
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.model import CompatError, headers_of
from mailqueue.api.compat.option_fields import names_in
from mailqueue.api.compat.postmark.model import NoStream, NotAnAddress, NotForSending
from mailqueue.api.compat.reading import BadParameter
from mailqueue.api.http.responses import BadJson, Busy, json_answer
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

UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY
INACTIVE = (
    "Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a "
    "manual suppression."
)
_NOT_GIVEN = (
    "No Account or Server API tokens were supplied in the HTTP headers. Please add a header for "
    "either X-Postmark-Server-Token or X-Postmark-Account-Token."
)
_NOT_VALID = (
    "The Server Token you provided in the X-Postmark-Server-Token request header was invalid. "
    "Please verify that you are using a valid token."
)
# Fields whose SQL name differs from their name here.
_FIELD = {
    "from_email": "From",
    "from_name": "From",
    "to": "To",
    "cc": "Cc",
    "bcc": "Bcc",
    "reply_to": "ReplyTo",
    "subject": "Subject",
    "html_body": "HtmlBody",
    "text_body": "TextBody",
    "headers": "Headers",
    "tags": "Tag",
    "custom_data": "Metadata",
    "attachments": "Attachments",
    "template_slug": "TemplateAlias",
    "template_version": "TemplateAlias",
    "inline_css": "InlineCss",
    "category": "MessageStream",
    **names_in(Api.POSTMARK),
}
_OWN_FIELDS = (
    *("Url", "HttpAuth", "HttpHeaders", "Triggers"),
    *("Name", "Alias", "Subject", "HtmlBody", "TextBody"),
    *("ReturnPathDomain", "Description"),
    *("FromEmail", "ReplyToEmail", "MatchName", "Rule"),
)
"""Fields of webhooks, templates, domains, streams and rules: errors have these names already."""


class ErrorCode(IntEnum):
    """Postmark's error codes; they are not HTTP statuses, although some look like them."""

    OK = 0
    BAD_TOKEN = 10
    MAINTENANCE = 100
    INVALID_EMAIL = 300
    NO_SENDER = 400
    INVALID_JSON = 402
    INCOMPATIBLE_JSON = 403
    NOT_FOUND = 404
    NOT_ALLOWED = 405
    INACTIVE_RECIPIENT = 406
    JSON_REQUIRED = 409
    TOO_MANY_MESSAGES = 410
    FORBIDDEN_FILE = 411
    RATE_LIMIT = 429
    INTERNAL = 500
    NO_SIGNATURE = 501
    SIGNATURE_EXISTS = 504
    DKIM_RENEWED = 505
    NO_DOMAIN = 510
    DOMAIN_EXISTS = 512
    BAD_DOMAIN = 516
    NO_BOUNCE = 407
    NO_MESSAGE = 701
    NOT_BYPASSED = 702
    NOT_RETRIED = 703
    NO_TRIGGER = 801
    TRIGGER_EXISTS = 803
    TRIGGER_NAME = 808
    RULE_EXISTS = 810
    NO_RULE = 812
    BAD_RULE = 813
    NO_TEMPLATE = 1101
    STREAM_TYPE = 1221
    STREAM_NAME = 1223
    STREAM_NAME_LENGTH = 1224
    STREAMS_FULL = 1225
    STREAM_NOT_FOUND = 1226
    STREAM_ID = 1227
    STREAM_EXISTS = 1230
    STREAM_DESCRIPTION_LENGTH = 1231
    STREAM_PREFIX = 1233
    STREAM_DESCRIPTION_HTML = 1234
    NO_STREAM = 1235
    STREAM_NOT_FOR_SENDING = 1236
    STREAM_RESERVED = 1237
    STREAM_HANDLING = 1239


class MissingToken(Unauthorized):
    """The request has no token."""


class NoBounce(InputError):
    """There is no such bounce."""


class NotActivated(InputError):
    """The bounce cannot be activated, such as a complaint."""


class PostmarkRefusal(InputError):
    """A request is refused with a code of its own, in Postmark's words."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotJson(InputError):
    """The headers exclude JSON: Content-Type or Accept."""


class TooManyMessages(InputError):
    """A batch has too many messages."""


class NotAccepted(InvalidField):
    """A value is missing or wrong; `why` is the whole message."""


class NoFormat(InvalidField):
    """The body is JSON of another form."""


def refused(request: Request, exc: CompatError) -> Response:  # noqa: ARG001
    """Return the response to an error."""
    status, code, message = description_of(exc)
    return json_answer(error_of(code, message), status=status, headers=headers_of(exc))


def error_of(code: ErrorCode, message: str) -> dict[str, Any]:
    """Return the body of an error, or the result of one message of a batch. Pure."""
    return {"ErrorCode": int(code), "Message": message}


def description_of(exc: CompatError) -> tuple[HTTPStatus, ErrorCode, str]:
    """Return status, code and message of an error. Pure."""
    match exc:
        case HTTPException():
            return _http_worded(exc)
        case MissingToken():
            return HTTPStatus.UNAUTHORIZED, ErrorCode.BAD_TOKEN, _NOT_GIVEN
        case Unauthorized():
            return HTTPStatus.UNAUTHORIZED, ErrorCode.BAD_TOKEN, _NOT_VALID
        case Forbidden():
            return UNPROCESSABLE, ErrorCode.NOT_ALLOWED, f"This token lacks {exc.needed}."
        case BadJson():
            return UNPROCESSABLE, ErrorCode.INVALID_JSON, f"Invalid JSON: {exc}."
        case NotJson():
            return UNPROCESSABLE, ErrorCode.JSON_REQUIRED, str(exc)
        case TooManyMessages():
            return UNPROCESSABLE, ErrorCode.TOO_MANY_MESSAGES, str(exc)
        case InvalidField():
            code, message = field_description(exc)
            return UNPROCESSABLE, code, message
        case PostmarkRefusal():
            return UNPROCESSABLE, exc.code, str(exc)
        case NoBounce():
            return UNPROCESSABLE, ErrorCode.NO_BOUNCE, "This bounce was not found."
        case NotActivated():
            why = "This bounce cannot be activated: its recipient complained."
            return UNPROCESSABLE, ErrorCode.NOT_ALLOWED, why
        case NotFound() if exc.kind == "webhook":
            return HTTPStatus.NOT_FOUND, ErrorCode.NOT_FOUND, "This webhook was not found."
        case NotFound() if exc.kind.startswith("template"):
            why = "The template was not found on this server."
            return UNPROCESSABLE, ErrorCode.NO_TEMPLATE, why
        case NotFound():
            return UNPROCESSABLE, ErrorCode.NO_MESSAGE, "This message was not found."
        case LimitReached():
            return UNPROCESSABLE, ErrorCode.NOT_ALLOWED, f"Not allowed to send: {exc}."
        case TooManyRequests():
            why = f"Rate limit exceeded: {exc.limit}."
            return HTTPStatus.TOO_MANY_REQUESTS, ErrorCode.RATE_LIMIT, why
        case Busy():
            why = "The same request is in progress."
            return HTTPStatus.TOO_MANY_REQUESTS, ErrorCode.RATE_LIMIT, why
        case Conflict() | Locked():
            return UNPROCESSABLE, ErrorCode.NOT_ALLOWED, f"{exc}."
        case InputError():
            return UNPROCESSABLE, ErrorCode.INVALID_EMAIL, str(exc)
        case Unavailable():
            return HTTPStatus.SERVICE_UNAVAILABLE, ErrorCode.MAINTENANCE, exc.public_message
        case _:
            why = "Internal error; see the server's log."
            return HTTPStatus.INTERNAL_SERVER_ERROR, ErrorCode.INTERNAL, why


def _http_worded(exc: HTTPException) -> tuple[HTTPStatus, ErrorCode, str]:
    status = HTTPStatus(exc.status_code)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return status, ErrorCode.INTERNAL, exc.detail
    if status == HTTPStatus.NOT_FOUND:
        return status, ErrorCode.NOT_FOUND, f"{exc.detail}."
    return status, ErrorCode.INVALID_EMAIL, exc.detail


def field_description(exc: InvalidField) -> tuple[ErrorCode, str]:
    """Return code and message for an invalid field. Pure."""
    field = _FIELD.get(exc.field, exc.field)
    match exc:
        case NoFormat():
            return ErrorCode.INCOMPATIBLE_JSON, exc.why
        case BadParameter():
            return ErrorCode.INVALID_EMAIL, f"'{exc.field}': {exc.why}."
        case NotAnAddress() | NotAccepted():
            return ErrorCode.INVALID_EMAIL, exc.why
        case NotForSending():
            why = f"The 'MessageStream' provided {exc.why}."
            return ErrorCode.STREAM_NOT_FOR_SENDING, why
        case NoStream():
            return ErrorCode.NO_STREAM, f"The 'MessageStream' provided {exc.why}."
    if exc.field in ("template_slug", "template_version"):
        return ErrorCode.NO_TEMPLATE, (
            "The 'TemplateId' or 'TemplateAlias' associated with this request is not valid or was "
            f"not found: {exc.why}."
        )
    if exc.refusal is Refusal.SENDER_NOT_ALLOWED:
        return ErrorCode.NO_SENDER, f"The 'From' address {exc.why}."
    if exc.refusal is Refusal.FILE_NOT_ALLOWED:
        return ErrorCode.FORBIDDEN_FILE, f"Forbidden attachment: {exc.why}."
    if exc.field in _FIELD or exc.field.partition(".")[0] in _OWN_FIELDS:
        return ErrorCode.INVALID_EMAIL, f"'{field}': {exc.why}."
    if field.startswith("variables"):
        return ErrorCode.INVALID_EMAIL, f"'TemplateModel{field[9:]}': {exc.why}."
    return ErrorCode.INVALID_EMAIL, exc.why


def invalid_document(exc: ValidationError) -> InvalidField:
    """Return the first error of a message. Pure."""
    first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"] if "[" not in str(part))[:200]
    match first["type"]:
        case "missing":
            return NotAccepted(field, f"'{field}' is needed.")
        case "extra_forbidden":
            return NoFormat(field, f"'{field}': the field is not supported or not known.")
        case "value_error":
            why = first["msg"].removeprefix("Value error, ")
            return NotAccepted(field, f"'{field}': {why}.")
    return NoFormat(field, f"'{field or 'body'}': {first['msg']}.")


def inactive(addresses: Sequence[str]) -> str:
    """Return the error for a message whose recipients are all inactive. Pure."""
    found = ", ".join(address.lower() for address in addresses)
    return (
        "You tried to send to recipient(s) that have been marked as inactive. "
        f"Found inactive addresses: {found}. {INACTIVE}"
    )


def partly_inactive(addresses: Sequence[str]) -> str:
    """Return the message for a mail with some inactive recipients. Pure."""
    found = ", ".join(address.lower() for address in addresses)
    return f"Message OK, but will not deliver to these inactive addresses: {found}. {INACTIVE}"
