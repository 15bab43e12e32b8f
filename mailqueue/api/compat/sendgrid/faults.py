"""Error responses of SendGrid's API: status, and errors with message and field.

Follows https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors (read 2026-11).
"""

import re
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.accepting import OneRefused
from mailqueue.api.compat.model import CompatError, headers_of
from mailqueue.api.compat.option_fields import names_in
from mailqueue.api.compat.sendgrid.model import SendGridMail
from mailqueue.api.http.responses import BadJson, RawHeaders, json_answer
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
from mailqueue.projects.rate_limit.limiter import BucketState

MAX_ERRORS = 50
HELP = "http://sendgrid.com/docs/API_Reference/Web_API_v3/Mail/errors.html"
NO_FROM = (
    "The from object must be provided for every email send. It is an object that requires the "
    'email parameter, but may also contain a name parameter.  e.g. {"email" : '
    '"example@example.com"}  or {"email" : "example@example.com", "name" : "Example Recipient"}.'
)
NO_PERSONALIZATION = (
    "The personalizations field is required and must have at least one personalization."
)
NO_TO = (
    "The to array is required for all personalization objects, and must have at least one email "
    "object with a valid email address."
)
NO_SUBJECT = (
    "The subject is required. You can get around this requirement if you use a template with a "
    "subject defined or if every personalization has a subject defined."
)
NO_CONTENT = (
    "Unless a valid template_id is provided, the content parameter is required. There must be at "
    "least one defined content block. We typically suggest both text/plain and text/html blocks "
    "are included, but only one block is required."
)
NO_VALUE = "The content value must be a string at least one character in length."
NO_ADDRESS = "Does not contain a valid address."
NOT_OURS = (
    "The from address does not match a verified Sender Identity. Mail cannot be sent until this "
    "error is resolved."
)
# Fields that a personalization or the whole request may have.
_SHARED = ("subject", "headers", "custom_args", "send_at")
# Fields by their SQL name, within a personalization and outside.
_OWN_FIELD = {
    "to": "to",
    "cc": "cc",
    "bcc": "bcc",
    "subject": "subject",
    "scheduled_at": "send_at",
    "variables": "dynamic_template_data",
    "custom_data": "custom_args",
    "headers": "headers",
}
_FIELD = {
    "html_body": "content",
    "text_body": "content",
    "from_email": "from",
    "from_name": "from",
    "tags": "categories",
    "template_slug": "template_id",
    "template_version": "template_id",
    "category": "asm.group_id",
    **names_in(Api.SENDGRID),
}
_EMPTY = "missing|too_short|string_too_short"
# By field and pydantic's error type; the first match is used.
_WORDS = (
    (r"from(\.email)?", "missing", NO_FROM),
    (r"personalizations", "missing|too_short", NO_PERSONALIZATION),
    (r"personalizations\.\d+\.to", "missing|too_short", NO_TO),
    (r".*\.email", "missing", NO_ADDRESS),
    (r"content\.\d+\.value", _EMPTY, NO_VALUE),
    (r"attachments\.\d+\.content", _EMPTY, "The attachment content is needed."),
    (
        r"attachments\.\d+\.filename",
        _EMPTY,
        "The filename parameter is required for every attachment.",
    ),
    (
        r".*(custom_args|headers|substitutions)\..*",
        "string_type",
        "The value must be a string.",
    ),
    (r".*", "missing", "This parameter is required."),
    (r".*", "extra_forbidden", "This parameter is not supported or not known."),
)


class Wrong(NamedTuple):
    """One error; `field` is a path, None where no field is at fault."""

    message: str
    field: str | None = None


class RepeatedRecipient(Wrong):
    """An address that a personalization names twice."""

    __slots__ = ()


class SendGridRefused(InputError):
    """The request is refused, with all its errors."""

    def __init__(self, wrongs: Sequence[Wrong]) -> None:
        self.wrongs = tuple(wrongs[:MAX_ERRORS])
        super().__init__("; ".join(f"{one.field}: {one.message}" for one in self.wrongs))


def refused(request: Request, exc: CompatError) -> Response:  # noqa: ARG001
    """Return the response to an error."""
    status, wrongs = description_of(exc)
    errors = [{"message": one.message, "field": one.field, "help": _help(one)} for one in wrongs]
    return json_answer({"errors": errors}, status=status, headers=headers_of(exc))


