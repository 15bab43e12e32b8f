"""Who bears a signed token, as the API needs it from outside."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """A person or program as the issuer knows it; `subject` never changes, `called` may."""

    subject: str
    called: str | None = None


class TokenReader(Protocol):
    """Reads signed tokens of one issuer."""

    async def read(self, token: str) -> Identity:
        """Return who bears the token and may administer.

        Raises:
            Unauthorized: the token is not valid, or not for us, or not any more.
            Forbidden: it is valid, and lacks the role.
            Unavailable: the issuer's keys cannot be had now.
        """
        ...
