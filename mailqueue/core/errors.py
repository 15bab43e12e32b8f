"""Every error we raise on purpose.

MailqueueError
├── ConfigError              refuse to start; the message names the setting
├── Unavailable              a service we need is away; the message says which and the fix
│   ├── Away                 PostgreSQL cannot be used now   → 503
│   └── NoRoom               PostgreSQL has no room for more mail → 503
├── InputError               the caller must change something
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
    """A setting is missing or faulty; the message names it and what is allowed."""


class Unavailable(MailqueueError):
    """A service we need is away; the message names it and the fix in one line."""

    @property
    def told(self) -> str:
        """What anybody may read, who need not have shown a key."""
        return str(self)


class Away(Unavailable):
    """PostgreSQL cannot be used; the message, which says where it is, is for who runs it."""

    def __init__(self, message: str, *, told: str = "the database is away, try again") -> None:
        super().__init__(message)
        self._told = told

    @property
    def told(self) -> str:
        """What anybody may read: neither addresses nor statements."""
        return self._told


class NoRoom(Unavailable):
    """Nothing more is accepted for want of room (SQLSTATE 53100); what is queued is sent."""


class InputError(MailqueueError):
    """The caller must change something before trying again."""


class Unauthorized(InputError):
    """Nobody we know asks: a key or token is missing, unknown or no longer in force."""


class InvalidField(InputError):
    """One field of the input is wrong."""

    def __init__(self, field: str, why: str) -> None:
        self.field = field
        self.why = why
        super().__init__(f"{field}: {why}")


class NotFound(InputError):
    """There is no such thing in this project."""

    def __init__(self, kind: str, name: object) -> None:
        self.kind = kind
        self.name = str(name)
        super().__init__(f"no {kind} {self.name}")


class Conflict(InputError):
    """Something that exists stands in the way."""


class Forbidden(InputError):
    """The key or role does not allow this."""

    def __init__(self, needed: str, why: str | None = None) -> None:
        self.needed = needed
        super().__init__(f"not allowed without {needed}" + ("" if why is None else f": {why}"))


class LimitReached(InputError):
    """A limit stands in the way until `retry_after` has passed."""

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
    """Requests come faster than a key or project may ask; `retry_after` from now they do not."""

    def __init__(self, limit: str, retry_after: timedelta) -> None:
        self.limit = limit
        self.retry_after = retry_after
        super().__init__(f"too many requests: {limit}")


class SealBroken(MailqueueError):
    """A sealed value cannot be opened: wrong master key, or moved or altered data."""


class Locked(MailqueueError):
    """The secrets of a project may not be opened now: it keeps their key itself."""


class LeaseLost(MailqueueError):
    """What this process held is another's: a worker that was declared lost, a lease that ran out.

    It must write nothing more.
    """
