"""A person's own sessions and password."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.passwords import MIN_CHARACTERS
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.portal.frame import cookies
from mailqueue.portal.frame.context import PortalContext
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch.logins import sessions
from mailqueue.watch.logins.sessions import LASTS
from mailqueue.web.forms import text_of, uuid_of
from mailqueue.web.rendering import sentence


async def show_account(context: PortalContext) -> Response:
    """Show the person's sessions, and the form that changes the password."""
    return await _account(context)


async def change_password(context: PortalContext) -> Response:
    """Replace the person's password; other sessions end."""
    form = context.form
    if form.get("password", "") != form.get("again", ""):
        return await _account(context, "The two passwords differ.")
    try:
        await context.portal.logins.change_password(
            context.project,
            context.person,
            current=form.get("current", ""),
            new=form.get("password", ""),
        )
    except InvalidField as exc:
        what = "the current password" if exc.field == "current" else "the new password"
        return await _account(context, sentence(f"{what} {exc.why}"))
    return context.redirect(context.path("account", done="password"))


async def end_session(context: PortalContext) -> Response:
    """End one of the person's sessions."""
    person, wanted = context.person, uuid_of(text_of(context.form, "session"))
    if wanted is None:
        raise NotFound("session", "with this id")
    async with context.connection() as conn:
        await sessions.end(conn, context.project.id, person.user_id, wanted)
    if wanted == person.session_id:
        response = context.redirect(context.path("login"))
        cookies.end(context.request, response, context.name)
        return response
    return context.redirect(context.path("account", done="session"))


async def _account(context: PortalContext, fault: str = "") -> Response:
    async with context.connection() as conn:
        found = await sessions.list_of(conn, context.project.id, context.person.user_id)
    return context.page(
        "login/account.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        sessions=found,
        fault=fault,
        done=context.query("done"),
        days=LASTS.days,
        least=MIN_CHARACTERS,
    )


PAGES = (
    PortalPage("GET", "/account", show_account, menu="Account"),
    PortalPage("POST", "/account/password", change_password),
    PortalPage("POST", "/account/sessions", end_session),
)
