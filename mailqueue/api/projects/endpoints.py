"""Endpoints of projects, for administrators."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from uuid import UUID

from mailqueue.admin import settings
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, EndpointHandler
from mailqueue.api.http.pagination import page_of
from mailqueue.api.projects.schema import (
    FIELD_BY_SETTING,
    AuditQuery,
    NewProject,
    ProjectSettings,
    ProjectsQuery,
    StatsQuery,
    Suspension,
)
from mailqueue.audit import search as audit_search
from mailqueue.audit.model import AuditPage
from mailqueue.contract.page import Page
from mailqueue.contract.projects import AuditEvent, ProjectDetails, ProjectStats, Retention
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import cursor_of, key_of
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.archive import manifest
from mailqueue.projects import manage as projects_manage
from mailqueue.projects import stats as projects_stats
from mailqueue.projects.model import Project
from mailqueue.projects.values import details_of, stats_of

PATH = "/admin/projects"
AUDIT_PAGES = (
    f"Newest first. A search looks at {audit_search.MAX_LOOKED:,} entries for a page, which may "
    "have fewer entries than `limit`, or none, and a `next_cursor` with which the search goes on."
)


async def create(call: RequestContext) -> ProjectDetails:
    """Create a project."""
    wanted: NewProject = call.body
    async with call.connection() as conn:
        with _worded():
            made = await projects_manage.add(
                conn, wanted.slug, settings=wanted.settings(), by=call.by
            )
        await _keep(conn, made, wanted, by=call.by)
        return await _detail(conn, made)


async def index(call: RequestContext) -> Page[ProjectDetails]:
    """List projects by slug."""
    query: ProjectsQuery = call.query
    (after,) = key_of(query.cursor, str)
    async with call.connection() as conn:
        found = await projects_manage.list_page(
            conn, after=after, status=query.status, text=query.q, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda each: (each.name,)).map(details_of)


async def show(call: RequestContext) -> ProjectDetails:
    """Return a project."""
    async with call.connection() as conn:
        return await _detail(conn, await named(conn, call.path["id"]))


async def change(call: RequestContext) -> ProjectDetails:
    """Change the given settings."""
    wanted: ProjectSettings = call.body
    async with call.connection() as conn:
        found = await named(conn, call.path["id"])
        with _worded():
            found = await projects_manage.change(
                conn, found.name, changes=wanted.settings(), by=call.by
            )
        await _keep(conn, found, wanted, by=call.by)
        return await _detail(conn, found)


async def delete(call: RequestContext) -> ProjectDetails:
    """Mark a project as deleted."""
    async with call.connection() as conn:
        found = await named(conn, call.path["id"])
        deleted = await projects_manage.delete(conn, found.name, by=call.by)
    call.runtime.callers.forget()
    return details_of(deleted)


async def suspend(call: RequestContext) -> ProjectDetails:
    """Suspend a project."""
    wanted: Suspension = call.body
    async with call.connection() as conn:
        found = await named(conn, call.path["id"])
        return details_of(
            await projects_manage.suspend(conn, found.name, reason=wanted.reason, by=call.by)
        )


async def activate(call: RequestContext) -> ProjectDetails:
    """Activate a project."""
    async with call.connection() as conn:
        found = await named(conn, call.path["id"])
        return details_of(await projects_manage.activate(conn, found.name, by=call.by))


async def stats(call: RequestContext) -> ProjectStats:
    """Return counts of sent mail, and headroom."""
    query: StatsQuery = call.query
    async with call.connection() as conn:
        found = await named(conn, call.path["id"])
        return stats_of(await projects_stats.look(conn, found.id, days=query.days))


async def audit_log(call: RequestContext) -> Page[AuditEvent]:
    """List the changes of a project, newest first."""
    query: AuditQuery = call.query
    (before,) = key_of(query.cursor, int)
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        found = await audit_search.search(
            conn, query.search(project.id), before=before, limit=query.limit
        )
    return shown_audit(found)


def shown_audit(page: AuditPage) -> Page[AuditEvent]:
    """Return a page of the audit log as callers see it."""
    return Page(page.events, None if page.next is None else cursor_of(page.next))


async def named(conn: Conn, text: str) -> Project:
    """Return a project by its id or slug; no slug has the form of an id.

    Raises:
        NotFound: there is no such project.
    """
    try:
        project_id = UUID(text)
    except ValueError:
        return await projects_manage.find(conn, text[:100])
    return await projects_manage.find_by_id(conn, project_id)


async def _detail(conn: Conn, project: Project) -> ProjectDetails:
    return details_of(project, await settings.retention_of(conn, project.id))


async def _keep(conn: Conn, project: Project, changed: ProjectSettings, *, by: str) -> None:
    """Set the retention of records; null removes the project's own."""
    known = {each.kind for each in await settings.retention_of(conn, project.id)}
    for kind, keep in sorted((changed.retention or {}).items()):
        if kind not in known:
            raise InvalidField("retention", f"must be one of {', '.join(sorted(known))}")
        if keep is None:
            await manifest.reset(conn, kind, project=project.name, by=by)
            continue
        rule = Retention(
            kind, keep.hot_days, keep.warm_days, keep.keep_days, is_own=True, project=project.name
        )
        try:
            await manifest.keep(conn, rule, by=by)
        except InvalidField as exc:
            raise exc.named("retention") from None


