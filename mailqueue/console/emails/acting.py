"""The pages that say what an action does to an email before it is done, and do it once."""

from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.emails.actions import ACTIONS, EmailAction
from mailqueue.console.emails.pages import EMAIL, email_id_of, find_email
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import act_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.emails import Acted
from mailqueue.contract.suppression import CheckedSuppression
from mailqueue.core.errors import Conflict, Forbidden, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.operations import acting
from mailqueue.senders import accounts
from mailqueue.suppression import entries
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

MAX_REASON = 500
"""Maximum length in characters of a reason, which stands in the audit log."""


MAX_BLOCKED = 20
"""Suppressed recipients that are shown."""


async def ask(context: PageContext, *, action: EmailAction) -> Response:
    """Show what an action will do, and the form that does it."""
    return await _asked(context, action, context.query("reason"))


async def act(context: PageContext, *, action: EmailAction) -> Response:
    """Act on the email once; show the form again, as it was typed, if that is not possible."""
    reason = text_of(context.form, "reason")
    email_id, project = email_id_of(context), context.seen
    if len(reason) > MAX_REASON:
        fault = f"The reason must have at most {MAX_REASON} characters."
        return await _asked(context, action, reason, fault, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        async with context.acting_once() as conn:
            done = await _done(context, conn, action, reason)
    except DoneBefore:
        return context.redirect(project_path(project.name, "emails", email_id, done="before"))
    except Conflict as exc:
        return await _asked(context, action, reason, sentence(str(exc)), HTTPStatus.CONFLICT)
    except InvalidField as exc:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return await _asked(context, action, reason, sentence(str(exc)), status)
    return context.redirect(project_path(project.name, "emails", done.id, done=action.name))


async def _done(context: PageContext, conn: Conn, action: EmailAction, reason: str) -> Acted:
    email_id, project_id, by = email_id_of(context), context.seen.id, context.user.by
    why = reason or "in the console"
    if action.name == "resend" and text_of(context.form, "lift"):
        await _lift(context, conn, email_id, reason)
    if action.name == "move":
        sender = text_of(context.form, "sender") or None
        return await acting.move(
            conn, email_id, project_id=project_id, sender=sender, reason=why, by=by
        )
    return await acting.act(
        conn, email_id, project_id=project_id, action=action.name, reason=why, by=by
    )


async def _lift(context: PageContext, conn: Conn, email_id: UUID, reason: str) -> None:
    """Remove the suppressions that keep an email from its recipients.

    Raises:
        Forbidden: the user may not lift suppressions.
        InvalidField: an address bounced or complained, and no reason is given.
    """
    if not context.may(Right.MANAGE_RECIPIENTS):
        raise Forbidden(f"the right to {Right.MANAGE_RECIPIENTS}")
    project = context.seen
    for address in await acting.suppressed_recipients(conn, email_id, project_id=project.id):
        await entries.remove(
            conn, project.name, email=address, why=reason or None, by=context.user.by
        )


async def _asked(
    context: PageContext,
    action: EmailAction,
    reason: str,
    fault: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    email = await find_email(context)
    senders: list[str] = []
    blocked: list[CheckedSuppression] = []
    addresses: list[str] = []
    if action.name == "resend" and email.finished_at is not None:
        async with context.connection() as conn:
            addresses = await acting.suppressed_recipients(
                conn, email.id, project_id=context.seen.id
            )
            blocked = [
                await entries.check(conn, context.seen.name, email=address)
                for address in addresses[:MAX_BLOCKED]
            ]
    if action.name == "move":
        async with context.connection() as conn:
            listed = await accounts.list_all(conn, project=context.seen.name)
            senders = [each.name for each in listed if each.provider != "trap"]
    return context.page(
        "emails/act.html",
        status=status,
        email=email,
        action=action,
        consequence=action.consequence(email.status),
        is_possible=email.status in acting.STATES[action.name],
        needed=sentence(acting.NEEDED[action.name]),
        reason=reason,
        fault=fault,
        senders=senders,
        blocked=blocked,
        more_blocked=max(len(addresses) - MAX_BLOCKED, 0),
        sender=text_of(context.form, "sender") or context.query("sender"),
        longest=MAX_REASON,
    )


PAGES = tuple(
    page
    for action in ACTIONS.values()
    for page in act_pages(
        f"{EMAIL}/{action.name}",
        action.right,
        ask=partial(ask, action=action),
        act=partial(act, action=action),
        keeps=("reason", "sender"),
        step_up=action.is_destructive,
    )
)
