"""The contacts of a project, and one of them: lists, consent, what it gets next and what it got."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contacts import contacts
from mailqueue.contacts.model import ContactFilter
from mailqueue.core.paging import key_of
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.sequences import enrollments
from mailqueue.suppression import entries
from mailqueue.timed_events import events
from mailqueue.timed_events.model import TimedEventFilter

PATH = "/console/projects/{project}/contacts"
CONTACT = f"{PATH}/{{contact_id}}"
PAGE_ROWS = 50
FILTERS = ("q", "language", "time_zone")
NEWEST = 20
"""Enrollments, timed events and emails that the page of a contact shows, the newest ones."""


async def show_contacts(context: PageContext) -> Response:
    """List contacts, newest first, with filters."""
    typed = {name: context.query(name) for name in FILTERS}
    (before,) = key_of(context.query("cursor") or None, UUID)
    filters = ContactFilter(
        having=typed["q"] or None,
        language=typed["language"] or None,
        time_zone=typed["time_zone"] or None,
    )
    async with context.connection() as conn:
        found = await contacts.list_page(
            conn, context.seen.id, filters=filters, before=before, limit=PAGE_ROWS
        )
    return context.page(
        "contacts/list.html",
        contacts=found.data,
        following=found.next_cursor,
        typed=typed,
        is_filtered=any(typed.values()),
        cancelled=number_in(context, "cancelled"),
    )


async def show_contact(context: PageContext) -> Response:
    """Show one contact."""
    contact_id, project_id = context.id_in_path("contact_id", "contact"), context.seen.id
    async with context.connection() as conn:
        found = await contacts.show(conn, project_id, str(contact_id))
        checked = await entries.check(conn, context.seen.name, email=found.email)
        enrolled = await enrollments.list_page(
            conn,
            project_id,
            sequence=None,
            email=found.email,
            state=None,
            before=None,
            limit=NEWEST,
        )
        timed = await events.list_page(
            conn,
            project_id,
            filters=TimedEventFilter(contact_id=contact_id),
            before=None,
            limit=NEWEST,
        )
        got = await emails.list_page(
            conn, EmailQuery(project_id=project_id, to=found.email, limit=NEWEST)
        )
    return context.page(
        "contacts/contact.html",
        contact=found,
        suppressions=checked.suppressions,
        enrollments=enrolled.data,
        events=timed.data,
        emails=got,
        newest=NEWEST,
        may_be_more=any(len(rows) >= NEWEST for rows in (enrolled.data, timed.data, got)),
    )


def number_in(context: PageContext, name: str) -> int:
    """Return a number of the address of a page; 0 for any other text."""
    text = context.query(name)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_contacts, menu=MenuEntry("Contacts", "Recipients")),
    ConsolePage("GET", CONTACT, Right.READ, show_contact),
)
