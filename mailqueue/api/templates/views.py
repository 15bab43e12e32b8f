"""Templates and versions in the form shown to callers, and their ids in paths."""

from uuid import UUID

from mailqueue.api.http.context import Call
from mailqueue.contract.templates import (
    Template,
    TemplateContent,
    TemplatePart,
    TemplateText,
    TemplateVersion,
)
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import PartRow, TemplateRow, Text, VersionRow

_DIGITS = 9


async def template_of(call: Call, conn: Conn, *, to_change: bool = False) -> TemplateRow:
    """Return the template that a path names by id or slug."""
    find = writing.find_own if to_change else writing.find
    given = call.path["template"]
    own = call.caller.project_id
    try:
        return await find(conn, own, template_id=UUID(given))
    except ValueError:
        return await find(conn, own, slug=given[:100])


async def version_of(call: Call, conn: Conn, template: TemplateRow) -> VersionRow:
    """Return the version that a path names by id or number."""
    given = call.path["version"]
    if given.isascii() and given.isdigit() and len(given) <= _DIGITS:
        return await versions.find(conn, template, number=int(given))
    try:
        return await versions.find(conn, template, version_id=UUID(given))
    except ValueError:
        raise NotFound("version", given[:100]) from None


def shown(one: TemplateRow) -> Template:
    """Return a template in the form shown to callers."""
    return Template(
        id=one.id,
        slug=one.slug,
        name=one.name,
        description=one.description,
        category=one.category,
        language=one.language,
        is_platform=one.project_id is None,
        published_version=one.published,
        newest_version=one.newest,
        created_by=one.created_by,
        created_at=one.created_at,
        updated_at=one.updated_at,
    )


def shown_version(one: VersionRow) -> TemplateVersion:
    """Return a version in the form shown to callers."""
    return TemplateVersion(
        id=one.id,
        version=one.version,
        status=one.status,
        languages=one.languages,
        variables_schema=one.variables_schema,
        inline_css=one.is_css_inlined,
        note=one.note,
        created_by=one.created_by,
        created_at=one.created_at,
        published_at=one.published_at,
        archived_at=one.archived_at,
    )


def shown_words(template: TemplateRow, version: VersionRow, texts: list[Text]) -> TemplateContent:
    """Return a version with its texts."""
    said = {
        text.language: TemplateText(text.subject, text.html_body, text.text_body) for text in texts
    }
    # The template's language may have changed since.
    main = said.get(template.language) or next(iter(said.values()))
    return TemplateContent(
        version=shown_version(version),
        subject=main.subject,
        html_body=main.html_body,
        text_body=main.text_body,
        translations=said,
    )


def shown_part(one: PartRow) -> TemplatePart:
    """Return a layout or partial in the form shown to callers."""
    return TemplatePart(
        name=one.name,
        kind=one.kind,
        source=one.source,
        is_platform=one.project_id is None,
        updated_by=one.updated_by,
        updated_at=one.updated_at,
    )
