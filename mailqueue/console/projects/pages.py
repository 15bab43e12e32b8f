"""The first page: the projects that the user sees; and the search from every page."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.administration.users import seeing
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.frame.router import HOME
from mailqueue.core.address import InvalidAddress, parse_address

PAGE_ROWS = 50


async def home(context: PageContext) -> Response:
    """List the projects; a user of a single one goes to its emails."""
    text, after = context.query("q"), context.query("after")
    async with context.console.lend() as conn:
        found = await seeing.list_projects(
            conn,
            context.user.user_id,
            text=text or None,
            after=after or None,
            limit=PAGE_ROWS + 1,
        )
    if len(found) == 1 and not text and not after:
        return context.redirect(project_path(found[0].name, "emails"))
    shown = found[:PAGE_ROWS]
    return context.page(
        "projects/list.html",
        projects=shown,
        text=text,
        address="",
        following=shown[-1].name if len(found) > PAGE_ROWS else None,
    )


async def find(context: PageContext) -> Response:
    """Go to the email with an id, or to the recipient with an address; else search projects."""
    text = context.query("q").strip("<>")
    if not text:
        return context.redirect(HOME)
    email_id = _email_id(text)
    async with context.console.lend() as conn:
        if email_id is not None:
            project = await seeing.project_of_email(conn, context.user.user_id, email_id)
            if project is not None:
                return context.redirect(project_path(project, "emails", email_id))
        elif _is_address(text):
            within = context.query("project")
            found = await seeing.list_projects(conn, context.user.user_id, limit=PAGE_ROWS + 1)
            names = {each.name for each in found}
            if within not in names and len(found) == 1:
                within = found[0].name
            if within in names or (within and len(found) > PAGE_ROWS):
                return context.redirect(project_path(within, "recipient", address=text))
            return context.page(
                "projects/list.html",
                projects=found[:PAGE_ROWS],
                text="",
                address=text,
                following=found[PAGE_ROWS - 1].name if len(found) > PAGE_ROWS else None,
            )
    return context.page("projects/nothing.html", status=404, text=text, is_id=email_id is not None)


def _email_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _is_address(text: str) -> bool:
    try:
        parse_address(text)
    except InvalidAddress:
        return False
    return True


PAGES = (
    ConsolePage("GET", HOME, Access.SIGNED_IN, home),
    ConsolePage("GET", "/console/find", Access.SIGNED_IN, find),
)
