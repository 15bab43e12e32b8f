"""The users of the console, for superadmins: who may log in, as what, and one user."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users import manage, sessions
from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.admin import ConsoleUser
from mailqueue.core.errors import NotFound
from mailqueue.web.forms import text_of

USERS = "/console/users"
USER = f"{USERS}/one/{{user}}"
DONE = {
    "sessions": "The sessions have ended.",
    "changed": "Role and projects were changed. Open sessions have them already.",
    "reset": "Second factor and passkeys were deleted, and all sessions of the user have ended.",
    "before": "This was done before, and was not done again.",
}


async def show_users(context: PageContext) -> Response:
    """List the users, and how many sessions each has."""
    async with context.console.lend() as conn:
        found = await manage.list_all(conn)
    return context.page("users/list.html", users=found, done=context.query("done"))


async def show_user(context: PageContext) -> Response:
    """Show one user, and what can be done."""
    user = await find_user(context)
    passkeys = context.console.passkeys
    return context.page(
        "users/user.html",
        passkeys=await passkeys.list_of(user.id) if passkeys else (),
        user=user,
        is_self=user.id == context.user.user_id,
        done=DONE.get(context.query("done"), ""),
    )


async def end_sessions(context: PageContext) -> Response:
    """End every session of a user."""
    wanted = _id(text_of(context.form, "user"))
    async with context.console.lend() as conn:
        await sessions.end_all(conn, wanted, by=context.user.by)
    return context.redirect(f"{USERS}?done=sessions")


async def find_user(context: PageContext) -> ConsoleUser:
    """Return the user in the path.

    Raises:
        NotFound: there is no such user.
    """
    wanted = _id(context.request.path_params["user"])
    async with context.console.lend() as conn:
        found = [each for each in await manage.list_all(conn) if each.id == wanted]
    if not found:
        raise NotFound("user", "with this id")
    return found[0]


def user_path(user: UUID, action: str = "", done: str = "") -> str:
    """Return the path of the page of a user, or of an action."""
    path = "/".join((USERS, "one", str(user), *([action] if action else [])))
    return f"{path}?done={done}" if done else path


def _id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        raise NotFound("user", "with this id") from None


PAGES = (
    ConsolePage("GET", USERS, Right.ADMINISTER, show_users, menu=MenuEntry("Users")),
    ConsolePage("POST", f"{USERS}/sessions", Right.ADMINISTER, end_sessions),
    ConsolePage("GET", USER, Right.ADMINISTER, show_user),
)
