"""Roles of the console's users and their rights, and users, sessions and projects as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    CONTROL = "control"  # cancel, hold, release, move and resolve
    MANAGE_RECIPIENTS = "manage recipients"  # suppress, lift, export and erase
    MANAGE_KEYS = "manage keys"  # API keys of a project
    READ_AUDIT = "read the audit log"  # of a project
    CONFIGURE = "configure"  # sender accounts and test emails of a project
    MANAGE_MEMBERS = "manage members"  # who sees the project, in roles not above one's own
    ADMINISTER = "administer"  # users of the console


RIGHTS: Mapping[Role, frozenset[Right]] = {
    Role.SUPERADMIN: frozenset(Right),
    Role.PROJECT_ADMIN: frozenset(Right) - {Right.ADMINISTER},
    Role.SUPPORT: frozenset({Right.READ, Right.READ_MESSAGES, Right.RESEND}),
    Role.VIEWER: frozenset({Right.READ}),
}


@dataclass(frozen=True, slots=True)
class GrantedRole:
    """The role and the projects that a login at an issuer gives."""

    role: str
    projects: tuple[str, ...]  # names; empty: every project


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link that sets a password: its token, which is not stored, and when it ends."""

    name: str
    token: Secret
    until: datetime


@dataclass(frozen=True, slots=True)
class Login:
    """The password of a user as stored, whether the user logged in with the browser before, and
    whether a second factor is on.
    """

    user_id: UUID
    password_hash: str
    is_known_browser: bool
    has_second_factor: bool


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """The second factor of a user as stored, and the password that it goes with."""

    user_id: UUID
    name: str
    password_hash: str = field(repr=False)
    is_known_browser: bool
    master_key_id: str
    sealed: bytes = field(repr=False)
    session_id: UUID  # that was shown the secret
    begun_at: datetime
    turned_on_at: datetime | None  # None: not yet
    last_step: int
    recovery_codes: int  # that were not used


@dataclass(frozen=True, slots=True)
class CodeNeeded:
    """A login whose password was right, and that needs a code: a value for the browser to keep."""

    kept: Secret


@dataclass(frozen=True, slots=True)
class Session:
    """A valid session and its user."""

    session_id: UUID
    user_id: UUID
    name: str
    role: str
    sees_all: bool
    issuer: str | None  # at which the user logs in; None: with a password
    created_at: datetime
    is_confirmed: bool  # whether the user has proved recently to be the user
    has_second_factor: bool

    @property
    def rights(self) -> frozenset[Right]:
        """Return what the user may do; nothing with a role that this release does not know."""
        return RIGHTS[Role(self.role)] if self.role in set(Role) else frozenset()

    @property
    def by(self) -> str:
        """Return the name of the user for the audit log."""
        return f"{self.name} (console)"


@dataclass(frozen=True, slots=True)
class SessionAccess:
    """What the user of a session sees now: of all projects, and of the one that was asked for."""

    place: int
    role: str
    sees_all: bool
    sees_project: bool

    @property
    def rights(self) -> frozenset[Right]:
        """Return what the user may do; nothing with a role that this release does not know."""
        return RIGHTS[Role(self.role)] if self.role in set(Role) else frozenset()

    def allows(self, right: Right, *, of_project: bool) -> bool:
        """Return whether the user has a right, in the project or in all of them."""
        return right in self.rights and (self.sees_project if of_project else self.sees_all)


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
