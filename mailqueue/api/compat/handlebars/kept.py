"""Store, find and change templates for the compatible APIs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import (
    NewTemplate,
    NewText,
    NewVersion,
    StoredText,
    TemplateRow,
    VersionRow,
)

LANGUAGE = "en"
_PAGE = 1_000
_MOST_PAGES = 10
CheckVersion = Callable[[Conn, VersionRow], Awaitable[None]]
WithTemplate = Callable[[Conn, TemplateRow], Awaitable[None]]


async def accept_any(conn: Conn, version: VersionRow) -> None:
    """Accept a version."""


async def add_nothing(conn: Conn, template: TemplateRow) -> None:
    """Add nothing beside a template."""


async def add_template(
    call: RequestContext,
    *,
    slug: str,
    name: str,
    text: NewText | None = None,
    description: str | None = None,
    note: str | None = None,
    schema: Mapping[str, Any] | None = None,
    is_published: bool = True,
    also: WithTemplate = add_nothing,
) -> TemplateRow:
    """Add a template; its first version is published at once, unless `is_published` is false, and
    `also` adds what uses it. All is stored, or nothing.

    Raises:
        InvalidField: the slug or the name is invalid, or the text does not compile.
        Conflict: the slug is taken.
    """
    project_id, now = call.caller.project_id, datetime.now(UTC)
    new = NewTemplate(slug=slug, name=name, description=description, language=LANGUAGE)
    drafted = None
    if text is not None:
        planned = TemplateRow(
            *(UUID(int=0), project_id, slug, name, None, "", LANGUAGE, call.by, now, now),
            published=None,
            previous=None,
            newest=None,
        )
        version = NewVersion({"": text}, schema, note=note)
        drafted = await versions.draft(
            call.connection, call.services.compile_process, planned, new=version
        )
    async with call.in_one_transaction(), call.connection() as conn:
        made = await writing.create(conn, project_id, new=new, by=call.by)
        if drafted is not None:
            added = await versions.add_drafted(conn, made, drafted, by=call.by)
            if is_published:
                await versions.publish_inlined(conn, made, added, {}, by=call.by)
        await also(conn, made)
        return await writing.find_own(conn, project_id, template_id=made.id)


async def add_version(
    call: RequestContext,
    template: TemplateRow,
    text: NewText,
    *,
    before: VersionRow | None = None,
    name: str | None = None,
    note: str | None = None,
    schema: Mapping[str, Any] | None = None,
    is_published: bool = True,
    check: CheckVersion = accept_any,
) -> VersionRow:
    """Add a version in the template's language, publish it, and change the template's name. All is
    stored, or nothing. What no other API has is as in the version `before`, else the current one:
    texts in other languages, the schema of the variables unless one is given, and whether CSS is
    inlined. `check` may refuse the version while no other is added.

    Raises:
        InvalidField: the text does not compile, or the name is invalid.
    """
    process = call.services.compile_process
    if before is None:
        before = await current_version(call, template)
    new = await _like(call, template, before, text=text, note=note)
    if schema is not None:
        new = replace(new, variables_schema=schema)
    drafted = await versions.draft(call.connection, process, template, new=new)
    sent = await versions.inlined_draft(process, template, drafted) if is_published else {}
    async with call.in_one_transaction(), call.connection() as conn:
        if name is not None:
            await writing.change(conn, template, changes={"name": name}, by=call.by)
        version = await versions.add_drafted(conn, template, drafted, by=call.by)
        await check(conn, version)
        if is_published:
            version = await versions.publish_inlined(conn, template, version, sent, by=call.by)
    return version


async def _like(
    call: RequestContext,
    template: TemplateRow,
    before: VersionRow | None,
    *,
    text: NewText,
    note: str | None,
) -> NewVersion:
    """Return a version with another text in the template's language."""
    if before is None:
        return NewVersion({"": text}, note=note)
    async with call.connection() as conn:
        texts = await versions.texts_of(conn, before)
    others = {
        one.language: NewText(one.subject, one.html_body, one.text_body)
        for one in texts
        if one.language != template.language
    }
    return NewVersion(
        {"": text, **others}, before.variables_schema, before.is_css_inlined, note=note
    )


async def own_templates(call: RequestContext, *, after: str | None = None) -> list[TemplateRow]:
    """Return the project's own templates, by slug in the order of the database, those behind the
    slug `after`.
    """
    found: list[TemplateRow] = []
    project_id = call.caller.project_id
    async with call.connection() as conn:
        for _ in range(_MOST_PAGES):
            page = await writing.list_all(conn, project_id, after=after, limit=_PAGE)
            found += [one for one in page if one.project_id == project_id]
            if len(page) < _PAGE:
                break
            after = page[-1].slug
    return found


async def own_template(call: RequestContext, given: str) -> TemplateRow:
    """Return a template of the project's own, by id or slug.

    Raises:
        NotFound: the project has no such template.
    """
    project_id = call.caller.project_id
    async with call.connection() as conn:
        try:
            return await writing.find_own(conn, project_id, template_id=UUID(given))
        except ValueError:
            return await writing.find_own(conn, project_id, slug=given[:100])


async def current_version(call: RequestContext, template: TemplateRow) -> VersionRow | None:
    """Return the published version, else the newest; None if there is none."""
    number = template.published or template.newest
    if number is None:
        return None
    async with call.connection() as conn:
        return await versions.find(conn, template, number=number)


async def newest_text(
    call: RequestContext, template: TemplateRow, version: VersionRow | None = None
) -> StoredText | None:
    """Return the text of a version, else of the current one, in the language of the template; None
    if it has no version.
    """
    if version is None:
        version = await current_version(call, template)
    if version is None:
        return None
    async with call.connection() as conn:
        return in_language(await versions.texts_of(conn, version), template.language)


def in_language(texts: Sequence[StoredText], language: str) -> StoredText:
    """Return the text in a language. Pure.

    Raises:
        NotFound: there is none.
    """
    for one in texts:
        if one.language == language:
            return one
    raise NotFound("text", language)
