"""Log in and out, set a password by a link, and one's own account."""

from collections.abc import Mapping
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users import sessions
from mailqueue.admin.users.model import CodeNeeded, LoginSource
from mailqueue.admin.users.passwords import MIN_CHARACTERS
from mailqueue.console.frame import cookies
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import HOME, LOGIN
from mailqueue.core.errors import (
    Forbidden,
    InvalidField,
    MailqueueError,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.trap.access import is_loopback
from mailqueue.web.forms import path_below, text_of
from mailqueue.web.rendering import path_with, sentence

CODE = f"{LOGIN}/code"
WELCOME = "/console/welcome"
ACCOUNT = "/console/account"
_STATUSES: Mapping[type[MailqueueError], HTTPStatus] = {
    Unauthorized: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}


async def show_login(context: PageContext) -> Response:
    """Show the login form; users who are logged in go on."""
    after = local_path(context.query("next"))
    if context.session is not None:
        return context.redirect(after)
    return _login(context, after=after)


async def log_in(context: PageContext) -> Response:
    """Begin a session, or show the form again with the name that was typed."""
    form = context.form
    name, after = text_of(form, "name"), local_path(text_of(form, "next"))
    request = context.request
    try:
        begun = await context.console.logins.log_in(
            name, form.get("password", ""), source_of(context)
        )
    except (Unauthorized, TooManyRequests, Unavailable) as exc:
        return refused(context, exc, name, after)
    if isinstance(begun, CodeNeeded):
        response = context.redirect(path_with(CODE, next=after))
        cookies.keep_unfinished(request, response, begun.kept)
        return response
    response = context.redirect(after)
    cookies.begin(request, response, begun)
    return response


async def log_out(context: PageContext) -> Response:
    """End the session."""
    user = context.user
    async with context.console.lend() as conn:
        await sessions.end(conn, user.user_id, user.session_id, by=user.by)
    response = context.redirect(LOGIN)
    cookies.end(context.request, response)
    return response


async def show_welcome(context: PageContext) -> Response:
    """Show the form that sets a password by a link."""
    link = context.query("link")
    async with context.console.lend() as conn:
        name = await sessions.name_of_link(conn, link)
    return _welcome(context, name, link)


async def set_password(context: PageContext) -> Response:
    """Set a password by a link, and show the login form."""
    link, password = text_of(context.form, "link"), context.form.get("password", "")
    async with context.console.lend() as conn:
        name = await sessions.name_of_link(conn, link)
    if password != context.form.get("again", ""):
        return _welcome(context, name, link, "The two passwords differ.")
    try:
        await context.console.logins.set_password(link, password)
    except InvalidField as exc:
        return _welcome(context, name, link, sentence(f"the password {exc.why}"))
    return _login(context, name, HOME, notice="Your password is set. Log in with it.")


async def show_account(context: PageContext) -> Response:
    """Show the user's role, sessions, and the form that changes the password."""
    return await _account(context)


async def change_password(context: PageContext) -> Response:
    """Replace the user's password; other sessions end."""
    form = context.form
    if form.get("password", "") != form.get("again", ""):
        return await _account(context, "The two passwords differ.")
    try:
        await context.console.logins.change_password(
            context.user, current=form.get("current", ""), new=form.get("password", "")
        )
    except InvalidField as exc:
        what = "the current password" if exc.field == "current" else "the new password"
        return await _account(context, sentence(f"{what} {exc.why}"))
    return context.redirect(f"{ACCOUNT}?done=password")


async def end_session(context: PageContext) -> Response:
    """End one of the user's sessions."""
    user = context.user
    try:
        wanted = UUID(text_of(context.form, "session"))
    except ValueError:
        raise NotFound("session", "with this id") from None
    async with context.console.lend() as conn:
        await sessions.end(conn, user.user_id, wanted, by=user.by)
    if wanted == user.session_id:
        response = context.redirect(LOGIN)
        cookies.end(context.request, response)
        return response
    return context.redirect(f"{ACCOUNT}?done=session")


def source_of(context: PageContext) -> LoginSource:
    """Return where a login comes from."""
    request = context.request
    return LoginSource(
        address=request.client.host if request.client else None,
        user_agent=request.headers.get("user-agent", "").replace("\0", "?")[:300] or None,
        browser=cookies.browser_of(request),
    )


def refused(context: PageContext, exc: MailqueueError, name: str, after: str) -> Response:
    """Show the login form again, and why the login was refused."""
    status = next(status for kind, status in _STATUSES.items() if isinstance(exc, kind))
    why = exc.public_message if isinstance(exc, Unavailable) else str(exc)
    response = _login(context, name, after, why, status)
    if isinstance(exc, TooManyRequests):
        response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
    return response


def local_path(given: str) -> str:
    """Return the path of a page to go to after the login: one of the console, else its first. Pure.

    No scheme, host, backslash or parent folder may lead a browser elsewhere.
    """
    return path_below(HOME, given)


def _login(
    context: PageContext,
    name: str = "",
    after: str = HOME,
    fault: str = "",
    status: int = HTTPStatus.OK,
    *,
    notice: str = "",
) -> Response:
    request = context.request
    host = request.client.host if request.client else "127.0.0.1"
    return context.page(
        "login/login.html",
        status=status,
        name=name,
        after=after,
        fault=sentence(fault) if fault else "",
        notice=notice,
        issuer=context.console.issuer and context.console.issuer.host,
        is_open=not cookies.is_encrypted(request) and not is_loopback(host),
    )


def _welcome(context: PageContext, name: str, link: str, fault: str = "") -> Response:
    return context.page(
        "login/welcome.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        name=name,
        link=link,
        fault=fault,
        least=MIN_CHARACTERS,
    )


async def _account(context: PageContext, fault: str = "") -> Response:
    async with context.console.lend() as conn:
        found = await sessions.list_of(conn, context.user.user_id)
    factor = await context.console.second_factors.find(context.user)
    passkeys = context.console.passkeys
    return context.page(
        "login/account.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        sessions=found,
        factor=factor,
        passkeys=await passkeys.list_of(context.user.user_id) if passkeys else (),
        fault=fault,
        done=context.query("done"),
        least=MIN_CHARACTERS,
    )


PAGES = (
    ConsolePage("GET", LOGIN, Access.PUBLIC, show_login),
    ConsolePage("POST", LOGIN, Access.PUBLIC, log_in),
    ConsolePage("POST", "/console/logout", Access.SIGNED_IN, log_out, before_second_factor=True),
    ConsolePage("GET", WELCOME, Access.PUBLIC, show_welcome),
    ConsolePage("POST", WELCOME, Access.PUBLIC, set_password),
    ConsolePage("GET", ACCOUNT, Access.SIGNED_IN, show_account),
    ConsolePage("POST", f"{ACCOUNT}/password", Access.SIGNED_IN, change_password),
    ConsolePage("POST", f"{ACCOUNT}/sessions", Access.SIGNED_IN, end_session),
)