@contextmanager
def _worded() -> Iterator[None]:
    """Replace a field's SQL name in errors by its name in the API."""
    try:
        yield
    except InvalidField as exc:
        raise exc.named(FIELD_BY_SETTING.get(exc.field, exc.field)) from None


def _endpoint(
    method: str, path: str, summary: str, handler: EndpointHandler, **more: object
) -> Endpoint:
    return Endpoint(method, PATH + path, None, summary, handler, superadmin=True, **more)  # type: ignore[arg-type]


ENDPOINTS = (
    _endpoint(
        "POST",
        "",
        "Create a project.",
        create,
        request=NewProject,
        response=ProjectDetails,
        status=HTTPStatus.CREATED,
        description="Omitted fields are null, except the two limits, which have the "
        "installation's defaults.",
        example={
            "slug": "simplify-hiring",
            "name": "Simplify Hiring",
            "from_name": "Simplify Hiring",
            "from_email": "noreply@example.com",
            "reply_to": "support@example.com",
            "timezone": "Asia/Kolkata",
            "daily_send_limit": 500_000,
            "rate_limit_per_sec": 2_000,
        },
    ),
    _endpoint(
        "GET",
        "",
        "List projects.",
        index,
        query=ProjectsQuery,
        response=Page[ProjectDetails],
        description="By slug. `q` is searched in slug, name, description and From; deleted "
        "projects are listed with `status=deleted` only.",
    ),
    _endpoint("GET", "/{id}", "Show a project.", show, response=ProjectDetails),
    _endpoint(
        "PUT",
        "/{id}",
        "Change settings of a project.",
        change,
        request=ProjectSettings,
        response=ProjectDetails,
        description="Omitted settings are unchanged; null resets a setting.",
        example={"daily_send_limit": 100_000, "postal_address": "1 High Street, Oxford"},
    ),
    _endpoint(
        "DELETE",
        "/{id}",
        "Delete a project; its records are kept.",
        delete,
        response=ProjectDetails,
        description="The project accepts and sends no email, and its keys are revoked. Queued "
        "emails wait, records keep their retention, and the slug cannot be used "
        "again. Activating restores the project without its keys.",
    ),
    _endpoint(
        "POST",
        "/{id}/suspend",
        "Suspend a project.",
        suspend,
        request=Suspension,
        response=ProjectDetails,
        description="Emails are accepted, and wait until the project is activated.",
        example={"reason": "Unpaid since May"},
    ),
    _endpoint(
        "POST",
        "/{id}/activate",
        "Activate a suspended, paused or deleted project.",
        activate,
        response=ProjectDetails,
    ),
    _endpoint(
        "GET",
        "/{id}/stats",
        "Show what a project has sent, and its remaining limits.",
        stats,
        query=StatsQuery,
        response=ProjectStats,
    ),
    _endpoint(
        "GET",
        "/{id}/audit-log",
        "List the audit log of a project.",
        audit_log,
        query=AuditQuery,
        response=Page[AuditEvent],
        description=AUDIT_PAGES,
    ),
)
