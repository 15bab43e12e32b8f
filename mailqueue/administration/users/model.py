"""Roles of the console's users and their rights, and users, sessions and projects as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.core.secret import Secret


class Role(StrEnum):
    """What a user of the console may do, in the projects that the user sees."""

    SUPERADMIN = "superadmin"  # everything, in every project
    PROJECT_ADMIN = "project_admin"
    SUPPORT = "support"  # reads, and sends again
    VIEWER = "viewer"  # reads, but no messages


class Right(StrEnum):
    """One thing that a role may or may not do."""

    READ = "read"  # lists, states and timelines of emails, suppressions
    READ_MESSAGES = "read messages"  # what an email says; looking is audited
    RESEND = "resend"
    CONTROL = "control"  # cancel, hold and release
    ADMINISTER = "administer"  # users of the console


RIGHTS: Mapping[Role, frozenset[Right]] = {
    Role.SUPERADMIN: frozenset(Right),
    Role.PROJECT_ADMIN: frozenset(Right) - {Right.ADMINISTER},
    Role.SUPPORT: frozenset({Right.READ, Right.READ_MESSAGES, Right.RESEND}),
    Role.VIEWER: frozenset({Right.READ}),
}


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link that sets a password: its token, which is not stored, and when it ends."""

    name: str
    token: Secret
    until: datetime


@dataclass(frozen=True, slots=True)
class Login:
    """The password of a user as stored, and whether the user logged in with the browser before."""

    user_id: UUID
    password_hash: str
    is_known_browser: bool


@dataclass(frozen=True, slots=True)
class Session:
    """A valid session and its user."""

    session_id: UUID
    user_id: UUID
    name: str
    role: str
    sees_all: bool
    created_at: datetime

    @property
    def rights(self) -> frozenset[Right]:
        """Return what the user may do; nothing with a role that this release does not know."""
        return RIGHTS[Role(self.role)] if self.role in set(Role) else frozenset()

    @property
    def by(self) -> str:
        """Return the name of the user for the audit log."""
        return f"{self.name} (console)"


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session that may still be used, as its user sees it."""

    id: UUID
    address: str | None
    user_agent: str | None
    created_at: datetime
    used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SeenProject:
    """A project that a user sees."""

    id: UUID
    name: str
    display_name: str | None
    status: str


@dataclass(frozen=True, slots=True)
class LoginSource:
    """Where a login comes from; `browser` is the token that the browser kept of earlier logins."""

    address: str | None
    user_agent: str | None
    browser: Secret | None


@dataclass(frozen=True, slots=True)
class BegunSession:
    """A new session: the tokens for the browser, which are not stored."""

    token: Secret
    browser: Secret
