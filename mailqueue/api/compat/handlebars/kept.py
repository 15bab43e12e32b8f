"""Store, find and change templates for the compatible APIs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import NotFound
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


async def add_template(
    call: RequestContext, *, slug: str, name: str, text: NewText | None = None
) -> TemplateRow:
    """Add a template; its first version is published at once. All is stored, or nothing.

    Raises:
        InvalidField: the slug or the name is invalid, or the text does not compile.
        Conflict: the slug is taken.
    """
    project_id, now = call.caller.project_id, datetime.now(UTC)
    new = NewTemplate(slug=slug, name=name, language=LANGUAGE)
    drafted = None
    if text is not None:
        planned = TemplateRow(
            *(UUID(int=0), project_id, slug, name, None, "", LANGUAGE, call.by, now, now),
            published=None,
            newest=None,
        )
        drafted = await versions.draft(
            call.connection, call.services.compile_process, planned, new=NewVersion({"": text})
        )
    async with call.in_one_transaction(), call.connection() as conn:
        made = await writing.create(conn, project_id, new=new, by=call.by)
        if drafted is not None:
            version = await versions.add_drafted(conn, made, drafted, by=call.by)
            await versions.publish_inlined(conn, made, version, {}, by=call.by)
        return await writing.find_own(conn, project_id, template_id=made.id)


async def add_version(
    call: RequestContext,
    template: TemplateRow,
    text: NewText,
    *,
    note: str | None = None,
    is_published: bool = True,
) -> VersionRow:
    """Add a version in the template's language, and publish it. All is stored, or nothing.

    Raises:
        InvalidField: the text does not compile.
    """
    process = call.services.compile_process
    new = NewVersion({"": text}, note=note)
    drafted = await versions.draft(call.connection, process, template, new=new)
    async with call.in_one_transaction(), call.connection() as conn:
        version = await versions.add_drafted(conn, template, drafted, by=call.by)
        if is_published:
            version = await versions.publish_inlined(conn, template, version, {}, by=call.by)
    return version


async def own_templates(call: RequestContext) -> list[TemplateRow]:
    """Return the project's own templates, by slug."""
    found: list[TemplateRow] = []
    after: str | None = None
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


async def newest_text(
    call: RequestContext, template: TemplateRow, version: VersionRow | None = None
) -> StoredText | None:
    """Return the text of a version, else of the published one, else of the newest, in the language
    of the template; None if it has no version.
    """
    async with call.connection() as conn:
        if version is None:
            number = template.published or template.newest
            if number is None:
                return None
            version = await versions.find(conn, template, number=number)
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
