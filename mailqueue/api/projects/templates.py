"""The endpoint by which administrators copy a template to another project."""

from http import HTTPStatus
from uuid import UUID

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.projects.endpoints import PATH as PROJECTS
from mailqueue.api.projects.endpoints import named
from mailqueue.api.templates.schema import CloneTemplate
from mailqueue.contract.templates import Template
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.templates import cloning, writing
from mailqueue.templates.values import template_of

PATH = PROJECTS + "/{id}/templates/{template}/clone"


class CopyTemplate(CloneTemplate):
    """Destination of a copy; without a slug it keeps the original's."""

    project_id: str = Field(min_length=1, max_length=100)
    """Id or slug of the destination project."""


async def copy(call: RequestContext) -> Template:
    """Copy a template with its published version to a project."""
    wanted: CopyTemplate = call.body
    given = call.path["template"]
    async with call.connection() as conn:
        source, target = (
            await named(conn, call.path["id"]),
            await target_of(conn, wanted.project_id),
        )
        try:
            template = await writing.find(conn, source.id, template_id=UUID(given))
        except ValueError:
            template = await writing.find(conn, source.id, slug=given[:100])
        made = await cloning.clone(
            conn, template, to=target, slug=wanted.slug, name=wanted.name, by=call.by
        )
        return template_of(made)


async def target_of(conn: Conn, text: str) -> UUID:
    """Return the project to which a template is copied, by its id or slug.

    Raises:
        NotFound: there is no such project.
        Conflict: it is deleted.
    """
    found = await named(conn, text)
    if found.deleted_at is not None:
        raise Conflict(f"project {found.name} is deleted")
    return found.id


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        None,
        "Copy a template of a project to another.",
        copy,
        request=CopyTemplate,
        response=Template,
        status=HTTPStatus.CREATED,
        superadmin=True,
        description="Copies the published version with the layouts and partials it uses. Only "
        "administrators can copy to another project.",
        example={"project_id": "shop", "slug": "welcome-email"},
    ),
)
