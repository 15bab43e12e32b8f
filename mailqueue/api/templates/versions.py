"""Endpoints of the versions of a template."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.templates.schema import (
    CreateVersion,
    DiffQuery,
)
from mailqueue.api.templates.views import template_of, version_of
from mailqueue.contract.page import Page
from mailqueue.contract.templates import TemplateContent, TemplateDiff, TemplateVersion
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.templates import previews, values, versions
from mailqueue.templates.model import NewText, NewVersion

_PATH = "/v1/projects/{pid}/templates/{template}/versions"
_ONE = _PATH + "/{version}"
_TAG = "Templates"


async def create(call: RequestContext) -> TemplateVersion:
    """Create a draft."""
    wanted: CreateVersion = call.body
    async with call.connection() as conn:
        template = await template_of(call, conn, to_change=True)
    words = {"": NewText(wanted.subject, wanted.html_body, wanted.text_body)}
    for tag, said in wanted.translations.items():
        language = tag.lower().replace("_", "-")
        if language == template.language or language in words:
            raise InvalidField("translations", f"{language} is given twice")
        words[language] = NewText(said.subject, said.html_body, said.text_body)
    new = NewVersion(words, wanted.variables_schema, wanted.inline_css, wanted.note)
    made = await versions.add(
        call.connection, call.services.compile_process, template, new=new, by=call.by
    )
    return values.version_of(made)


async def index(call: RequestContext) -> Page[TemplateVersion]:
    """List versions, newest first."""
    query: PageQuery = call.query
    (before,) = key_of(query.cursor, int)
    async with call.connection() as conn:
        template = await template_of(call, conn)
        found = await versions.list_all(conn, template, before=before, limit=query.limit + 1)
    shown = [values.version_of(one) for one in found]
    return page_of(shown, query.limit, key=lambda one: (one.version,))


async def show(call: RequestContext) -> TemplateContent:
    """Return a version with its texts."""
    async with call.connection() as conn:
        template = await template_of(call, conn)
        version = await version_of(call, conn, template)
        return values.content_of(template, version, await versions.texts_of(conn, version))


async def publish(call: RequestContext) -> TemplateVersion:
    """Publish a version."""
    async with call.connection() as conn:
        template = await template_of(call, conn, to_change=True)
        version = await version_of(call, conn, template)
    made = await versions.publish(
        call.connection, call.services.compile_process, template, version, by=call.by
    )
    return values.version_of(made)


async def archive(call: RequestContext) -> TemplateVersion:
    """Archive a version."""
    async with call.connection() as conn:
        template = await template_of(call, conn, to_change=True)
        version = await version_of(call, conn, template)
        return values.version_of(await versions.archive(conn, template, version, by=call.by))


async def diff(call: RequestContext) -> TemplateDiff:
    """Compare two versions."""
    asked: DiffQuery = call.query
    async with call.connection() as conn:
        template = await template_of(call, conn)
        old = await versions.find(conn, template, number=asked.from_)
        new = await versions.find(conn, template, number=asked.to)
    process = call.services.compile_process
    return TemplateDiff(
        await previews.diff(call.connection, process, template, old, new, language=asked.language)
    )


VERSION_ENDPOINTS = (
    Endpoint(
        "POST",
        _PATH,
        Scope.TEMPLATE_WRITE,
        "Create a version, as a draft.",
        create,
        request=CreateVersion,
        response=TemplateVersion,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        once=Once.APART,
        description="The version is compiled with the layouts and partials it names before it is "
        "stored. It never changes.",
        example={
            "subject": "Welcome to {{ CompanyName }}, {{ FirstName }}!",
            "html_body": "<html><body>Hi {{ FirstName }}, …</body></html>",
            "text_body": "Hi {{ FirstName }}, …",
            "variables_schema": {
                "type": "object",
                "required": ["FirstName", "CompanyName"],
                "properties": {
                    "FirstName": {"type": "string"},
                    "CompanyName": {"type": "string"},
                },
            },
        },
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _PATH,
        Scope.TEMPLATE_READ,
        "List versions, newest first.",
        index,
        query=PageQuery,
        response=Page[TemplateVersion],
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        _PATH + "/diff",
        Scope.TEMPLATE_READ,
        "Compare two versions.",
        diff,
        query=DiffQuery,
        response=TemplateDiff,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.TEMPLATE_READ,
        "Show a version with its texts, by id or number.",
        show,
        response=TemplateContent,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        _ONE + "/publish",
        Scope.TEMPLATE_WRITE,
        "Publish a version.",
        publish,
        response=TemplateVersion,
        tag=_TAG,
        once=Once.APART,
        description="The version published before is archived, and can be published again.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        _ONE + "/archive",
        Scope.TEMPLATE_WRITE,
        "Archive a version.",
        archive,
        response=TemplateVersion,
        tag=_TAG,
        description="If it was the published version, no more email is accepted from the template.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
