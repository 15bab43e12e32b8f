"""Pages of contact lists: the lists of a project, and the form that adds one."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contacts import lists
from mailqueue.contract.contacts import OptIn
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.web.schemas import Choices, FormSchema

PATH = "/console/projects/{project}/groups"


class NewList(FormSchema):
    """The form of a new list."""

    name: Annotated[str, Field(max_length=63)]
    """Name: lower-case letters, digits, - and _"""
    description: Annotated[str | None, Field(max_length=500)] = None
    """Description (optional)"""
    opt_in: Annotated[
        OptIn,
        Choices(
            {
                "none": "all contacts of the list",
                "recorded": "those whose consent is recorded",
                "confirmed": "those that confirmed by a link",
            }
        ),
    ] = OptIn.NONE
    """Who gets its mail"""


async def show_lists(context: PageContext) -> Response:
    """Show the lists of a project by name."""
    async with context.connection() as conn:
        found = await lists.list_(conn, context.seen.id)
    return context.page("groups/list.html", lists=found)


async def add(context: PageContext, conn: Conn, new: NewList) -> str:
    """Add a list; return the path of all lists.

    Raises:
        InvalidField: a value cannot be used, or the name is taken.
    """
    given = new.model_dump(exclude={"name"}, exclude_none=True, mode="json")
    try:
        await lists.add(conn, context.seen.id, new.name, given=given, by=context.user.by)
    except Conflict as exc:
        raise InvalidField("name", f"there is a {exc} already") from exc
    return project_path(context.seen.name, "groups", done="added")


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_lists, menu=MenuEntry("Groups", "Mail")),
    *form_pages(
        f"{PATH}/new", Right.CONFIGURE, FormPage("Add a list", "Add the list", NewList, add)
    ),
)
