"""The definition of a page: one row of the table of pages."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import PageContext

PageHandler = Callable[[PageContext], Awaitable[Response]]


class Access(StrEnum):
    """Who may see a page that needs no right."""

    PUBLIC = "public"  # without a session
    SIGNED_IN = "signed in"  # every user


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """One method of one path.

    A path with `{project}` needs a project that the user sees, and the right there. `keeps` names
    the fields of a form that are kept when the session has ended; never secrets.
    """

    method: str
    path: str
    access: Right | Access
    handler: PageHandler
    keeps: tuple[str, ...] = ()
