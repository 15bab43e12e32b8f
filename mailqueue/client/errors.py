"""What goes wrong between a program and the API.

ClientError
├── NoAnswer                 nothing was heard, or not in time; nobody knows whether it arrived
├── BadAnswer                somebody answered, but not the API: a proxy, another server
└── ApiError                 the API refused: status, code, field, request_id
    ├── InvalidRequest       the request must change                 400, 413, 415, 422 …
    ├── Unauthorized         the key is not in force                 401
    ├── Forbidden            the key lacks the scope `needed`        403
    ├── NotFound             the project has no such thing           404
    ├── Conflict             its state does not allow it             409
    ├── TooManyRequests      come again after `retry_after` seconds  429
    └── ServerError          something is wrong or away there        5xx
"""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from mailqueue.core.errors import InvalidField, MailqueueError
from mailqueue.producer.wording import known

LONGEST_TEXT = 300
# What the API calls a field that programs know by another name.
_FIELD_BY_NAME: Mapping[str, str] = {
    "scheduled_at": "run_at",
    "smtp_config_id": "sender",
    "template_slug": "template",
    "template_version": "template",
    "Idempotency-Key": "idempotency_key",
}


class ClientError(MailqueueError):
    """Something went wrong between this program and the API."""


class NoAnswer(ClientError):
    """No answer came; a request that changes something may have taken effect."""

    def __init__(self, why: str, *, attempts: int) -> None:
        self.attempts = attempts
        tries = "one attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(f"no answer after {tries}: {why}")


class BadAnswer(ClientError):
    """What answered is not the API, or not one this client knows."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(f"not an answer of the API ({status}): {why}")


class ApiError(ClientError):
    """The API refused a request.

    `code` is the API's word for it (`invalid_field`); `field` the field of the request at fault,
    by the name this client has for it, empty where it is none in particular; `violations` all such
    fields with what is wrong; `request_id` finds it in the log of the server; `retry_after` is in
    seconds, None where the API says nothing.
    """

    def __init__(self, status: int, document: Mapping[str, Any], headers: Mapping[str, str]):
        self.status = status
        self.code = str(document.get("name", ""))
        self.message = str(document.get("message", ""))
        self.field = _named(str(document.get("field") or ""))
        self.violations = tuple(
            (_named(str(one.get("field"))), str(one.get("message")))
            for one in document.get("violations") or ()
        )
        self.needed = document.get("needed")
        self.request_id = document.get("request_id") or headers.get("x-request-id")
        self.retry_after = retry_after(headers)
        Exception.__init__(self, f"{status} {self.code}: {self.message}")


class InvalidRequest(ApiError, InvalidField):
    """Something in the request must change; `field` names it where it is one field."""

    @property
    def why(self) -> str:  # type: ignore[override]
        """Return what is wrong, without the field's name."""
        if self.violations:
            return self.violations[0][1]
        return self.message.partition(": ")[2] if self.field else self.message


class Unauthorized(ApiError):
    """The key is missing, unknown, revoked or expired."""


class Forbidden(ApiError):
    """The key lacks a scope: `needed`."""


class NotFound(ApiError):
    """The project has no such thing."""


class Conflict(ApiError):
    """The state of things does not allow it."""


class TooManyRequests(ApiError):
    """A rate or a quota is used up; `retry_after` says for how long."""


class ServerError(ApiError):
    """Something is wrong there, or away."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    429: TooManyRequests,
}


def refusal(status: int, body: bytes, headers: Mapping[str, str]) -> ClientError:
    """Return the error that an answer is."""
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    if not isinstance(document, dict) or "statusCode" not in document:
        return BadAnswer(status, body[:LONGEST_TEXT].decode("utf-8", "replace"))
    kind = ServerError if status >= 500 else _BY_STATUS.get(status, InvalidRequest)
    return kind(status, document, headers)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that Retry-After says (RFC 9110, section 10.2.3); None without it."""
    given = headers.get("retry-after", "").strip()
    if given.isascii() and given.isdigit():
        return float(given[:9])
    answered = headers.get("date", "")
    try:  # by the server's clock, which need not be ours
        until, now = parsedate_to_datetime(given), parsedate_to_datetime(answered)
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _named(field: str) -> str:
    first, dot, rest = field.partition(".")
    return _FIELD_BY_NAME.get(first, known(first)) + dot + rest
