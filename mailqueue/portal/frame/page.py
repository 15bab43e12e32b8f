"""The definition of a page: one row of the table of pages."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from mailqueue.portal.frame.context import PortalContext

PortalHandler = Callable[[PortalContext], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PortalPage:
    """One method of one path below that of the project; the path of its first page is empty."""

    method: str
    path: str
    handler: PortalHandler
    is_public: bool = False
    """Whether it needs no session."""
    menu: str = ""
    """Its title in the menu; empty: it is not there."""
