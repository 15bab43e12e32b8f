"""Projects and the keys of their HTTP API. Values only."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class Project:
    """A tenant, and what holds for all its mail; what is None is not said."""

    id: UUID
    name: str
    status: str
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    bounce_address: str | None
    allowed_from: list[str] | None  # addresses, domains and *.domains; None: any
    attachment_types: list[str]
    attachment_bytes: int  # of all files of a mail
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it may be shown: everything but the key."""

    id: UUID
    name: str
    hint: str
    is_test: bool
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key; `key` is shown once and cannot be found again."""

    key: Secret
    record: ApiKey


class Scope(StrEnum):
    """What a key may be allowed to do."""

    EMAIL_SEND = "email:send"
    EMAIL_READ = "email:read"
    TEMPLATE_READ = "template:read"
    TEMPLATE_WRITE = "template:write"
    ANALYTICS_READ = "analytics:read"
    SUPPRESSION_MANAGE = "suppression:manage"
    WEBHOOK_MANAGE = "webhook:manage"
    PROJECT_READ = "project:read"
    PROJECT_WRITE = "project:write"


EVERY_SCOPE = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a valid key speaks for; `trap_sender` is where mail of a test key goes.

    `name` is the key's own.
    """

    id: UUID
    project_id: UUID
    project: str
    is_test: bool
    trap_sender: str | None
    name: str = ""
    scopes: frozenset[str] = EVERY_SCOPE


@dataclass(frozen=True, slots=True)
class Admin:
    """Who administers the installation; `means` says how that is known: token or oidc."""

    name: str
    means: str
