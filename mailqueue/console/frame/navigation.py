"""The navigation: the sections of the console, and of a project."""

from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.admin.users.model import Right, Session
from mailqueue.console.frame.rendering import project_path


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """The place of a page in the menu: its title, and the heading below which it stands.

    Headings stand in the order of their first pages in the table, and pages below them likewise.
    """

    title: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One link of the navigation.

    `path` is whole (`/console/users`); with `of_project` it is below the project (`emails`).
    With `needs_all` only users who see every project have the section. `group` is the heading below
    which it stands; sections of a group follow each other.
    """

    title: str
    path: str
    right: Right
    of_project: bool = False
    needs_all: bool = False
    group: str = ""

    def is_for(self, session: Session) -> bool:
        """Return whether a user has this section."""
        return self.right in session.rights and (session.sees_all or not self.needs_all)


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A section as a page shows it."""

    title: str
    path: str
    is_current: bool
    group: str


def links(
    sections: Sequence[Section], session: Session, project: str | None, here: str
) -> list[NavigationLink]:
    """Return the sections for a user: those of a project, or those of the console. Pure.

    The section with the longest path that begins the path `here` is the current one.
    """
    shown = [
        (section, section.path if project is None else project_path(project, section.path))
        for section in sections
        if section.of_project == (project is not None) and section.is_for(session)
    ]
    begun = [path for _, path in shown if here == path or here.startswith(f"{path}/")]
    current = max(begun, key=len, default=None)
    return [
        NavigationLink(section.title, path, path == current, section.group)
        for section, path in shown
    ]
