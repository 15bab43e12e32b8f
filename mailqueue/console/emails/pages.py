"""The list of a project's emails, and one email with its timeline."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.emails.actions import ACTIONS, offered
from mailqueue.console.emails.filters import STATUSES, read_filters
from mailqueue.console.emails.timeline import timeline
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.emails import Email
from mailqueue.core.errors import NotFound
from mailqueue.mail.reads import emails

PATH = "/console/projects/{project}/emails"
EMAIL = f"{PATH}/{{email_id}}"
PAGE_ROWS = 50
UNFINISHED = frozenset({"pending", "assigned", "held"})
"""States of an email whose page looks for changes."""


async def show_list(context: PageContext) -> Response:
    """List emails, newest first; the filters are the query of the URL."""
    filters = read_filters(context.request.query_params)
    async with context.connection() as conn:
        found = await emails.list_page(conn, filters.query(context.seen.id, limit=PAGE_ROWS + 1))
    shown = found[:PAGE_ROWS]
    return context.page(
        "emails/list.html",
        emails=shown,
        filters=filters,
        statuses=STATUSES,
        following=shown[-1].id if len(found) > PAGE_ROWS else None,
    )


async def show_email(context: PageContext) -> Response:
    """Show one email: its state and why, what can be done, and what happened to it."""
    return await _shown(context, "emails/email.html")


async def show_state(context: PageContext) -> Response:
    """Show the part of the page of an email that changes; a script asks for it again and again."""
    return await _shown(context, "emails/state.html")


def email_id_of(context: PageContext) -> UUID:
    """Return the id of the email in the path.

    Raises:
        NotFound: the value is not an id.
    """
    given: str = context.request.path_params["email_id"]
    try:
        return UUID(given)
    except ValueError:
        raise NotFound("email", given.replace("\0", "?")[:100]) from None


async def find_email(context: PageContext) -> Email:
    """Return the email in the path.

    Raises:
        NotFound: the project has no such email.
    """
    async with context.connection() as conn:
        return await emails.find(conn, email_id_of(context), project_id=context.seen.id)


async def _shown(context: PageContext, template: str) -> Response:
    email = await find_email(context)
    done = context.query("done")
    return context.page(
        template,
        email=email,
        timeline=timeline(email),
        actions=offered(email.status, context.user.rights),
        is_live=email.status in UNFINISHED,
        done=ACTIONS[done].done if done in ACTIONS else "",
        is_repeated=done == "before",
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_list),
    ConsolePage("GET", EMAIL, Right.READ, show_email),
    ConsolePage("GET", f"{EMAIL}/state", Right.READ, show_state),
)
