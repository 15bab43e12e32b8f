"""Log in and out, and set a password by a link, which a GET never uses up."""

from http import HTTPStatus

from starlette.background import BackgroundTask
from starlette.responses import Response

from mailqueue.admin.users.model import LoginSource
from mailqueue.admin.users.passwords import MIN_CHARACTERS
from mailqueue.core.errors import (
    InvalidField,
    MailqueueError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.portal.frame import cookies
from mailqueue.portal.frame.context import PortalContext
from mailqueue.portal.frame.errors import status_of, why_of
from mailqueue.portal.frame.page import PortalPage
from mailqueue.telemetry.log import get_logger
from mailqueue.trap.access import is_loopback
from mailqueue.watch.logins import sessions
from mailqueue.watch.logins.links import RESET_LASTS
from mailqueue.watch.logins.sessions import WRONG
from mailqueue.web.forms import path_below, text_of
from mailqueue.web.rendering import sentence

log = get_logger(__name__)


async def show_login(context: PortalContext) -> Response:
    """Show the login form; persons who are logged in go on."""
    after = path_below(context.home, context.query("next"))
    if context.session is not None:
        return context.redirect(after)
    return _login(context, after=after)


async def log_in(context: PortalContext) -> Response:
    """Begin a session, or show the form again with the address that was typed."""
    form = context.form
    email, after = text_of(form, "email"), path_below(context.home, text_of(form, "next"))
    try:
        begun = await context.portal.logins.log_in(
            context.found, email, form.get("password", ""), _source_of(context)
        )
    except (Unauthorized, TooManyRequests, Unavailable) as exc:
        response = _login(context, email, after, why_of(exc), status_of(exc))
        return _with_wait(response, exc)
    response = context.redirect(after)
    cookies.begin(context.request, response, context.name, begun)
    return response


async def log_out(context: PortalContext) -> Response:
    """End the session."""
    person = context.person
    async with context.connection() as conn:
        await sessions.end(conn, context.project.id, person.user_id, person.session_id)
    response = context.redirect(context.path("login"))
    cookies.end(context.request, response, context.name)
    return response


async def show_forgotten(context: PortalContext) -> Response:
    """Show the form that asks for a link by mail."""
    return context.page("login/forgotten.html", is_asked=False, fault="")


async def ask_link(context: PortalContext) -> Response:
    """Mail a link after the answer, which is the same whether the address is known or not."""
    email = text_of(context.form, "email")
    origin = context.portal.origin
    fault, status = "", HTTPStatus.OK
    if origin is None:
        fault = "Links cannot be mailed here. Ask those who invited you for a new invitation."
        status = HTTPStatus.SERVICE_UNAVAILABLE
    elif not 3 <= len(email) <= 320:
        fault, status = "Give an address.", HTTPStatus.UNPROCESSABLE_ENTITY
    else:
        try:
            await context.portal.logins.wait_to_ask(_source_of(context))
        except TooManyRequests as exc:
            response = context.page(
                "login/forgotten.html", status=status_of(exc), is_asked=False, fault=why_of(exc)
            )
            return _with_wait(response, exc)
    if fault or origin is None:
        return context.page("login/forgotten.html", status=status, is_asked=False, fault=fault)
    minutes = int(RESET_LASTS.total_seconds()) // 60
    response = context.page("login/forgotten.html", is_asked=True, email=email, minutes=minutes)
    response.background = BackgroundTask(_mail_link, context, email, origin)
    return response


async def show_welcome(context: PortalContext) -> Response:
    """Show the form that sets a password by a link; the link stays valid."""
    link = context.query("link")
    return _welcome(context, await context.portal.logins.email_of_link(context.found, link), link)


async def set_password(context: PortalContext) -> Response:
    """Set a password by a link, and show the login form."""
    link, password = text_of(context.form, "link"), context.form.get("password", "")
    email = await context.portal.logins.email_of_link(context.found, link)
    if password != context.form.get("again", ""):
        return _welcome(context, email, link, "The two passwords differ.")
    try:
        await context.portal.logins.set_password(context.found, link, password)
    except InvalidField as exc:
        return _welcome(context, email, link, sentence(f"the password {exc.why}"))
    # The form that follows is for the next session, whichever this browser has now: it ends.
    context.session, context.form_key = None, cookies.form_of(context.request, context.name)
    new_key = None
    if context.form_key is None:
        context.form_key = new_key = cookies.new_form()
    response = _login(context, email, context.home, notice="Your password is set. Log in with it.")
    if new_key is not None:
        cookies.keep_form(context.request, response, context.name, new_key)
    cookies.end(context.request, response, context.name)
    return response


async def _mail_link(context: PortalContext, email: str, origin: str) -> None:
    try:
        await context.portal.logins.ask_reset(context.found, email, origin=origin)
    except MailqueueError as exc:
        log.warning("portal.link_not_mailed", project=context.name, reason=type(exc).__name__)


def _source_of(context: PortalContext) -> LoginSource:
    request = context.request
    return LoginSource(
        address=request.client.host if request.client else None,
        user_agent=request.headers.get("user-agent", "").replace("\0", "?")[:300] or None,
        browser=cookies.browser_of(request, context.name),
    )


def _with_wait(response: Response, exc: MailqueueError) -> Response:
    if isinstance(exc, TooManyRequests):
        response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
    return response


def _login(
    context: PortalContext,
    email: str = "",
    after: str = "",
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
        email=email,
        after=after,
        fault=sentence(WRONG) if status == HTTPStatus.UNAUTHORIZED else fault,
        notice=notice,
        is_open=not cookies.is_encrypted(request) and not is_loopback(host),
    )


def _welcome(context: PortalContext, email: str, link: str, fault: str = "") -> Response:
    return context.page(
        "login/welcome.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        email=email,
        link=link,
        fault=fault,
        least=MIN_CHARACTERS,
    )


PAGES = (
    PortalPage("GET", "/login", show_login, is_public=True),
    PortalPage("POST", "/login", log_in, is_public=True),
    PortalPage("POST", "/logout", log_out),
    PortalPage("GET", "/forgotten", show_forgotten, is_public=True),
    PortalPage("POST", "/forgotten", ask_link, is_public=True),
    PortalPage("GET", "/welcome", show_welcome, is_public=True),
    PortalPage("POST", "/welcome", set_password, is_public=True),
)
