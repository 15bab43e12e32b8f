"""The endpoints of the members of a project, for administrators: who sees it in the console."""

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import Field

from mailqueue.admin.users import members
from mailqueue.admin.users.model import Role
from mailqueue.api.admin.users import shown_link
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.projects.endpoints import named
from mailqueue.contract.admin import ConsoleLink, ProjectMember
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of

_PATH = "/admin/projects/{id}/members"


class NewMember(StrictRequestModel):
    """A new user of the console who sees one project."""

    name: Annotated[StorableText, Field(min_length=1, max_length=100)]
    """Name to log in with, and in the audit log."""
    role: Literal["project_admin", "support", "viewer"]
    """What the user may do in the project."""


async def index(call: RequestContext) -> Page[ProjectMember]:
    """List the members of a project by name."""
    query: PageQuery = call.query
    (after,) = key_of(query.cursor, str)
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        found = await members.list_of(conn, project.id, after=after, limit=query.limit + 1)
    return page_of(found, query.limit, key=lambda one: (one.name,))


async def add(call: RequestContext) -> ConsoleLink:
    """Add a user who sees the project."""
    wanted: NewMember = call.body
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        made = await members.invite(
            conn,
            wanted.name,
            role=wanted.role,
            project=project.name,
            within=Role.SUPERADMIN,
            by=call.by,
        )
    return shown_link(call, made)


async def remove(call: RequestContext) -> None:
    """Take the project from a member."""
    async with call.connection() as conn:
        project = await named(conn, call.path["id"])
        member = await members.find_by_name(conn, project.id, call.path["name"])
        await members.remove(conn, project.id, member.user_id, within=Role.SUPERADMIN, by=call.by)


ENDPOINTS = (
    Endpoint(
        "GET",
        _PATH,
        None,
        "List who sees a project in the console.",
        index,
        query=PageQuery,
        response=Page[ProjectMember],
        superadmin=True,
        description="By name. Users who see every project are no members of each.",
    ),
    Endpoint(
        "POST",
        _PATH,
        None,
        "Add a user of the console who sees a project.",
        add,
        request=NewMember,
        response=ConsoleLink,
        status=HTTPStatus.CREATED,
        superadmin=True,
        hidden=("link",),
        description="The link sets the password, once, within 24 hours. It is shown only once. "
        "`PATCH /admin/users/{name}` changes which projects a user sees who exists already.",
        example={"name": "ben", "role": "support"},
    ),
    Endpoint(
        "DELETE",
        f"{_PATH}/{{name}}",
        None,
        "Take a project from a user of the console.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        superadmin=True,
        description="Effective at once for open sessions. The user stays, and sees other projects "
        "as before.",
    ),
)
