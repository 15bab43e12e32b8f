"""Endpoints that bind PostgreSQL logins of producers to projects."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.projects.endpoints import named
from mailqueue.contract.page import Page
from mailqueue.contract.projects import BoundProducer
from mailqueue.projects.producers import manage

PATH = "/admin/producers"
_TAG = "Installation"


class BindProducer(StrictRequestModel):
    """Projects that a login may enqueue for."""

    projects: Annotated[
        list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=1_000)
    ]
    """Projects by slug, in addition to those the login is bound to already."""


async def index(call: RequestContext) -> Page[BoundProducer]:
    """List bound logins."""
    async with call.connection() as conn:
        return Page(await manage.list_all(conn), None)


async def bind(call: RequestContext) -> BoundProducer:
    """Bind a login to projects."""
    wanted: BindProducer = call.body
    async with call.connection() as conn:
        return await manage.bind(conn, call.path["login"], wanted.projects, by=call.by)


async def unbind(call: RequestContext) -> None:
    """Unbind a login from one project, or from all."""
    project = call.path.get("id")
    async with call.connection() as conn:
        projects = None if project is None else [(await named(conn, project)).name]
        await manage.unbind(conn, call.path["login"], projects, by=call.by)


ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        None,
        "List PostgreSQL logins that are bound to projects.",
        index,
        response=Page[BoundProducer],
        superadmin=True,
        tag=_TAG,
        description="A login that is not listed may enqueue for every project.",
    ),
    Endpoint(
        "POST",
        PATH + "/{login}/projects",
        None,
        "Bind a PostgreSQL login to projects.",
        bind,
        request=BindProducer,
        response=BoundProducer,
        superadmin=True,
        tag=_TAG,
        description="From then on the login may enqueue for these projects and those it was bound "
        "to before, and for no others, by INSERT, COPY and every function.",
        example={"projects": ["simplify-hiring"]},
    ),
    Endpoint(
        "DELETE",
        PATH + "/{login}/projects/{id}",
        None,
        "Unbind a PostgreSQL login from a project.",
        unbind,
        status=HTTPStatus.NO_CONTENT,
        superadmin=True,
        tag=_TAG,
        description="A login that is unbound from its last project may enqueue for every project.",
    ),
    Endpoint(
        "DELETE",
        PATH + "/{login}",
        None,
        "Unbind a PostgreSQL login from all projects.",
        unbind,
        status=HTTPStatus.NO_CONTENT,
        superadmin=True,
        tag=_TAG,
        description="Then the login may enqueue for every project.",
    ),
)
