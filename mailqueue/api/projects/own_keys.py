"""Endpoints of a project's API keys. A key cannot create one with more rights than its own."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.contract.page import Page
from mailqueue.contract.projects import ApiKeyDetails, CreatedApiKey
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.projects.keys.reach import check_reach
from mailqueue.projects.keys.values import created_key_of, details_of
from mailqueue.projects.model import Scope

PATH = "/v1/projects/{pid}/api-keys"

KeyName = Annotated[str, Field(min_length=1, max_length=keys_manage.NAME_CHARACTERS)]
RequestRate = Annotated[int, Field(ge=1, le=keys_manage.MAX_REQUESTS_PER_SECOND)]


class NewKey(StrictRequestModel):
    """A key to create; without a rate, it has the installation's default."""

    name: KeyName
    """Name of the key, such as Billing."""
    scopes: Annotated[list[str], Field(min_length=1, max_length=20)]
    """Permissions: `email:send`, `email:read`, `template:read`, `template:write`, `analytics:read`,
    `suppression:manage`, `webhook:manage`, `project:read`, `project:write`,
    `contacts:read`, `contacts:write`.
    """
    expires_in_days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    """Lifetime in days; no end if omitted."""
    rate_limit_per_sec: RequestRate | None = None
    """Requests per second of this key; the installation's default if omitted."""
    is_test: bool | None = None
    """Whether its emails go to the mail trap only; if omitted, as with the key that creates it."""


class KeyChange(StrictRequestModel):
    """Fields of a key to change; a rate of null resets it to the default."""

    name: KeyName | None = None
    """New name; unchanged if omitted."""
    rate_limit_per_sec: RequestRate | None = None
    """Requests per second; null resets it to the default, unchanged if omitted."""


class Rotation(StrictRequestModel):
    """How long the old key stays valid."""

    grace_hours: Annotated[int, Field(ge=0, le=keys_manage.MAX_GRACE.days * 24)] = 24
    """Hours for which the old key stays valid beside the new one; 0 revokes it at once."""


class RevokeQuery(RequestModel):
    """Reason for revoking a key."""

    reason: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """Reason, recorded in the audit log, such as `it was in a commit`."""


async def create(call: RequestContext) -> CreatedApiKey:
    """Create a key."""
    wanted: NewKey = call.body
    is_test = call.caller.is_test if wanted.is_test is None else wanted.is_test
    check_reach(call.caller, wanted.scopes, is_test=is_test)
    days = wanted.expires_in_days
    async with call.connection() as conn:
        issued = await keys_manage.issue_key(
            conn,
            call.caller.project,
            wanted.name,
            is_test=is_test,
            scopes=wanted.scopes,
            expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
            requests_per_second=wanted.rate_limit_per_sec,
        )
    return created_key_of(issued)


async def index(call: RequestContext) -> Page[ApiKeyDetails]:
    """List the project's keys."""
    asked: PageQuery = call.query
    at, key_id = key_of(asked.cursor, datetime, UUID)
    async with call.connection() as conn:
        found = await keys_manage.page_of_keys(
            conn,
            call.caller.project_id,
            limit=asked.limit + 1,
            before=None if at is None else (at, key_id),
        )
    listed = [details_of(key) for key in found]
    return page_of(listed, asked.limit, key=lambda key: (key.created_at, key.id))


async def show(call: RequestContext) -> ApiKeyDetails:
    """Return a key."""
    async with call.connection() as conn:
        return details_of(
            await keys_manage.show_key(conn, call.caller.project_id, call.id("key_id"))
        )


async def change(call: RequestContext) -> ApiKeyDetails:
    """Change the name or rate of a key."""
    wanted: KeyChange = call.body
    changes: dict[str, object] = {}
    if wanted.name is not None:
        changes["name"] = wanted.name
    if "rate_limit_per_sec" in wanted.model_fields_set:
        changes["requests_per_second"] = wanted.rate_limit_per_sec
    async with call.connection() as conn:
        key = await keys_manage.change_key(
            conn, call.caller.project_id, call.id("key_id"), changes=changes
        )
    call.runtime.callers.forget()
    return details_of(key)


async def rotate(call: RequestContext) -> CreatedApiKey:
    """Rotate a key."""
    project_id, key_id = call.caller.project_id, call.id("key_id")
    grace = timedelta(hours=call.body.grace_hours)
    async with call.connection() as conn:
        old = await keys_manage.show_key(conn, project_id, key_id)
        check_reach(call.caller, old.scopes, is_test=old.is_test)
        try:
            issued = await keys_manage.rotate_key(conn, project_id, key_id, grace=grace)
        except InvalidField as exc:
            raise exc.named("grace_hours") from None
    call.runtime.callers.forget()
    return created_key_of(issued)


async def revoke(call: RequestContext) -> None:
    """Revoke a key."""
    async with call.connection() as conn:
        await keys_manage.revoke_key_by_id(
            conn, call.caller.project_id, call.id("key_id"), reason=call.query.reason
        )
    call.runtime.callers.forget()


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Create a key.",
        create,
        request=NewKey,
        response=CreatedApiKey,
        status=HTTPStatus.CREATED,
        tag="API keys",
        hidden=("key",),
        description="The key is returned only in this response. Its scopes are limited to those "
        "of the key that creates it. Bursts of ten times `rate_limit_per_sec` "
        "requests are allowed.",
        example={
            "name": "Production Send Key",
            "scopes": ["email:send", "analytics:read"],
            "expires_in_days": 365,
            "rate_limit_per_sec": 500,
        },
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List keys, newest first.",
        index,
        query=PageQuery,
        response=Page[ApiKeyDetails],
        tag="API keys",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH + "/{key_id}",
        Scope.PROJECT_READ,
        "Show a key.",
        show,
        response=ApiKeyDetails,
        tag="API keys",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PUT",
        PATH + "/{key_id}",
        Scope.PROJECT_WRITE,
        "Change the name or rate of a key.",
        change,
        request=KeyChange,
        response=ApiKeyDetails,
        tag="API keys",
        example={"name": "Billing"},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        PATH + "/{key_id}/rotate",
        Scope.PROJECT_WRITE,
        "Rotate a key.",
        rotate,
        request=Rotation,
        response=CreatedApiKey,
        status=HTTPStatus.CREATED,
        tag="API keys",
        hidden=("key",),
        description="The old key stays valid for 24 hours, unless another grace period is given.",
        example={"grace_hours": 24},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "DELETE",
        PATH + "/{key_id}",
        Scope.PROJECT_WRITE,
        "Revoke a key at once.",
        revoke,
        query=RevokeQuery,
        status=HTTPStatus.NO_CONTENT,
        tag="API keys",
        test_keys=ForTestKeys.OWN,
    ),
)
