"""A recipient: every email to one address, and whether and why it is suppressed."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.suppression import entries

PAGE_ROWS = 50


async def show_recipient(context: PageContext) -> Response:
    """Show the suppressions of an address, and the emails to it, newest first."""
    typed = context.query("address")
    try:
        address = parse_address(typed)
    except InvalidAddress as exc:
        raise InvalidField("address", str(exc)) from exc
    async with context.connection() as conn:
        checked = await entries.check(conn, context.seen.name, email=typed)
        asked = EmailQuery(
            project_id=context.seen.id,
            to=typed,
            before=_before(context.query("before")),
            limit=PAGE_ROWS + 1,
        )
        found = await emails.list_page(conn, asked)
    shown = found[:PAGE_ROWS]
    return context.page(
        "recipients/recipient.html",
        address=address.sent,
        suppressions=checked.suppressions,
        emails=shown,
        following=shown[-1].id if len(found) > PAGE_ROWS else None,
    )


def _before(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


PAGES = (ConsolePage("GET", "/console/projects/{project}/recipient", Right.READ, show_recipient),)
