"""Endpoints of pauses: of a project for its keys, and of all projects for administrators."""

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from mailqueue.api.emails.schema import Instant, StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.projects.endpoints import named
from mailqueue.contract.operations import Pause, Resumed
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.operations import pausing
from mailqueue.operations.pausing import PauseKind
from mailqueue.projects.model import Scope

PATH = "/v1/projects/{pid}/pauses"
ADMIN_PATH = "/admin/pauses"
_TAG = "Emails"

PauseKindWord = Literal["project", "campaign", "domain", "sender"]
AnyProject = Annotated[StorableText, Field(min_length=1, max_length=100)]


class PausesQuery(PageQuery):
    """Filter of pauses."""

    kind: PauseKindWord | None = None
    """Filter by what is paused: `project`, `campaign`, `domain` or `sender`."""


class AllPausesQuery(PausesQuery):
    """Filters of the pauses of all projects."""

    project: AnyProject | None = None
    """Filter by project, by id or slug."""


class PausedObject(StrictRequestModel):
    """What is paused."""

    kind: PauseKindWord
    """`project`, `campaign`, `domain` of recipients, or `sender` account."""
    name: Annotated[StorableText, Field(max_length=255)] = ""
    """Id of the campaign, domain, or name of the sender account; not needed for `project`."""


class NewPause(PausedObject):
    """A pause that begins now."""

    until: Instant | None = None
    """When sending resumes by itself, RFC 3339 with offset; until it is resumed if omitted."""
    reason: Annotated[StorableText, Field(max_length=500)] | None = None
    """Reason, shown where an email is explained and recorded in the audit log."""


class PausedObjectAnywhere(PausedObject):
    """What is paused, and in which project."""

    project: AnyProject
    """Project, by id or slug."""


class NewPauseAnywhere(NewPause):
    """A pause in any project that begins now."""

    project: AnyProject
    """Project, by id or slug."""


async def index(call: RequestContext) -> Page[Pause]:
    """List what is paused in the key's project; for administrators in any."""
    query: PausesQuery = call.query
    only = query.project if isinstance(query, AllPausesQuery) else None
    async with call.connection() as conn:
        found = await pausing.list_of(
            conn,
            await _project(call, conn, only),
            kind=None if query.kind is None else PauseKind(query.kind),
            after=key_of(query.cursor, str, str, str),
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.project or "", one.kind, one.name))


async def pause(call: RequestContext) -> Pause:
    """Pause an object of the key's project; for administrators of the named one."""
    wanted: NewPause = call.body
    named_one = wanted.project if isinstance(wanted, NewPauseAnywhere) else None
    async with call.connection() as conn:
        project_id = await _project(call, conn, named_one)
        assert project_id is not None, "an administrator's body names the project"
        return await pausing.pause_in(
            conn,
            project_id,
            kind=PauseKind(wanted.kind),
            name=wanted.name,
            until=wanted.until,
            reason=wanted.reason,
            by=call.by,
        )


async def resume(call: RequestContext) -> Resumed:
    """End a pause in the key's project; for administrators in the named one."""
    wanted: PausedObject = call.body
    named_one = wanted.project if isinstance(wanted, PausedObjectAnywhere) else None
    async with call.connection() as conn:
        project_id = await _project(call, conn, named_one)
        assert project_id is not None, "an administrator's body names the project"
        await pausing.resume_in(
            conn, project_id, kind=PauseKind(wanted.kind), name=wanted.name, by=call.by
        )
    return Resumed(resumed=True)


async def _project(call: RequestContext, conn: Conn, given: str | None) -> UUID | None:
    """Return the project of a key, or the one that an administrator named; None: all of them."""
    if call.tenant is not None or given is None:
        return call.tenant
    return (await named(conn, given)).id


def _of_all(
    endpoint: Endpoint, summary: str, *, example: dict[str, str] | None = None, **models: Any
) -> Endpoint:
    """Return the endpoint for administrators that belongs to one of a project."""
    path = endpoint.path.replace(PATH, ADMIN_PATH)
    return replace(
        endpoint,
        path=path,
        summary=summary,
        scope=None,
        superadmin=True,
        test_keys=None,
        tag="Installation",
        example=example,
        **models,
    )


_LIST = Endpoint(
    "GET",
    PATH,
    Scope.PROJECT_READ,
    "List what is paused in the project.",
    index,
    query=PausesQuery,
    response=Page[Pause],
    tag=_TAG,
    description="Pauses of the project itself, of sender accounts, campaigns and recipient "
    "domains, by kind and name.",
    test_keys=ForTestKeys.READ,
)
_PAUSE = Endpoint(
    "POST",
    PATH,
    Scope.PROJECT_WRITE,
    "Pause the project, a sender account, a campaign or a recipient domain.",
    pause,
    request=NewPause,
    response=Pause,
    status=HTTPStatus.CREATED,
    tag=_TAG,
    description="Effective at once, for queued emails and for emails accepted later, which keep "
    "their position and their expiry. Replaces an earlier pause of the same object. 422 if 1,000 "
    "other campaigns and domains of the project are paused.",
    example={"kind": "campaign", "name": "spring", "reason": "wrong price"},
    test_keys=ForTestKeys.REFUSED,
)
_RESUME = Endpoint(
    "POST",
    f"{PATH}/resume",
    Scope.PROJECT_WRITE,
    "End a pause.",
    resume,
    request=PausedObject,
    response=Resumed,
    tag=_TAG,
    description="Waiting emails are sent. 404 if it is not paused.",
    example={"kind": "campaign", "name": "spring"},
    test_keys=ForTestKeys.REFUSED,
)
_SHOP = {"project": "shop", "kind": "domain", "name": "example.com"}
ENDPOINTS = (_LIST, _PAUSE, _RESUME)
ADMIN_ENDPOINTS = (
    _of_all(
        _LIST,
        "List what is paused in all projects.",
        query=AllPausesQuery,
        description="By project, kind and name; a pause of all sending, which has no project, "
        "comes first. `POST /admin/infrastructure/pause` begins one.",
    ),
    _of_all(
        _PAUSE,
        "Pause any project, or a sender account, campaign or recipient domain of it.",
        request=NewPauseAnywhere,
        example=_SHOP | {"reason": "they limit us"},
    ),
    _of_all(_RESUME, "End a pause in any project.", request=PausedObjectAnywhere, example=_SHOP),
)
