"""Endpoints of templates."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.pagination import page_of
from mailqueue.api.templates.parts import PART_ENDPOINTS
from mailqueue.api.templates.schema import (
    AskPreview,
    ChangeTemplate,
    CloneTemplate,
    CreateTemplate,
    TemplatesQuery,
)
from mailqueue.api.templates.versions import VERSION_ENDPOINTS
from mailqueue.api.templates.views import owner_of, template_of
from mailqueue.contract.page import Page
from mailqueue.contract.templates import Preview, Template
from mailqueue.core.errors import NotFound
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.templates import cloning, previews, values, versions, writing
from mailqueue.templates.model import NewTemplate

PATH = "/v1/projects/{pid}/templates"
_ONE = PATH + "/{template}"
_TAG = "Templates"


async def create(call: RequestContext) -> Template:
    """Create a template."""
    wanted: CreateTemplate = call.body
    new = NewTemplate(
        slug=wanted.slug,
        name=wanted.name,
        description=wanted.description,
        category=wanted.category,
        language=None if wanted.language is None else wanted.language.lower().replace("_", "-"),
    )
    async with call.connection() as conn:
        return values.template_of(await writing.create(conn, owner_of(call), new=new, by=call.by))


async def index(call: RequestContext) -> Page[Template]:
    """List templates by slug."""
    query: TemplatesQuery = call.query
    (after,) = key_of(query.cursor, str)
    async with call.connection() as conn:
        found = await writing.list_all(
            conn,
            owner_of(call),
            category=query.category,
            status=query.status,
            q=query.q,
            after=after,
            limit=query.limit + 1,
        )
    return page_of(
        [values.template_of(one) for one in found], query.limit, key=lambda one: (one.slug,)
    )


async def show(call: RequestContext) -> Template:
    """Return a template."""
    async with call.connection() as conn:
        return values.template_of(await template_of(call, conn))


async def change(call: RequestContext) -> Template:
    """Change the details of a template."""
    wanted: ChangeTemplate = call.body
    changes = wanted.model_dump(exclude_unset=True)
    if isinstance(tag := changes.get("language"), str):
        changes["language"] = tag.lower().replace("_", "-")
    async with call.connection() as conn:
        template = await template_of(call, conn, to_change=True)
        return values.template_of(await writing.change(conn, template, changes=changes, by=call.by))


async def remove(call: RequestContext) -> None:
    """Delete a template."""
    async with call.connection() as conn:
        template = await template_of(call, conn, to_change=True)
        await writing.remove(conn, template, by=call.by)


async def clone(call: RequestContext) -> Template:
    """Copy a template with its published version."""
    wanted: CloneTemplate = call.body
    own = call.caller.project_id
    if wanted.project_id is not None and wanted.project_id != str(own):
        raise NotFound("project", wanted.project_id[:100])
    async with call.connection() as conn:
        template = await template_of(call, conn)
        copy = await cloning.clone(
            conn, template, to=own, slug=wanted.slug, name=wanted.name, by=call.by
        )
        return values.template_of(copy)


async def preview(call: RequestContext) -> Preview:
    """Render a version with sample data."""
    asked: AskPreview = call.body
    async with call.connection() as conn:
        template = await template_of(call, conn)
        if asked.version is not None:
            version = await versions.find(conn, template, number=asked.version)
        else:
            version = await previews.usual(conn, template)
        words = await previews.words_of(conn, template, version, asked.language)
    return await previews.preview(
        call.services.compile_process, template, version, words, variables=asked.variables
    )


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.TEMPLATE_WRITE,
        "Create a template.",
        create,
        request=CreateTemplate,
        response=Template,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        description="It can be used after a version of it is published.",
        example={"slug": "welcome-email", "name": "Welcome", "category": "onboarding"},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.TEMPLATE_READ,
        "List templates by slug, including those of the platform.",
        index,
        query=TemplatesQuery,
        response=Page[Template],
        tag=_TAG,
        description="A template of the project replaces the platform's with the same slug.",
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.TEMPLATE_READ,
        "Show a template, by id or slug.",
        show,
        response=Template,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.TEMPLATE_WRITE,
        "Change the details of a template.",
        change,
        request=ChangeTemplate,
        response=Template,
        tag=_TAG,
        description="Omitted fields are unchanged.",
        example={"name": "Welcome aboard"},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.TEMPLATE_WRITE,
        "Delete a template with its versions.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Emails already accepted are still rendered from it.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        _ONE + "/clone",
        Scope.TEMPLATE_WRITE,
        "Copy a template with its published version.",
        clone,
        request=CloneTemplate,
        response=Template,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        description="A template of the platform is changed by copying it under its own slug.",
        example={"slug": "welcome-email-2"},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        _ONE + "/preview",
        Scope.TEMPLATE_READ,
        "Render a version with sample data.",
        preview,
        request=AskPreview,
        response=Preview,
        tag=_TAG,
        once=Once.NEVER,
        description="Renders the given version; by default the published one, or the newest "
        "draft if none is published.",
        example={"variables": {"FirstName": "Alice", "CompanyName": "Acme Corp"}},
        test_keys=ForTestKeys.READ,
    ),
    *VERSION_ENDPOINTS,
    *PART_ENDPOINTS,
)
