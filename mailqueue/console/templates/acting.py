"""Acts on templates: publish and archive a version, copy, delete."""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage, act_pages
from mailqueue.console.templates.owner import (
    OWNERS,
    acting_once,
    connection,
    find_own_template,
    find_template,
    find_version,
    path_of,
)
from mailqueue.core.errors import Conflict, InvalidField, NotFound, ProjectFull
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.templates import cloning, versions, writing
from mailqueue.templates.model import TemplateRow, VersionRow
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
        async with acting_once(context) as conn:
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
        async with acting_once(context) as conn:
            await versions.archive(conn, template, version, by=context.user.by)
    except DoneBefore:
        return _done(context, template, "before")
    return _done(context, template, "archived")


async def ask_copying(context: PageContext) -> Response:
    """Show the form that copies a template."""
    typed = {name: context.query(name) for name in ("to", "slug")}
    return _copying(context, await _template(context), typed)


async def copy(context: PageContext) -> Response:
    """Copy a template with its published version: of the platform to a project, else within it."""
    template = await _template(context)
    typed = {name: text_of(context.form, name) for name in ("to", "slug")}
    try:
        async with acting_once(context) as conn:
            to = await _project_to_copy_to(context, conn, typed["to"])
            slug = typed["slug"] or None
            copied = await cloning.clone(conn, template, to=to, slug=slug, by=context.user.by)
    except DoneBefore:
        return _done(context, template, "before")
    except InvalidField as exc:
        return _copying(context, template, typed, {exc.field: sentence(exc.why)})
    except NotFound as exc:
        field = "to" if context.project is None else "slug"
        return _copying(context, template, typed, {field: sentence(str(exc))})
    except (Conflict, ProjectFull) as exc:
        return _copying(context, template, typed, {"slug": sentence(str(exc))})
    if context.project is not None:
        return _done(context, copied, "copied_here")
    return _done(context, template, "copied")


async def _project_to_copy_to(context: PageContext, conn: Conn, name: str) -> UUID:
    """Return the id of the project in the path, else of the one that was typed.

    Raises:
        NotFound: there is no such project.
        InvalidField: it is deleted.
    """
    if context.project is not None:
        return context.project.id
    project = await projects_manage.find(conn, name)
    if project.deleted_at is not None:
        raise InvalidField("to", "this project is deleted")
    return project.id


async def ask_removal(context: PageContext) -> Response:
    """Show what deleting a template does, and the form that does it."""
    template = await _own_template(context)
    return context.page("templates/remove.html", found=template, path_of=path_of)


async def remove(context: PageContext) -> Response:
    """Delete a template with its versions."""
    try:
        async with acting_once(context) as conn:
            template = await find_own_template(context, conn)
            await writing.remove(conn, template, by=context.user.by)
    except DoneBefore:
        return context.redirect(path_of(context, done="before"))
    return context.redirect(path_of(context, done="removed"))


async def _template(context: PageContext) -> TemplateRow:
    async with connection(context) as conn:
        return await find_template(context, conn)


async def _own_template(context: PageContext) -> TemplateRow:
    async with connection(context) as conn:
        return await find_own_template(context, conn)


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


PAGES: tuple[ConsolePage, ...] = tuple(
    page
    for each in OWNERS
    for path, ask, act, keeps, step_up in (
        ("versions/{version}/publish", ask_publishing, publish, (), False),
        ("versions/{version}/archive", ask_archiving, archive, (), False),
        ("copy", ask_copying, copy, ("to", "slug"), False),
        ("remove", ask_removal, remove, (), True),
    )
    for page in act_pages(
        f"{each.template}/{path}", each.right, ask=ask, act=act, keeps=keeps, step_up=step_up
    )
)
