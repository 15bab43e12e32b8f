"""The definition of a page: one row of the table of pages."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry, Section
from mailqueue.web.forms import MAX_BYTES

OF_PROJECT = "/console/projects/{project}/"
SOURCE_CHARACTERS = 50_000
"""Characters of a source, such as HTML, that a form takes."""
SOURCE_BYTES = 1024 * 1024
"""Bytes of a form with a source: a browser encodes a character in up to twelve."""
PageHandler = Callable[[PageContext], Awaitable[Response]]


class Access(StrEnum):
    """Who may see a page that needs no right."""

    PUBLIC = "public"  # without a session
    SIGNED_IN = "signed in"  # every user


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """One method of one path.

    A path with `{project}` needs a project that the user sees, and the right there. `keeps` names
    the fields of a form that are kept when the session has ended; never secrets. `step_up` is for
    destructive acts: the user must have logged in or confirmed recently. A GET of the same path, or
    of one above it, is the page to which a confirmation leads back.
    """

    method: str
    path: str
    access: Right | Access
    handler: PageHandler
    keeps: tuple[str, ...] = ()
    step_up: bool = False
    needs_all: bool = False
    """Whether only users who see every project see the page."""
    max_upload: int = 0
    """Bytes of a file that the form may have; 0: it has none."""
    max_fields_bytes: int = MAX_BYTES
    """Bytes of the fields of the form, as a browser encodes them."""
    before_second_factor: bool = False
    """Whether users see the page who must turn on a second factor before they see others."""
    menu: MenuEntry | None = None
    """Its place in the menu: of its project, if the path has one, else of the console."""


def sections_of(pages: Sequence[ConsolePage]) -> tuple[Section, ...]:
    """Return the menu of a table of pages. Pure.

    Raises:
        ValueError: a page in the menu needs no user.
    """
    sections: list[Section] = []
    for page in pages:
        if page.menu is None:
            continue
        if page.access is Access.PUBLIC:
            raise ValueError(f"{page.path} is public, and stands in the menu")
        sections.append(
            Section(
                page.menu.title,
                page.path.removeprefix(OF_PROJECT),
                page.access if isinstance(page.access, Right) else Right.READ,
                of_project=page.path.startswith(OF_PROJECT),
                needs_all=page.needs_all,
                group=page.menu.group,
            )
        )
    places = list(dict.fromkeys(section.group for section in sections))
    return tuple(sorted(sections, key=lambda section: places.index(section.group)))


def act_pages(
    path: str,
    right: Right,
    *,
    ask: PageHandler,
    act: PageHandler,
    keeps: tuple[str, ...],
    step_up: bool,
    max_fields_bytes: int = MAX_BYTES,
) -> tuple[ConsolePage, ConsolePage]:
    """Return the page that says what an act will do, with its form, and the page that does it."""
    return (
        ConsolePage("GET", path, right, ask, step_up=step_up),
        ConsolePage(
            "POST",
            path,
            right,
            act,
            keeps=keeps,
            step_up=step_up,
            max_fields_bytes=max_fields_bytes,
        ),
    )
