"""The endpoints of the platform's templates, which every project may use, for administrators.

They have the handlers of a project's templates: an administrator's request acts for no project.
"""

from collections.abc import Mapping
from dataclasses import replace

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.projects.templates import target_of
from mailqueue.api.templates import endpoints, parts
from mailqueue.api.templates.schema import CloneTemplate
from mailqueue.api.templates.views import template_of
from mailqueue.contract.templates import Template
from mailqueue.templates import cloning, values

PATH = "/admin/templates"
PARTS = "/admin/template-parts"
TAG = "Platform templates"


class ClonePlatformTemplate(CloneTemplate):
    """Name and owner of the copy; without a slug it keeps the original's."""

    project_id: str | None = Field(default=None, min_length=1, max_length=100)
    """Id or slug of the destination project; without it the copy is the platform's, too."""


async def clone(call: RequestContext) -> Template:
    """Copy a template of the platform with its published version."""
    wanted: ClonePlatformTemplate = call.body
    async with call.connection() as conn:
        to = None if wanted.project_id is None else await target_of(conn, wanted.project_id)
        template = await template_of(call, conn)
        copy = await cloning.clone(
            conn, template, to=to, slug=wanted.slug, name=wanted.name, by=call.by
        )
        return values.template_of(copy)


_CLONE = f"{PATH}/{{template}}/clone"
_ABOUT: Mapping[tuple[str, str], tuple[str, str]] = {
    ("POST", PATH): (
        "Create a template of the platform.",
        "Projects without a template of that slug use it after a version of it is published.",
    ),
    ("GET", PATH): (
        "List the platform's templates by slug.",
        "A project's own template replaces the one with the same slug for that project.",
    ),
    ("DELETE", f"{PATH}/{{template}}"): (
        "Delete a template with its versions.",
        "No project can use it any more. Emails already accepted are still rendered from it.",
    ),
    ("POST", _CLONE): (
        "Copy a template with its published version to a project.",
        "A copy with the same slug replaces the platform's template in that project.",
    ),
    ("GET", PARTS): (
        "List the platform's layouts and partials by name.",
        "A project's own part replaces the one with the same name for that project.",
    ),
}
"""Summary and description where they differ from those of a project's templates."""


def _of_platform(endpoint: Endpoint) -> Endpoint:
    path = endpoint.path.replace(endpoints.PATH, PATH).replace(parts.PATH, PARTS)
    summary, description = _ABOUT.get(
        (endpoint.method, path), (endpoint.summary, endpoint.description)
    )
    changed = replace(
        endpoint,
        path=path,
        scope=None,
        superadmin=True,
        test_keys=None,
        tag=TAG,
        summary=summary,
        description=description,
    )
    if path != _CLONE:
        return changed
    example = {"project_id": "shop"}
    return replace(changed, handler=clone, request=ClonePlatformTemplate, example=example)


ENDPOINTS = tuple(map(_of_platform, endpoints.ENDPOINTS))
