"""The list of a project's emails, and one email with its timeline."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right, SeenProject
from mailqueue.console.emails.actions import ACTIONS, LOUD, offered
from mailqueue.console.emails.filters import (
    LABELS,
    PROVIDERS,
    STATUS_CHOICES,
    EmailFilters,
    read_filters,
)
from mailqueue.console.emails.reasons import explained
from mailqueue.console.emails.timeline import timeline
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.live.reader import LiveParts
from mailqueue.console.live.stream import LiveView, read_now, stream
from mailqueue.contract.emails import Email
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailPage, EmailQuery
from mailqueue.operations import acting
from mailqueue.projects.actor import act_for
from mailqueue.webhooks import deliveries

PATH = "/console/projects/{project}/emails"
EMAIL = f"{PATH}/{{email_id}}"
PAGE_ROWS = 50
READ_SECONDS = 5.0
"""Seconds between two reads of an email, or of the newest ones, for open pages."""
READER = "open pages (console)"
"""Who reads for all open pages; a read is not audited."""


async def show_list(context: PageContext) -> Response:
    """List emails, newest first; the filters are the query of the URL.

    The newest ones, without a filter, are kept up to date.
    """
    filters = read_filters(context.request.query_params)
    if not filters.is_any and filters.before is None:
        _, parts = await read_now(context, _newest(context))
        return _list(context, filters, EmailPage([], None), parts)
    found = EmailPage([], None)
    if not filters.faults:
        query = filters.query(context.seen.id, limit=PAGE_ROWS)
        async with context.connection() as conn:
            found = await emails.search_page(conn, query)
    return _list(context, filters, found)


async def list_changes(context: PageContext) -> Response:
    """Return what changes on the page of the newest emails."""
    return await stream(context, _newest(context))


def _list(
    context: PageContext,
    filters: EmailFilters,
    found: EmailPage,
    parts: LiveParts | None = None,
) -> Response:
    return context.page(
        "emails/list.html",
        parts=parts,
        emails=found.emails,
        filters=filters,
        labels=LABELS,
        statuses=STATUS_CHOICES,
        providers=PROVIDERS,
        following=found.next,
        is_cut=found.is_cut,
        looked=emails.MAX_LOOKED,
    )


async def show_email(context: PageContext) -> Response:
    """Show one email: its state and why, what can be done, and what happened to it."""
    values, parts = await read_now(context, _view_of(context))
    done = context.query("done")
    return context.page(
        "emails/email.html",
        email=values["email"],
        parts=parts,
        done=ACTIONS[done].done if done in ACTIONS else "",
        is_repeated=done == "before",
    )


async def changes(context: PageContext) -> Response:
    """Return what changes on the page of an email."""
    return await stream(context, _view_of(context))


def email_id_of(context: PageContext) -> UUID:
    """Return the id of the email in the path.

    Raises:
        NotFound: the value is not an id.
    """
    return context.id_in_path("email_id", "email")


async def find_email(context: PageContext) -> Email:
    """Return the email in the path.

    Raises:
        NotFound: the project has no such email.
    """
    async with context.connection() as conn:
        return await emails.find(conn, email_id_of(context), project_id=context.seen.id)


async def read_newest(
    rights: frozenset[Right],
    console: Console,  # noqa: ARG001
    conn: Conn,
    project: SeenProject | None,
) -> Mapping[str, object]:
    """Return the newest emails of a project, as users with these rights see them.

    Raises:
        NotFound: the project is gone.
    """
    async with _reading(conn, project) as project_id:
        found = await emails.search_page(conn, EmailQuery(project_id=project_id, limit=PAGE_ROWS))
    return {
        "emails": found.emails,
        "following": found.next,
        "may_configure": Right.CONFIGURE in rights,
    }


async def read_email(
    email_id: UUID,
    rights: frozenset[Right],
    console: Console,  # noqa: ARG001
    conn: Conn,
    project: SeenProject | None,
) -> Mapping[str, object]:
    """Return what the page of an email shows users with these rights.

    Raises:
        NotFound: the project has no such email, or is gone.
    """
    async with _reading(conn, project) as project_id:
        email = await emails.find(conn, email_id, project_id=project_id)
        told = await deliveries.list_of_email(conn, project_id, email_id)
        is_blocked = email.status == "suppressed" and bool(
            await acting.suppressed_recipients(conn, email_id, project_id=project_id)
        )
    reason = explained(email.why, email.status)
    return {
        "email": email,
        "reason": reason,
        "timeline": timeline(email),
        "told": told,
        "actions": offered(email.status, rights, is_in_doubt=reason.is_in_doubt),
        "loud": LOUD.get(email.status, ""),
        "is_lifted": is_blocked and Right.MANAGE_RECIPIENTS in rights,
        "may_read": Right.READ_MESSAGES in rights,
    }


@asynccontextmanager
async def _reading(conn: Conn, project: SeenProject | None) -> AsyncIterator[UUID]:
    """Yield the id of the project whose rows alone are read in the transaction.

    Raises:
        NotFound: the project is gone.
    """
    assert project is not None, "emails are of a project"
    async with conn.transaction():
        if not await act_for(conn, project.id, by=READER):
            raise NotFound("project", project.name)
        yield project.id


def _view_of(context: PageContext) -> LiveView:
    email_id, rights = email_id_of(context), context.user.rights
    return LiveView(
        "email",
        Right.READ,
        partial(read_email, email_id, rights),
        {"state": "emails/changing.html", "facts": "emails/facts.html"},
        seconds=READ_SECONDS,
        of=email_id,
        rights=rights,
    )


def _newest(context: PageContext) -> LiveView:
    rights = context.user.rights
    return LiveView(
        "newest emails",
        Right.READ,
        partial(read_newest, rights),
        {"emails": "emails/newest.html"},
        seconds=READ_SECONDS,
        rights=rights,
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_list, menu=MenuEntry("Emails", "Mail")),
    ConsolePage("GET", f"{PATH}/live", Right.READ, list_changes),
    ConsolePage("GET", EMAIL, Right.READ, show_email),
    ConsolePage("GET", f"{EMAIL}/live", Right.READ, changes),
)
