"""The users of the console, for superadmins: who may log in, and ending their sessions."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.administration.users import manage, sessions
from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.forms import text_of
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.errors import NotFound

USERS = "/console/users"


async def show_users(context: PageContext) -> Response:
    """List the users, and how many sessions each has."""
    async with context.console.lend() as conn:
        found = await manage.list_all(conn)
    return context.page("login/users.html", users=found, done=context.query("done"))


async def end_sessions(context: PageContext) -> Response:
    """End every session of a user."""
    try:
        wanted = UUID(text_of(context.form, "user"))
    except ValueError:
        raise NotFound("user", "with this id") from None
    async with context.console.lend() as conn:
        await sessions.end_all(conn, wanted, by=context.user.by)
    return context.redirect(f"{USERS}?done=sessions")


PAGES = (
    ConsolePage("GET", USERS, Right.ADMINISTER, show_users),
    ConsolePage("POST", f"{USERS}/sessions", Right.ADMINISTER, end_sessions),
)
