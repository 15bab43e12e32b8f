"""Acts on templates: publish and archive; of the platform's also copy to a project, delete."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage, act_pages
from mailqueue.console.templates.owner import (
    PLATFORM_TEMPLATE,
    PROJECT_TEMPLATE,
    connection,
    find_own_template,
    find_template,
    find_version,
    path_of,
)
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import cloning, versions, writing
from mailqueue.templates.model import TemplateRow, VersionRow
from mailqueue.tenants.projects import manage as projects_manage
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence


async def ask_publishing(context: PageContext) -> Response:
    """Show what publishing a version does, and the form that does it."""
    template, version = await _version_of(context)
    return context.page(
        "templates/publish.html", found=template, version=version, fault="", path_of=path_of
    )


async def publish(context: PageContext) -> Response:
    """Publish a version."""
    template, version = await _version_of(context)
    try:
        compiler = context.console.compile_process
        # Its CSS is inlined first: no transaction is open while the process works.
        sent = await versions.inlined(partial(connection, context), compiler, template, version)
        async with _publishing_once(context) as conn:
            await versions.publish_inlined(conn, template, version, sent, by=context.user.by)
    except DoneBefore:
        return _done(context, template, "before")
    except InvalidField as exc:
        return context.page(
            "templates/publish.html",
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
            found=template,
            version=version,
            fault=sentence(exc.why),
            path_of=path_of,
        )
    return _done(context, template, "published")


async def ask_archiving(context: PageContext) -> Response:
    """Show what archiving a version does, and the form that does it."""
    template, version = await _version_of(context)
    return context.page("templates/archive.html", found=template, version=version, path_of=path_of)


async def archive(context: PageContext) -> Response:
    """Archive a version."""
    template, version = await _version_of(context)
    try:
        async with _publishing_once(context) as conn:
            await versions.archive(conn, template, version, by=context.user.by)
    except DoneBefore:
        return _done(context, template, "before")
    return _done(context, template, "archived")


async def ask_copying(context: PageContext) -> Response:
    """Show the form that copies a template to a project."""
    typed = {name: context.query(name) for name in ("to", "slug")}
    return _copying(context, await _template(context), typed)


async def copy(context: PageContext) -> Response:
    """Copy a template with its published version to a project."""
    template = await _template(context)
    typed = {name: text_of(context.form, name) for name in ("to", "slug")}
    try:
        async with context.acting_once(on_installation=True) as conn:
            project = await projects_manage.find(conn, typed["to"])
            if project.deleted_at is not None:
                raise InvalidField("to", "this project is deleted")
            slug = typed["slug"] or None
            await cloning.clone(conn, template, to=project.id, slug=slug, by=context.user.by)
    except DoneBefore:
        return _done(context, template, "before")
    except InvalidField as exc:
        return _copying(context, template, typed, {exc.field: sentence(exc.why)})
    except NotFound as exc:
        return _copying(context, template, typed, {"to": sentence(str(exc))})
    except Conflict as exc:
        return _copying(context, template, typed, {"slug": sentence(str(exc))})
    return _done(context, template, "copied")


async def ask_removal(context: PageContext) -> Response:
    """Show what deleting a template does, and the form that does it."""
    template = await _template(context)
    return context.page("templates/remove.html", found=template, path_of=path_of)


async def remove(context: PageContext) -> Response:
    """Delete a template with its versions."""
    try:
        async with context.acting_once(on_installation=True) as conn:
            template = await find_template(context, conn)
            await writing.remove(conn, template, by=context.user.by)
    except DoneBefore:
        return context.redirect(path_of(context, done="before"))
    return context.redirect(path_of(context, done="removed"))


async def _template(context: PageContext) -> TemplateRow:
    async with connection(context) as conn:
        return await find_template(context, conn)


async def _version_of(context: PageContext) -> tuple[TemplateRow, VersionRow]:
    async with connection(context) as conn:
        template = await find_own_template(context, conn)
        return template, await find_version(conn, template, context.request.path_params["version"])


def _copying(
    context: PageContext,
    template: TemplateRow,
    typed: Mapping[str, str],
    faults: Mapping[str, str] | None = None,
) -> Response:
    return context.form_page(
        "templates/copy.html",
        typed,
        faults,
        found=template,
        path_of=path_of,
    )


def _done(context: PageContext, template: TemplateRow, done: str) -> Response:
    return context.redirect(path_of(context, template.id, done=done))


def _publishing_once(context: PageContext) -> AbstractAsyncContextManager[Conn]:
    return context.acting_once(on_installation=context.project is None)


PAGES: tuple[ConsolePage, ...] = tuple(
    page
    for path, right, ask, act, keeps, step_up in (
        *(
            (f"{path}/versions/{{version}}/{name}", right, ask, act, (), False)
            for path, right in (
                (PLATFORM_TEMPLATE, Right.ADMINISTER),
                (PROJECT_TEMPLATE, Right.CONFIGURE),
            )
            for name, ask, act in (
                ("publish", ask_publishing, publish),
                ("archive", ask_archiving, archive),
            )
        ),
        (f"{PLATFORM_TEMPLATE}/copy", Right.ADMINISTER, ask_copying, copy, ("to", "slug"), False),
        (f"{PLATFORM_TEMPLATE}/remove", Right.ADMINISTER, ask_removal, remove, (), True),
    )
    for page in act_pages(path, right, ask=ask, act=act, keeps=keeps, step_up=step_up)
)
