"""What endpoints need from outside the API; the wiring puts it in. Values only."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mailqueue.core.errors import Unauthorized
from mailqueue.tenants.model import Admin

AdminOf = Callable[[str], Awaitable[Admin]]
"""Say who bears a token; raises Unauthorized for one that is not in force."""


async def nobody(token: str) -> Admin:  # noqa: ARG001
    """Know no administrator."""
    raise Unauthorized("this token is not valid")


@dataclass(frozen=True, slots=True)
class Services:
    """A field for each outside thing, with what holds where nothing was wired."""

    admin_of: AdminOf = nobody
