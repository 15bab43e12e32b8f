"""A forgotten password: a link for a new one is mailed, and no answer tells whether it was."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.mailing import wait_for_turn
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import LOGIN
from mailqueue.console.login.pages import source_of
from mailqueue.core.errors import TooManyRequests
from mailqueue.web.forms import text_of

FORGOTTEN = f"{LOGIN}/forgotten"
MAX_NAME = 100
"""Characters of a name."""


async def ask(context: PageContext) -> Response:
    """Show the form that asks for a link, or who else makes one."""
    return _page(context)


async def mail(context: PageContext) -> Response:
    """Mail a link, if there is a user with this address; the answer is the same if not."""
    console, name = context.console, text_of(context.form, "name")[:MAX_NAME].strip()
    if console.link_mailer is None:
        return _page(context, status=HTTPStatus.NOT_FOUND)
    try:
        await wait_for_turn(console.logins.attempts, source_of(context), name)
    except TooManyRequests as exc:
        fault = "Too many links were asked for. Try again later."
        response = _page(context, fault, status=HTTPStatus.TOO_MANY_REQUESTS)
        response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
        return response
    console.link_mailer.reset(console.lend, name)
    return _page(context, is_done=True)


def _page(
    context: PageContext, fault: str = "", *, status: int = HTTPStatus.OK, is_done: bool = False
) -> Response:
    return context.page(
        "login/forgotten.html",
        status=status,
        is_on=context.console.link_mailer is not None,
        fault=fault,
        is_done=is_done,
    )


PAGES = (
    ConsolePage("GET", FORGOTTEN, Access.PUBLIC, ask),
    ConsolePage("POST", FORGOTTEN, Access.PUBLIC, mail),
)
