"""Whose templates a page shows: those of the project in its path, else the platform's."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import TemplateRow, VersionRow
from mailqueue.web.rendering import path_with

PLATFORM = "/console/templates"
PLATFORM_TEMPLATE = f"{PLATFORM}/{{platform_template}}"
PROJECT = "/console/projects/{project}/templates"
PROJECT_TEMPLATE = f"{PROJECT}/{{template}}"
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class TemplateOwner:
    """The paths of an owner's templates and of one of them, and the right to write them."""

    path: str
    template: str
    right: Right


OWNERS = (
    TemplateOwner(PLATFORM, PLATFORM_TEMPLATE, Right.ADMINISTER),
    TemplateOwner(PROJECT, PROJECT_TEMPLATE, Right.CONFIGURE),
)


def owner_of(context: PageContext) -> UUID | None:
    """Return the id of the project in the path; None: the platform."""
    return None if context.project is None else context.project.id


def connection(context: PageContext) -> AbstractAsyncContextManager[Conn]:
    """Yield a connection for the project in the path, else for the installation."""
    return context.installation() if context.project is None else context.connection()


def acting_once(context: PageContext) -> AbstractAsyncContextManager[Conn]:
    """Yield a connection as `connection` does, for the form's action.

    Raises:
        DoneBefore: the form was sent before.
    """
    return context.acting_once(on_installation=context.project is None)


def path_of(context: PageContext, *parts: object, **query: object) -> str:
    """Return the path of a page of the same templates; empty parameters are left out."""
    if context.project is not None:
        return project_path(context.project.name, "templates", *parts, **query)
    return path_with("/".join((PLATFORM, *(quote(str(part), safe="") for part in parts))), **query)


async def find_template(context: PageContext, conn: Conn) -> TemplateRow:
    """Return the template in the path.

    Raises:
        NotFound: there is no such template.
    """
    return await writing.find(conn, owner_of(context), template_id=_id_of(context))


async def find_own_template(context: PageContext, conn: Conn) -> TemplateRow:
    """Return the template in the path, to be changed.

    Raises:
        NotFound: there is no such template, or it is one of the platform that the project uses.
    """
    return await writing.find_own(conn, owner_of(context), template_id=_id_of(context))


def _id_of(context: PageContext) -> UUID:
    name = "platform_template" if context.project is None else "template"
    return context.id_in_path(name, "template")


async def find_version(conn: Conn, template: TemplateRow, given: str) -> VersionRow:
    """Return a version by its number as text.

    Raises:
        NotFound: there is no such version.
    """
    if not (given.isascii() and given.isdigit() and len(given) <= _DIGITS):
        raise NotFound("version", given.replace("\0", "?")[:100])
    return await versions.find(conn, template, number=int(given))
