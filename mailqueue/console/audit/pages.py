"""The audit log of a project and of the installation: a search by pages, and one entry."""

from datetime import datetime
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.audit import search as audit_search
from mailqueue.audit.model import AuditPage
from mailqueue.console.audit.filters import AuditFilters, read_filters
from mailqueue.console.audit.reading import lines_of, object_path
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.projects import AuditEvent
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of

PATH = "/console/audit"
OF_PROJECT = "/console/projects/{project}/audit"
PAGE_ROWS = 50


async def show_installation(context: PageContext) -> Response:
    """Search the audit log of all projects and the installation."""
    filters = read_filters(context.request.query_params)
    async with context.installation() as conn:
        found = await _search(conn, filters, None)
    async with context.console.lend() as conn:
        sealed_at = await audit_search.sealed_at(conn)
    return _list(context, filters, found, sealed_at=sealed_at)


async def show_project(context: PageContext) -> Response:
    """Search the audit log of a project."""
    filters = read_filters(context.request.query_params)
    async with context.connection() as conn:
        found = await _search(conn, filters, context.seen.id)
    return _list(context, filters, found)


async def show_event(context: PageContext) -> Response:
    """Show one entry of all projects and the installation."""
    async with context.installation() as conn:
        event = await audit_search.find(conn, _event_id(context))
    return await _event(context, event)


async def show_event_of_project(context: PageContext) -> Response:
    """Show one entry of a project."""
    async with context.connection() as conn:
        event = await audit_search.find(conn, _event_id(context), project_id=context.seen.id)
    return await _event(context, event)


async def _search(conn: Conn, filters: AuditFilters, project_id: UUID | None) -> AuditPage:
    """Return the entries that the filters match; none where a filter is wrong."""
    if filters.faults:
        return AuditPage([], None)
    search = filters.search(project_id)
    return await audit_search.search(conn, search, before=filters.before, limit=PAGE_ROWS)


def _list(
    context: PageContext,
    filters: AuditFilters,
    found: AuditPage,
    *,
    sealed_at: datetime | None = None,
) -> Response:
    return context.page(
        "audit/list.html",
        path=_path(context),
        events=found.events,
        filters=filters,
        following=found.next,
        is_cut=found.looked_until is not None,
        looked=audit_search.MAX_LOOKED,
        sealed_at=sealed_at,
    )


async def _event(context: PageContext, event: AuditEvent) -> Response:
    master = master_key_of(context.console.settings)
    async with context.console.lend() as conn:
        seal = await audit_search.check_seal(conn, event.id, master)
    return context.page(
        "audit/event.html",
        path=_path(context),
        event=event,
        lines=lines_of(event.detail),
        object_path=object_path(event),
        seal=seal,
    )


def _path(context: PageContext) -> str:
    return PATH if context.project is None else project_path(context.project.name, "audit")


def _event_id(context: PageContext) -> int:
    given: str = context.request.path_params["event_id"]
    if not (given.isascii() and given.isdigit() and len(given) < 19):
        raise NotFound("audit event", given.replace("\0", "?")[:100])
    return int(given)


PAGES = (
    ConsolePage("GET", PATH, Right.ADMINISTER, show_installation, menu=MenuEntry("Audit log")),
    ConsolePage("GET", f"{PATH}/{{event_id}}", Right.ADMINISTER, show_event),
    ConsolePage(
        "GET", OF_PROJECT, Right.READ_AUDIT, show_project, menu=MenuEntry("Audit log", "Project")
    ),
    ConsolePage("GET", f"{OF_PROJECT}/{{event_id}}", Right.READ_AUDIT, show_event_of_project),
)
