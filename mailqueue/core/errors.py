"""All errors that mailqueue raises deliberately.

MailqueueError
├── ConfigError              a setting is missing or invalid; the process does not start
├── Unavailable              a service cannot be reached                   → 503
│   ├── DatabaseUnavailable  PostgreSQL cannot be used now                 → 503
│   └── StorageFull          PostgreSQL has no space for more mail         → 503
├── InputError               the request must be changed
│   ├── Unauthorized         no valid key or token                         → 401
│   ├── InvalidField         the value of a field is not valid             → 422
│   ├── NotFound             the object does not exist                     → 404
│   ├── Conflict             an existing object is in conflict             → 409
│   ├── Forbidden            the key or role lacks a permission            → 403
│   ├── LimitReached         a limit is reached                            → 429
│   ├── ProjectFull          a bound of the project is reached             → 429
│   └── TooManyRequests      a request rate is exceeded                    → 429
├── SealBroken               a sealed value cannot be opened
├── Locked                   a project's own key is required first
└── LeaseLost                another process holds the row; write nothing more
"""

from datetime import timedelta
from enum import StrEnum


class MailqueueError(Exception):
    """Base class of all deliberate errors."""


class ConfigError(MailqueueError):
    """A setting is missing or invalid; the message names it and the allowed values."""


class Unavailable(MailqueueError):
    """A service cannot be reached; the message names it and the fix in one line."""

    @property
    def public_message(self) -> str:
        """The message for clients that are not authenticated."""
        return str(self)


class DatabaseUnavailable(Unavailable):
    """PostgreSQL cannot be used; the message contains its address and is for operators only."""

    def __init__(
        self, message: str, *, public_message: str = "the database is away, try again"
    ) -> None:
        super().__init__(message)
        self._public_message = public_message

    @property
    def public_message(self) -> str:
        """The message for clients, without addresses and statements."""
        return self._public_message


class StorageFull(Unavailable):
    """No more mail is accepted because storage is full (SQLSTATE 53100).

    Queued mail is still sent.
    """


class InputError(MailqueueError):
    """The request cannot succeed unchanged."""


class Unauthorized(InputError):
    """The client is not authenticated: its key or token is missing, unknown, expired or revoked."""


class Refusal(StrEnum):
    """Codes of those refusals of a field by which programs decide; SQL names them in its errors."""

    SENDER_NOT_ALLOWED = "sender_not_allowed"  # the project does not send from this address
    FILE_NOT_ALLOWED = (
        "file_not_allowed"  # an attachment of a type that is not allowed, or not its own
    )
    TOO_LARGE = "too_large"  # more bytes than allowed
    MAIL_LOOP = "mail_loop"  # the message has passed too many servers

    @classmethod
    def of(cls, code: str | None) -> "Refusal | None":
        """Return the refusal with a code; None for none, or for a code of another release."""
        return next((one for one in cls if one.value == code), None)


class InvalidField(InputError):
    """The value of one field is not valid; `refusal` is None for most."""

    def __init__(self, field: str, why: str, refusal: Refusal | None = None) -> None:
        self.field = field
        self.why = why
        self.refusal = refusal
        super().__init__(f"{field}: {why}")

    def named(self, field: str) -> "InvalidField":
        """Return the same refusal with another name of the field."""
        return InvalidField(field, self.why, self.refusal)


class NotFound(InputError):
    """The object does not exist in this project."""

    def __init__(self, kind: str, name: object, hint: str | None = None) -> None:
        """Prepare; `hint` says where else to look."""
        self.kind = kind
        self.name = str(name)
        super().__init__(f"no {kind} {self.name}" + ("" if hint is None else f": {hint}"))


class Conflict(InputError):
    """The request conflicts with an existing object."""


class Forbidden(InputError):
    """The key or role lacks the permission for this."""

    def __init__(self, needed: str, why: str | None = None) -> None:
        self.needed = needed
        super().__init__(f"not allowed without {needed}" + ("" if why is None else f": {why}"))


class LimitReached(InputError):
    """A limit is reached; try again after `retry_after`."""

    def __init__(self, limit: str, retry_after: timedelta) -> None:
        self.limit = limit
        self.retry_after = retry_after
        super().__init__(f"{limit} reached, try again in {int(retry_after.total_seconds())} s")


class ProjectFull(InputError):
    """A project has as much as one of its bounds allows (SQLSTATE MQ002).

    `bound` is the name of the setting; empty where a limit of all projects is the reason.
    """

    def __init__(self, bound: str, why: str) -> None:
        self.bound = bound
        super().__init__(why)


class TooManyRequests(InputError):
    """A key or project has sent too many requests; try again after `retry_after`."""

    def __init__(self, limit: str, retry_after: timedelta) -> None:
        self.limit = limit
        self.retry_after = retry_after
        super().__init__(f"too many requests: {limit}")


class SealBroken(MailqueueError):
    """A sealed value cannot be opened: wrong master key, or the value was moved or changed."""


class Locked(MailqueueError):
    """The secrets of a project cannot be opened now: access to its own key is not granted."""


class LeaseLost(MailqueueError):
    """Another process holds the row: this worker was declared lost, or its lease ended.

    This process must write nothing more for the row.
    """
