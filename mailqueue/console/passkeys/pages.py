"""The passkeys of one's own account: add and remove them."""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.passkeys.passkeys import (
    MAX_NAME_CHARACTERS,
    check_password_user,
)
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.login.pages import ACCOUNT
from mailqueue.console.passkeys.entering import for_script, passkeys_of
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.web.forms import text_of, uuid_of
from mailqueue.web.rendering import sentence

PASSKEYS = f"{ACCOUNT}/passkeys"
ADD = f"{PASSKEYS}/add"
ASK_ADD = f"{ADD}/begin"
REMOVE = f"{PASSKEYS}/remove"


async def show(context: PageContext) -> Response:
    """Show the passkeys of the user, and the forms that add and remove them."""
    check_password_user(context.user)
    return await _shown(context)


async def ask_add(context: PageContext) -> Response:
    """Return what the browser is asked to make, for the script of the page."""
    return await for_script(passkeys_of(context).ask_to_add(context.user))


async def add(context: PageContext) -> Response:
    """Add the passkey that the browser made."""
    name = text_of(context.form, "name")
    try:
        await passkeys_of(context).add(context.user, name, context.form.get("credential", ""))
    except InvalidField as exc:
        is_name = exc.field == "name"
        why = f"the name {exc.why}" if is_name else exc.why
        return await _shown(context, name, sentence(why))
    return context.redirect(f"{PASSKEYS}?done=added")


async def remove(context: PageContext) -> Response:
    """Delete a passkey of the user."""
    wanted = uuid_of(text_of(context.form, "passkey"))
    if wanted is None:
        raise NotFound("passkey", "with this id")
    await passkeys_of(context).remove(context.user, wanted)
    return context.redirect(f"{PASSKEYS}?done=removed")


async def _shown(context: PageContext, name: str = "", fault: str = "") -> Response:
    passkeys = context.console.passkeys
    return context.page(
        "passkeys/passkeys.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        passkeys=await passkeys.list_of(context.user.user_id) if passkeys else (),
        name=name,
        fault=fault,
        longest=MAX_NAME_CHARACTERS,
        done=context.query("done"),
    )


PAGES = (
    ConsolePage("GET", PASSKEYS, Access.SIGNED_IN, show, step_up=True),
    ConsolePage("POST", ASK_ADD, Access.SIGNED_IN, ask_add, step_up=True),
    ConsolePage("POST", ADD, Access.SIGNED_IN, add, step_up=True),
    ConsolePage("POST", REMOVE, Access.SIGNED_IN, remove, step_up=True),
)
