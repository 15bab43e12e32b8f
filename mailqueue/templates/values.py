"""Templates, their versions and parts as callers see them."""

from mailqueue.contract.templates import (
    Template,
    TemplateContent,
    TemplatePart,
    TemplateText,
    TemplateVersion,
)
from mailqueue.templates.model import PartRow, StoredText, TemplateRow, VersionRow


def template_of(row: TemplateRow) -> Template:
    """Return a template."""
    return Template(
        id=row.id,
        slug=row.slug,
        name=row.name,
        description=row.description,
        category=row.category,
        language=row.language,
        is_platform=row.project_id is None,
        published_version=row.published,
        newest_version=row.newest,
        created_by=row.created_by,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def version_of(row: VersionRow) -> TemplateVersion:
    """Return a version, without its content."""
    return TemplateVersion(
        id=row.id,
        version=row.version,
        status=row.status,
        languages=row.languages,
        variables_schema=row.variables_schema,
        inline_css=row.is_css_inlined,
        note=row.note,
        created_by=row.created_by,
        created_at=row.created_at,
        published_at=row.published_at,
        archived_at=row.archived_at,
    )


def content_of(
    template: TemplateRow, version: VersionRow, texts: list[StoredText]
) -> TemplateContent:
    """Return a version with its texts."""
    texts_by_language = {
        text.language: TemplateText(text.subject, text.html_body, text.text_body) for text in texts
    }
    # The language of a template may have changed since.
    main = texts_by_language.get(template.language) or next(iter(texts_by_language.values()))
    return TemplateContent(
        version=version_of(version),
        subject=main.subject,
        html_body=main.html_body,
        text_body=main.text_body,
        translations=texts_by_language,
    )


def part_of(row: PartRow) -> TemplatePart:
    """Return a layout or partial."""
    return TemplatePart(
        name=row.name,
        kind=row.kind,
        source=row.source,
        is_platform=row.project_id is None,
        updated_by=row.updated_by,
        updated_at=row.updated_at,
    )
