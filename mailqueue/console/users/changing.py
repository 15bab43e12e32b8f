"""Acts on users, for superadmins: add, change, link, reset the second factor and remove.

Each form acts once.
"""

from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users import manage
from mailqueue.admin.users.mailing import address_of, may_mail
from mailqueue.admin.users.model import PasswordLink, Right, Role
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.users.pages import USER, USERS, find_user, user_path
from mailqueue.console.users.roles import MEANINGS, RoleForm, form_of, read_form
from mailqueue.contract.admin import ConsoleUser
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

ADD = f"{USERS}/add"
TOO_MANY = Rejected(
    Fault.RATE_LIMITED, "", "too many links of this project were mailed", Stage.CONNECT
)
_LABELS = {"name": "the name", "role": "the role", "project": "projects"}


async def ask_add(context: PageContext) -> Response:
    """Show the form of a new user."""
    typed = read_form(context.request.query_params)
    role = typed.role or Role.SUPPORT
    return _add_form(context, context.query("name"), RoleForm(role, typed.typed))


async def add(context: PageContext) -> Response:
    """Add a user; show the link by which the password is set."""
    name, form = text_of(context.form, "name"), read_form(context.form)
    try:
        async with context.administering_once() as conn:
            made = await manage.add(
                conn,
                name,
                role=form.role,
                projects=form.projects,
                sees_all=form.sees_all,
                by=context.user.by,
            )
    except DoneBefore:
        return context.redirect(f"{USERS}?done=before")
    except InvalidField as exc:
        return _add_form(context, name, form, fault_of(exc))
    return await hand_over(context, made)


async def ask_change(context: PageContext) -> Response:
    """Show the form of a user's role and projects."""
    user, typed = await _changeable(context), read_form(context.request.query_params)
    return _change_form(context, user, typed if typed.role else form_of(user))


async def change(context: PageContext) -> Response:
    """Change role and projects, at once for open sessions."""
    user, form = await _changeable(context), read_form(context.form)
    try:
        async with context.administering_once() as conn:
            await manage.change(
                conn,
                user.name,
                role=form.role,
                projects=form.projects,
                sees_all=form.sees_all,
                by=context.user.by,
            )
    except DoneBefore:
        return context.redirect(user_path(user.id, done="before"))
    except InvalidField as exc:
        return _change_form(context, user, form, fault_of(exc))
    return context.redirect(user_path(user.id, done="changed"))


async def ask_link(context: PageContext) -> Response:
    """Show what a new link does."""
    return context.page("users/act.html", user=await find_user(context), action="link")


async def link(context: PageContext) -> Response:
    """Show a new link by which the user sets a password."""
    user = await find_user(context)
    try:
        async with context.administering_once() as conn:
            made = await manage.renew_link(conn, user.name, by=context.user.by)
    except DoneBefore:
        return context.redirect(user_path(user.id, done="before"))
    except InvalidField as exc:
        raise Conflict(exc.why) from exc
    return await hand_over(context, made)


async def ask_remove(context: PageContext) -> Response:
    """Show what removing a user does."""
    return context.page("users/act.html", user=await _changeable(context), action="remove")


async def remove(context: PageContext) -> Response:
    """Remove a user, whose sessions end at once."""
    user = await _changeable(context)
    try:
        async with context.administering_once() as conn:
            await manage.remove(conn, user.name, by=context.user.by)
    except DoneBefore:
        return context.redirect(f"{USERS}?done=before")
    return context.redirect(f"{USERS}?done=removed")


async def ask_reset(context: PageContext) -> Response:
    """Show what resetting the second factor of a user does."""
    user, passkeys = await _changeable(context), context.console.passkeys
    return context.page(
        "users/act.html",
        user=user,
        passkeys=await passkeys.list_of(user.id) if passkeys else (),
        action="reset",
    )


async def reset(context: PageContext) -> Response:
    """Delete the second factor and the passkeys of a user, whose sessions end."""
    user = await _changeable(context)
    try:
        async with context.administering_once() as conn:
            await manage.change(conn, user.name, reset_second_factor=True, by=context.user.by)
    except DoneBefore:
        return context.redirect(user_path(user.id, done="before"))
    except InvalidField as exc:
        raise Conflict(exc.why) from exc
    return context.redirect(user_path(user.id, done="reset"))


async def hand_over(context: PageContext, made: PasswordLink) -> Response:
    """Mail a link to a user whose name is an address; else, or if that failed, show it, once."""
    mailer = context.console.link_mailer
    verdict: Verdict | None = None
    if mailer is not None and context.project is not None and address_of(made.name) is not None:
        async with context.console.lend() as conn:
            if not await may_mail(conn, context.project.id):
                mailer, verdict = None, TOO_MANY
    if mailer is not None:
        verdict = await mailer.send(made)
    if isinstance(verdict, Accepted):
        return context.page("users/link.html", made=made, link=None)
    base = context.console.settings.console.url or str(context.request.base_url).rstrip("/")
    refused = verdict.detail if isinstance(verdict, Rejected) else ""
    link = manage.link_url(base, made)
    is_unsure = isinstance(verdict, Rejected) and verdict.kind is Fault.AMBIGUOUS
    return context.page(
        "users/link.html", made=made, link=link, refused=refused, is_unsure=is_unsure
    )


def fault_of(exc: InvalidField) -> str:
    """Return the error of a form in words."""
    return sentence(f"{_LABELS.get(exc.field, exc.field)}: {exc.why}")


async def _changeable(context: PageContext) -> ConsoleUser:
    """Return the user in the path.

    Raises:
        Conflict: it is the user of this session, or it was removed.
    """
    user = await find_user(context)
    if user.id == context.user.user_id:
        raise Conflict("this is your own account: another superadmin can change or remove it")
    if user.removed_at is not None:
        raise Conflict("this user was removed")
    return user


def _add_form(context: PageContext, name: str, form: RoleForm, fault: str = "") -> Response:
    return context.page(
        "users/add.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        name=name,
        form=form,
        fault=fault,
        meanings=MEANINGS,
    )


def _change_form(
    context: PageContext, user: ConsoleUser, form: RoleForm, fault: str = ""
) -> Response:
    return context.page(
        "users/change.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        user=user,
        form=form,
        fault=fault,
        meanings=MEANINGS,
    )


KEPT = ("name", "role", "projects")
PAGES = tuple(
    ConsolePage(method, path, Right.ADMINISTER, handler, keeps=KEPT, step_up=True)
    for path, asked, acts in (
        (ADD, ask_add, add),
        (f"{USER}/change", ask_change, change),
        (f"{USER}/link", ask_link, link),
        (f"{USER}/remove", ask_remove, remove),
        (f"{USER}/reset", ask_reset, reset),
    )
    for method, handler in (("GET", asked), ("POST", acts))
)
