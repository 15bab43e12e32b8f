"""The settings and flags of the installation: each with its meaning; superadmins change them."""

import hashlib
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin import settings
from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.admin import Setting
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.web.rendering import path_with, sentence

PATH = "/console/platform"
CHANGE = f"{PATH}/change"
DONE = {
    "changed": "The settings were changed. They take effect at once.",
    "same": "No setting differs; nothing was changed.",
    "before": "This was done before, and was not done again.",
}
_MEANWHILE = "Somebody changed a setting meanwhile. The fields show what you typed; compare them."


async def show_settings(context: PageContext) -> Response:
    """Show every setting and flag."""
    return await _shown(context)


async def change_settings(context: PageContext) -> Response:
    """Change the settings and flags that were typed differently; all or none."""
    try:
        async with context.acting_once(on_installation=True) as conn:
            done = await _change(conn, context)
    except DoneBefore:
        done = "before"
    except Conflict as exc:
        return await _shown(context, status=HTTPStatus.CONFLICT, note=str(exc))
    except InvalidField as exc:
        return await _shown(
            context,
            {exc.field: sentence(exc.why)},
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
            note="Nothing was changed.",
        )
    return context.redirect(path_with(PATH, done=done))


async def _change(conn: Conn, context: PageContext) -> str:
    """Change what differs; return which of DONE was done.

    Raises:
        Conflict: a setting was changed since the form was made.
        InvalidField: the value of a setting is invalid.
    """
    values, flags = await settings.list_all(conn), await settings.list_flags(conn)
    if context.form.get("version") != version_of([*flags, *values]):
        raise Conflict(_MEANWHILE)
    changes = changed(values, context.form)
    switched = {name: text == "on" for name, text in changed(flags, context.form).items()}
    if changes:
        await settings.change(conn, changes, by=context.user.by)
    if switched:
        await settings.switch(conn, switched, by=context.user.by)
    return "changed" if changes or switched else "same"


def changed(known: Sequence[Setting], form: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a form that differ from those there are. Pure."""
    typed = {each.name: form.get(each.name, each.value).strip() for each in known}
    return {each.name: typed[each.name] for each in known if typed[each.name] != each.value}


def version_of(known: Sequence[Setting]) -> str:
    """Return a hash of all values. Pure."""
    values = sorted((each.name, each.value) for each in known)
    return hashlib.sha256(repr(values).encode()).hexdigest()[:32]


async def _shown(
    context: PageContext,
    faults: Mapping[str, str] | None = None,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    note: str = "",
) -> Response:
    async with context.installation() as conn:
        flags, values = await settings.list_flags(conn), await settings.list_all(conn)
    both = [*flags, *values]
    typed = {each.name: each.value for each in both}
    if context.request.method == "POST":
        typed |= {name: text for name, text in context.form.items() if name in typed}
    return context.page(
        "platform/settings.html",
        status=status,
        groups=[("Flags", flags), ("Settings", values)],
        typed=typed,
        faults=faults or {},
        note=note,
        version=version_of(both),
        done=DONE.get(context.query("done"), ""),
    )


PAGES = (
    ConsolePage(
        "GET",
        PATH,
        Right.ADMINISTER,
        show_settings,
        needs_all=True,
        menu=MenuEntry("Settings"),
    ),
    ConsolePage("GET", CHANGE, Right.ADMINISTER, show_settings, needs_all=True),
    ConsolePage("POST", CHANGE, Right.ADMINISTER, change_settings, step_up=True, needs_all=True),
)
