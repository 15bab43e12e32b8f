"""Prove once more to be the user, before a destructive act."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.sessions import CONFIRMED
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.router import CONFIRM
from mailqueue.console.login.pages import local_path
from mailqueue.core.errors import InvalidField, TooManyRequests
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence


async def show(context: PageContext) -> Response:
    """Show the form, or the way to the issuer."""
    return await confirm_page(context, local_path(context.query("next")))


async def confirm(context: PageContext) -> Response:
    """Verify the password, and return to the page of the act with what was typed there."""
    after = local_path(text_of(context.form, "next"))
    try:
        await context.console.logins.confirm(
            context.user, context.form.get("password", ""), context.form.get("code", "")
        )
    except InvalidField as exc:
        fault = sentence(f"this {exc.why}")
        return await confirm_page(context, after, fault, HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooManyRequests as exc:
        response = await confirm_page(
            context, after, sentence(str(exc)), HTTPStatus.TOO_MANY_REQUESTS
        )
        response.headers["Retry-After"] = str(int(exc.retry_after.total_seconds()))
        return response
    return context.redirect(after)


async def confirm_page(
    context: PageContext, after: str, fault: str = "", status: int = HTTPStatus.OK
) -> Response:
    """Return the form of a confirmation, with what was wrong with the last one."""
    passkeys = context.console.passkeys
    return context.page(
        "login/confirm.html",
        status=status,
        after=after,
        fault=fault,
        minutes=int(CONFIRMED.total_seconds() / 60),
        has_passkey=bool(passkeys and await passkeys.list_of(context.user.user_id)),
    )


PAGES = (
    ConsolePage("GET", CONFIRM, Access.SIGNED_IN, show, before_second_factor=True),
    ConsolePage("POST", CONFIRM, Access.SIGNED_IN, confirm, before_second_factor=True),
)