def description_of(exc: CompatError) -> tuple[HTTPStatus, Sequence[Wrong]]:
    """Return status and errors for an exception. Pure."""
    match exc:
        case SendGridRefused():
            return HTTPStatus.BAD_REQUEST, exc.wrongs
        case OneRefused():
            return _of_mail(exc)
        case InvalidField():
            return HTTPStatus.BAD_REQUEST, [Wrong(exc.why, _FIELD.get(exc.field, exc.field))]
        case HTTPException():
            return HTTPStatus(exc.status_code), [Wrong(exc.detail)]
        case BadJson():
            return HTTPStatus.BAD_REQUEST, [Wrong(f"Bad Request: {exc}")]
        case Unauthorized():
            why = "The provided authorization grant is invalid, expired, or revoked"
            return HTTPStatus.UNAUTHORIZED, [Wrong(why)]
        case Forbidden():
            return HTTPStatus.FORBIDDEN, [Wrong(f"access forbidden: this key lacks {exc.needed}")]
        case NotFound():
            return HTTPStatus.NOT_FOUND, [Wrong("not found")]
        case TooManyRequests() | LimitReached():
            return HTTPStatus.TOO_MANY_REQUESTS, [Wrong(f"too many requests: {exc.limit}")]
        case Conflict() | InputError() | Locked():
            return HTTPStatus.BAD_REQUEST, [Wrong(str(exc))]
        case Unavailable():
            return HTTPStatus.SERVICE_UNAVAILABLE, [Wrong(exc.public_message)]
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR, [
                Wrong("internal error; report it with the request id")
            ]


def _of_mail(exc: OneRefused) -> tuple[HTTPStatus, Sequence[Wrong]]:
    fault = exc.fault
    name, dot, rest = fault.field.partition(".")
    if fault.refusal is Refusal.SENDER_NOT_ALLOWED:
        return HTTPStatus.FORBIDDEN, [Wrong(f"{NOT_OURS} ({fault.why})", "from")]
    if name == "idempotency_key":
        return HTTPStatus.BAD_REQUEST, [Wrong(f"Idempotency-Key: {fault.why}")]
    if name in _OWN_FIELD:
        field = f"personalizations.{exc.index}.{_OWN_FIELD[name]}{dot}{rest}"
    else:
        field = _FIELD.get(name, name) + dot + rest
    return HTTPStatus.BAD_REQUEST, [Wrong(fault.why, field)]


def located(mail: SendGridMail, exc: OneRefused) -> OneRefused | SendGridRefused:
    """Return the error with the path of the whole request, where the personalization has no such
    field.
    """
    name = _OWN_FIELD.get(exc.fault.field.partition(".")[0])
    if name not in _SHARED or getattr(mail.personalizations[exc.index], name):
        return exc
    return SendGridRefused([Wrong(exc.fault.why, name)])


def invalid_document(exc: ValidationError) -> SendGridRefused:
    """Return all errors of a body. Pure."""
    found = exc.errors(include_input=False, include_url=False, include_context=True)
    return SendGridRefused([_wrong(each) for each in found])


def _wrong(each: Mapping[str, Any]) -> Wrong:
    # A union includes the branch's name, and a dictionary its key.
    parts = [str(part) for part in each["loc"] if "[" not in str(part)]
    field, kind = ".".join(parts)[:300], each["type"]
    context: dict[str, Any] = each.get("ctx", {})
    if field == "personalizations" and kind == "too_long":
        return Wrong(
            "The personalization block is limited to 1000 personalizations per API request. You "
            f"have provided {context.get('actual_length')} personalizations. Please consider "
            "splitting this into multiple requests and resending your request.",
            field,
        )
    for pattern, kinds, words in _WORDS:
        if re.fullmatch(pattern, field) and re.fullmatch(kinds, kind):
            return Wrong(words, "from.email" if words is NO_FROM else field)
    return Wrong(each["msg"].removeprefix("Value error, "), field or None)


def _help(wrong: Wrong) -> str | None:
    """Return the URL of SendGrid's documentation for a field."""
    if wrong.field is None:
        return None
    if wrong.field == "personalizations":
        return f"{HELP}#-Personalizations-Errors"
    if isinstance(wrong, RepeatedRecipient):
        return f"{HELP}#message.recipient-errors"
    named = re.sub(r"\.\d+", "", wrong.field).removesuffix(".email")
    return f"{HELP}#message.{named}"


def rates(bucket: BucketState) -> RawHeaders:
    """Return SendGrid's rate limit headers."""
    return [
        (b"x-ratelimit-reset", b"%d" % (time.time() + bucket.full_seconds)),
        (b"x-ratelimit-limit", b"%d" % bucket.limit),
        (b"x-ratelimit-remaining", b"%d" % bucket.left),
    ]
