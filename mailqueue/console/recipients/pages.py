"""A recipient: every email to one address, and whether and why it is suppressed."""

from contextlib import suppress
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users import seeing
from mailqueue.admin.users.model import Right, SeenProject
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contacts import contacts
from mailqueue.contract.emails import ListedEmail
from mailqueue.contract.privacy import ErasureState
from mailqueue.contract.suppression import CheckedSuppression
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.operations import search
from mailqueue.privacy import persons
from mailqueue.privacy.model import ProjectName
from mailqueue.privacy.values import state_of
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import address_of
from mailqueue.web.forms import uuid_of

RECIPIENTS = "/console/recipient"
RECIPIENT = "/console/projects/{project}/recipient"
PAGE_ROWS = 50
PROJECTS = 10
"""Projects that are shown on one page, those written from last first."""
EMAILS = 10
"""Emails that are shown of each of them."""
DONE = {
    "suppress": "The address is suppressed.",
    "lift": "The suppression was lifted.",
    "erase": "The erasure has begun, and goes on when this page is closed.",
}
"""Sentences after an action, by its name in the URL."""


async def show_recipient(context: PageContext) -> Response:
    """Show the suppressions of an address, and the emails to it, newest first."""
    address = address_of(context.query("address"), field="address").sent
    async with context.connection() as conn:
        found, checked = await _of_project(
            conn, context.seen, address, before=uuid_of(context.query("before")), rows=PAGE_ROWS
        )
        erasure = await _erasure(conn, context.seen, checked.email_hash)
        contact = await _contact(conn, context.seen, address)
    shown, done = found[:PAGE_ROWS], context.query("done")
    return context.page(
        "recipients/recipient.html",
        address=address,
        suppressions=checked.suppressions,
        erasure=erasure,
        contact=contact,
        emails=shown,
        following=shown[-1].id if len(found) > PAGE_ROWS else None,
        done=DONE.get(done, ""),
        is_repeated=done == "before",
    )


async def show_erasure(context: PageContext) -> Response:
    """Show how far an erasure is; a script asks for it again and again."""
    address = address_of(context.query("address"), field="address").sent
    async with context.connection() as conn:
        checked = await entries.check(conn, context.seen.name, email=address)
        erasure = await _erasure(conn, context.seen, checked.email_hash)
    return context.page("recipients/erasure.html", address=address, erasure=erasure)


async def show_everywhere(context: PageContext) -> Response:
    """Show the newest emails to an address in each project that the user sees."""
    address = address_of(context.query("address"), field="address").sent
    async with context.console.lend() as conn:
        user = context.user.user_id
        found = await search.search_for_user(conn, user, address)
        matches = [match for match in found if match.kind == "recipient" and match.project]
        projects = [
            (await seeing.project(conn, user, str(match.project)), match)
            for match in matches[:PROJECTS]
        ]
    parts = []
    for project, match in projects:
        async with context.connection_for(project) as conn:
            shown, checked = await _of_project(conn, project, address, before=None, rows=EMAILS)
        parts.append((project, match, shown[:EMAILS], checked.suppressions))
    return context.page(
        "recipients/everywhere.html",
        address=address,
        parts=parts,
        others=[match.project for match in matches[PROJECTS:]],
    )


async def _of_project(
    conn: Conn, project: SeenProject, address: str, *, before: UUID | None, rows: int
) -> tuple[list[ListedEmail], CheckedSuppression]:
    checked = await entries.check(conn, project.name, email=address)
    asked = EmailQuery(project_id=project.id, to=address, before=before, limit=rows + 1)
    return await emails.list_page(conn, asked), checked


async def _contact(conn: Conn, project: SeenProject, address: str) -> UUID | None:
    """Return the id of the contact with an address; None if there is none."""
    with suppress(NotFound):
        return (await contacts.find(conn, project.id, address)).id
    return None


async def _erasure(conn: Conn, project: SeenProject, address_hash: str) -> ErasureState | None:
    """Return the last erasure of an address; None if none was asked for."""
    with suppress(NotFound):
        name = ProjectName(project.id, project.name)
        return state_of(await persons.last_erasure(conn, name, address_hash))
    return None


PAGES = (
    ConsolePage("GET", RECIPIENTS, Right.READ, show_everywhere),
    ConsolePage("GET", RECIPIENT, Right.READ, show_recipient),
    ConsolePage("GET", f"{RECIPIENT}/erasure", Right.READ, show_erasure),
)
