"""The pages that say what an action does to an email before it is done, and do it once."""

from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.console.emails.actions import ACTIONS, EmailAction
from mailqueue.console.emails.pages import EMAIL, email_id_of, find_email
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.errors import sentence
from mailqueue.console.frame.forms import text_of
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.operations import acting

MAX_REASON = 500
"""Maximum length in characters of a reason, which stands in the audit log."""


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
            done = await acting.act(
                conn,
                email_id,
                project_id=project.id,
                action=action.name,
                reason=reason or "in the console",
                by=context.user.by,
            )
    except DoneBefore:
        return context.redirect(project_path(project.name, "emails", email_id, done="before"))
    except Conflict as exc:
        return await _asked(context, action, reason, sentence(str(exc)), HTTPStatus.CONFLICT)
    except InvalidField as exc:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return await _asked(context, action, reason, sentence(str(exc)), status)
    return context.redirect(project_path(project.name, "emails", done.id, done=action.name))


async def _asked(
    context: PageContext,
    action: EmailAction,
    reason: str,
    fault: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    email = await find_email(context)
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
        longest=MAX_REASON,
    )


PAGES = tuple(
    page
    for action in ACTIONS.values()
    for page in (
        ConsolePage("GET", f"{EMAIL}/{action.name}", action.right, partial(ask, action=action)),
        ConsolePage(
            "POST",
            f"{EMAIL}/{action.name}",
            action.right,
            partial(act, action=action),
            keeps=("reason",),
        ),
    )
)
