"""Endpoints by which administrators create and revoke the keys of projects."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.projects.endpoints import PATH as PROJECTS
from mailqueue.api.projects.endpoints import named
from mailqueue.api.projects.own_keys import (
    NewKey,
    RevokeQuery,
)
from mailqueue.contract.page import Page
from mailqueue.contract.projects import ApiKeyDetails, CreatedApiKey
from mailqueue.core.errors import Conflict
from mailqueue.core.paging import key_of
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.projects.keys.values import created_key_of, details_of

PATH = PROJECTS + "/{id}/api-keys"


async def create(call: RequestContext) -> CreatedApiKey:
    """Create a key of a project; a live one unless a test key is requested."""
    wanted: NewKey = call.body
    days = wanted.expires_in_days
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        if project.deleted_at is not None:
            raise Conflict(f"project {project.name} is deleted")
        issued = await keys_manage.issue_key(
            conn,
            project.name,
            wanted.name,
            is_test=bool(wanted.is_test),
            scopes=wanted.scopes,
            expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
            requests_per_second=wanted.rate_limit_per_sec,
        )
    return created_key_of(issued)


async def index(call: RequestContext) -> Page[ApiKeyDetails]:
    """List a project's keys."""
    query: PageQuery = call.query
    at, key_id = key_of(query.cursor, datetime, UUID)
    before = None if at is None else (at, key_id)
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        found = await keys_manage.page_of_keys(
            conn, project.id, limit=query.limit + 1, before=before
        )
    return page_of(
        [details_of(key) for key in found], query.limit, key=lambda key: (key.created_at, key.id)
    )


async def revoke(call: RequestContext) -> None:
    """Revoke a key."""
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        await keys_manage.revoke_key_by_id(
            conn, project.id, call.id("key_id"), reason=call.query.reason
        )
    call.runtime.callers.forget()


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        None,
        "Create a key of a project.",
        create,
        request=NewKey,
        response=CreatedApiKey,
        status=HTTPStatus.CREATED,
        superadmin=True,
        hidden=("key",),
        description="The key is returned only in this response.",
        example={"name": "Backend", "scopes": ["email:send", "email:read"]},
    ),
    Endpoint(
        "GET",
        PATH,
        None,
        "List the keys of a project.",
        index,
        query=PageQuery,
        response=Page[ApiKeyDetails],
        superadmin=True,
    ),
    Endpoint(
        "DELETE",
        PATH + "/{key_id}",
        None,
        "Revoke a key of a project at once.",
        revoke,
        query=RevokeQuery,
        status=HTTPStatus.NO_CONTENT,
        superadmin=True,
    ),
)
