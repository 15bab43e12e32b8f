"""Every error we raise on purpose.

MailqueueError
├── ConfigError              refuse to start; the message names the setting
├── Unavailable              a service cannot be reached; the message says which and the fix
│   ├── DatabaseUnavailable                 PostgreSQL cannot be used now   → 503
│   └── StorageFull               PostgreSQL has no room for more mail → 503
├── InputError               the request must be changed
│   ├── Unauthorized         why                             → 401
│   ├── InvalidField         field, why                      → 422
│   ├── NotFound             kind, id                        → 404
│   ├── Conflict             what stands in the way          → 409
│   ├── Forbidden            what is needed, why             → 403
│   ├── LimitReached         limit, retry_after              → 429
│   ├── ProjectFull          bound, why                      → 429
│   └── TooManyRequests      limit, retry_after              → 429
├── SealBroken               a sealed value cannot be opened
├── Locked                   a project's own key has to allow it first
└── LeaseLost                another worker has the row; stop, write nothing
"""

from datetime import timedelta


class MailqueueError(Exception):
    """Base of every error raised on purpose."""


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


class InvalidField(InputError):
    """The value of one field is not valid."""

    def __init__(self, field: str, why: str) -> None:
        self.field = field
        self.why = why
        super().__init__(f"{field}: {why}")


class NotFound(InputError):
    """The object does not exist in this project."""

    def __init__(self, kind: str, name: object) -> None:
        self.kind = kind
        self.name = str(name)
        super().__init__(f"no {kind} {self.name}")


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
