"""Log in, and confirm, with a passkey instead of password and code."""

from collections.abc import Awaitable
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.passkeys.passkeys import Passkeys, new_browser
from mailqueue.console.frame import cookies
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import CONFIRM, LOGIN
from mailqueue.console.login.confirming import confirm_page
from mailqueue.console.login.pages import local_path, refused, source_of
from mailqueue.core.errors import Conflict, TooManyRequests, Unauthorized
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

LOG_IN = f"{LOGIN}/passkey"
ASK_LOG_IN = f"{LOG_IN}/begin"
CONFIRM_WITH = f"{CONFIRM}/passkey"
ASK_CONFIRM = f"{CONFIRM_WITH}/begin"


async def ask_log_in(context: PageContext) -> Response:
    """Return what a passkey is asked to sign, for the script of the page."""
    browser = new_browser()
    asked = passkeys_of(context).ask_to_log_in(browser, source_of(context))
    response = await for_script(asked)
    cookies.keep_passkey(context.request, response, browser)
    return response


async def log_in(context: PageContext) -> Response:
    """Begin a session by the answer of a passkey."""
    request, after = context.request, local_path(text_of(context.form, "next"))
    try:
        begun = await passkeys_of(context).log_in(
            cookies.passkey_of(request), context.form.get("credential", ""), source_of(context)
        )
    except (Unauthorized, TooManyRequests) as exc:
        return refused(context, exc, "", after)
    response = context.redirect(after)
    cookies.begin(request, response, begun)
    cookies.end_passkey(request, response)
    return response


async def ask_confirm(context: PageContext) -> Response:
    """Return what a passkey of the user is asked to sign, for the script of the page."""
    return await for_script(passkeys_of(context).ask_to_confirm(context.user))


async def confirm(context: PageContext) -> Response:
    """Confirm the session by the answer of a passkey of its user."""
    after = local_path(text_of(context.form, "next"))
    try:
        await passkeys_of(context).confirm(
            context.user, context.form.get("credential", ""), source_of(context)
        )
    except Unauthorized as exc:
        fault = sentence(str(exc))
        return await confirm_page(context, after, fault, HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooManyRequests as exc:
        fault = sentence(str(exc))
        response = await confirm_page(context, after, fault, HTTPStatus.TOO_MANY_REQUESTS)
        response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
        return response
    return context.redirect(after)


def passkeys_of(context: PageContext) -> Passkeys:
    """Return the passkeys of the console.

    Raises:
        Conflict: the console has no host name that they can be bound to.
    """
    if context.console.passkeys is None:
        raise Conflict("passkeys need a host name: set MAILQUEUE_CONSOLE_URL to where people come")
    return context.console.passkeys


async def for_script(asked: Awaitable[str]) -> Response:
    """Return JSON for the script of a page, or as text why there is none."""
    try:
        return Response(await asked, media_type="application/json")
    except (Conflict, TooManyRequests) as exc:
        is_later = isinstance(exc, TooManyRequests)
        status = HTTPStatus.TOO_MANY_REQUESTS if is_later else HTTPStatus.CONFLICT
        return Response(sentence(str(exc)), status, media_type="text/plain")


PAGES = (
    ConsolePage("POST", ASK_LOG_IN, Access.PUBLIC, ask_log_in),
    ConsolePage("POST", LOG_IN, Access.PUBLIC, log_in),
    ConsolePage("POST", ASK_CONFIRM, Access.SIGNED_IN, ask_confirm, before_second_factor=True),
    ConsolePage("POST", CONFIRM_WITH, Access.SIGNED_IN, confirm, before_second_factor=True),
)
