"""The interface that identifies administrators by signed tokens."""

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
