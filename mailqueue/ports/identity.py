"""The interfaces of an issuer that identifies administrators and users of the console."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """A person or program known to the issuer; `subject` never changes, the name `called` may."""

    subject: str
    called: str | None = None


class TokenReader(Protocol):
    """Verifies signed tokens of one issuer."""

    async def read(self, token: str) -> TokenIdentity:
        """Return the administrator that the token identifies.

        Raises:
            Unauthorized: the token is not valid, not for this server, or expired.
            Forbidden: it is valid, but lacks the role.
            Unavailable: the issuer's keys cannot be fetched now.
        """
        ...


@dataclass(frozen=True, slots=True)
class LoginFlow:
    """The secrets of one login at an issuer, which only the browser that began it keeps."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class IssuerIdentity:
    """A person who has logged in at an issuer; `subject` never changes, the name `called` may."""

    issuer: str
    subject: str
    called: str | None
    values: frozenset[str]
    """Values of the role claim."""


class LoginProvider(Protocol):
    """The issuer at which people log in to the console."""

    @property
    def host(self) -> str:
        """Return the host of the issuer, as people know it."""
        ...

    async def authorization_url(self, flow: LoginFlow, *, back: str, anew: bool = False) -> str:
        """Return the URL to which a browser is sent for a login.

        The issuer sends it back to the URL `back`. `anew`: the user proves again who it is, even if
        logged in there.

        Raises:
            Unavailable: the issuer cannot be reached now.
        """
        ...

    async def identify(
        self, flow: LoginFlow, answer: Mapping[str, str], *, back: str, anew: bool = False
    ) -> IssuerIdentity:
        """Return the person whom the issuer's answer, the query of the URL `back`, identifies.

        Raises:
            Unauthorized: the issuer refused the login, or the answer is not one to this login.
            Unavailable: the issuer cannot be reached now.
        """
        ...
