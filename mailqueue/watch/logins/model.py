"""Projects, links and sessions of persons. Values only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple
from uuid import UUID

from mailqueue.core.secret import Secret

LinkKind = Literal["invitation", "reset"]
"""Why a person gets a link."""


class LoginMailTurn(NamedTuple):
    """Whether a mail with a link may be sent now: None and None, or why not and for how long."""

    refusal: str | None
    wait: timedelta | None


class PersonsProject(NamedTuple):
    """A project whose persons log in to pages below its name."""

    id: UUID
    name: str
    display_name: str


class PersonLogin(NamedTuple):
    """The password of a person as stored, and whether the browser is one of earlier logins."""

    user_id: UUID
    password_hash: str
    is_known_browser: bool


class PersonSession(NamedTuple):
    """A valid session, and its person."""

    session_id: UUID
    user_id: UUID
    email: str
    notifications_paused: bool

    @property
    def by(self) -> str:
        """Return the actor that the audit log names."""
        return f"inbox user {self.user_id}"


class ListedPersonSession(NamedTuple):
    """A session that may still be used, as its person sees it."""

    id: UUID
    address: str | None
    user_agent: str | None
    created_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True)
class PersonLink:
    """A link by which a person sets a password: its token, which is not stored."""

    email: str
    token: Secret
    until: datetime
