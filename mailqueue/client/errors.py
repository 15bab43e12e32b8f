"""Errors of the API client.

ClientError
├── NoAnswer                 no response, or not in time; the request may have taken effect
├── BadAnswer                a response that is not the API's: of a proxy, of another server
└── ApiError                 the API refused: status, code, field, request_id
    ├── InvalidRequest       the request is invalid                  400, 413, 415, 422 …
    ├── Unauthorized         the key is missing or not valid         401
    ├── Forbidden            the key lacks the scope `needed`        403
    ├── NotFound             the project has no such object          404
    ├── Conflict             the object's state does not allow it    409
    ├── TooManyRequests      retry after `retry_after` seconds       429
    └── ServerError          the server failed or is unavailable     5xx
"""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from mailqueue.core.errors import InvalidField, MailqueueError
from mailqueue.producer.message import known

LONGEST_TEXT = 300
# Fields whose name in the API differs from their name in this client.
_FIELD_BY_NAME: Mapping[str, str] = {
    "scheduled_at": "run_at",
    "smtp_config_id": "sender",
    "template_slug": "template",
    "template_version": "template",
    "Idempotency-Key": "idempotency_key",
}


class ClientError(MailqueueError):
    """Base class of the client's errors."""


class NoAnswer(ClientError):
    """No response came; a request that changes something may have taken effect."""

    def __init__(self, why: str, *, attempts: int) -> None:
        self.attempts = attempts
        tries = "one attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(f"no response after {tries}: {why}")


class BadAnswer(ClientError):
    """The response is not the API's, or not one this client can parse."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(f"not a response of the API ({status}): {why}")


class ApiError(ClientError):
    """The API refused a request.

    `code` is the API's error code (`invalid_field`); `field` the field at fault, by its name in
    this client, empty where there is none; `violations` all such fields with the reason;
    `request_id` the id of the request in the server's log; `retry_after` the wait in seconds, None
    where the API names none.
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
    """A field of the request is invalid; `field` names it where it is one field."""

    @property
    def why(self) -> str:  # type: ignore[override]
        """Return the reason without the field's name."""
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
    """The state of the object does not allow the request."""


class TooManyRequests(ApiError):
    """A rate limit or quota is used up; `retry_after` is the wait in seconds."""


class ServerError(ApiError):
    """The server failed or is unavailable."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    429: TooManyRequests,
}


def refusal(status: int, body: bytes, headers: Mapping[str, str]) -> ClientError:
    """Return the error for a response."""
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    if not isinstance(document, dict) or "statusCode" not in document:
        return BadAnswer(status, body[:LONGEST_TEXT].decode("utf-8", "replace"))
    kind = ServerError if status >= 500 else _BY_STATUS.get(status, InvalidRequest)
    return kind(status, document, headers)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the value of Retry-After in seconds (RFC 9110, section 10.2.3); None without it."""
    given = headers.get("retry-after", "").strip()
    if given.isascii() and given.isdigit():
        return float(given[:9])
    answered = headers.get("date", "")
    try:  # a date, compared with the server's Date header: the clocks may differ
        until, now = parsedate_to_datetime(given), parsedate_to_datetime(answered)
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _named(field: str) -> str:
    first, dot, rest = field.partition(".")
    return _FIELD_BY_NAME.get(first, known(first)) + dot + rest
