"""SQL of templates."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from mailqueue.core.errors import Conflict
from mailqueue.db import arrays
from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import templates as sql
from mailqueue.templates.model import PartRow, StoredText, TemplateRow, VersionRow, VersionSource


@contextmanager
def _refused() -> Iterator[None]:
    """Raise an error of ours in place of the database's refusal."""
    try:
        with refusals(otherwise=""):
            yield
    except UniqueViolation as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def add_template(
    conn: Conn, project_id: UUID | None, *, template: Mapping[str, Any], by: str
) -> UUID:
    """Insert a template.

    Raises:
        InvalidField: the field named is invalid.
        Conflict: the slug is taken.
    """
    asked = {"project_id": project_id, "template": Jsonb(dict(template)), "by": by}
    with _refused():
        return await value(conn, sql.ADD_TEMPLATE, asked, UUID)


async def change_template(
    conn: Conn, template_id: UUID, *, changes: Mapping[str, Any], by: str
) -> bool:
    """Change the fields of a template; return False where there is none.

    Raises:
        InvalidField: the field named is invalid.
    """
    asked = {"id": template_id, "changes": Jsonb(dict(changes)), "by": by}
    with _refused():
        return await value(conn, sql.CHANGE_TEMPLATE, asked, bool)


async def remove_template(conn: Conn, template_id: UUID, *, by: str) -> bool:
    """Delete a template with its versions; return False where there is none."""
    return await value(conn, sql.REMOVE_TEMPLATE, {"id": template_id, "by": by}, bool)


async def remove_templates(conn: Conn, ids: Sequence[UUID], *, by: str) -> int:
    """Delete templates with their versions; return the number of those that were there."""
    return await value(conn, sql.REMOVE_TEMPLATES, {"ids": list(ids), "by": by}, int)


async def find_template(
    conn: Conn, project_id: UUID | None, *, slug: str | None, template_id: UUID | None
) -> TemplateRow | None:
    """Return a template by slug or id; the project's own goes before the platform's."""
    asked = {"project_id": project_id, "slug": slug, "id": template_id}
    return await maybe(conn, sql.FIND_TEMPLATE, asked, TemplateRow)


async def list_templates(
    conn: Conn,
    project_id: UUID | None,
    *,
    category: str | None,
    status: str | None,
    q: str | None,
    after: str | None,
    limit: int,
) -> list[TemplateRow]:
    """Return a page of templates by slug, with those of the platform."""
    asked = {
        "project_id": project_id,
        "category": category,
        "status": status,
        "q": q,
        "after": after,
        "limit": limit,
    }
    return await many(conn, sql.LIST_TEMPLATES, asked, TemplateRow)


async def add_version(
    conn: Conn, template_id: UUID, *, version: Mapping[str, Any], by: str
) -> UUID | None:
    """Insert a draft; return None where there is no such template.

    Raises:
        InvalidField: it has no text in the template's language.
    """
    asked = {"template_id": template_id, "version": Jsonb(dict(version)), "by": by}
    with _refused():
        return await maybe(conn, sql.ADD_TEMPLATE_VERSION, asked, UUID)


async def publish(conn: Conn, version_id: UUID, *, sent: Mapping[str, str], by: str) -> bool:
    """Publish a version; return False where there is none."""
    asked = {"version_id": version_id, "sent": Jsonb(dict(sent)), "by": by}
    return await value(conn, sql.PUBLISH_TEMPLATE, asked, bool)


async def archive(conn: Conn, version_id: UUID, *, by: str) -> bool:
    """Archive a version; return False where there is none."""
    return await value(conn, sql.ARCHIVE_TEMPLATE, {"version_id": version_id, "by": by}, bool)


async def list_versions(
    conn: Conn, template_id: UUID, *, before: int | None, limit: int
) -> list[VersionRow]:
    """Return a page of versions, newest first."""
    asked = {"template_id": template_id, "before": before, "limit": limit}
    return await many(conn, sql.LIST_TEMPLATE_VERSIONS, asked, VersionRow)


async def find_version(
    conn: Conn, template_id: UUID, *, number: int | None, version_id: UUID | None
) -> VersionRow | None:
    """Return a version; the published one where none is named."""
    asked = {"template_id": template_id, "number": number, "id": version_id}
    return await maybe(conn, sql.FIND_TEMPLATE_VERSION, asked, VersionRow)


async def find_noted(
    conn: Conn, template_id: UUID, *, note: str, begins: str, before: int | None
) -> int | None:
    """Return the number of the newest version with a note; None where there is none."""
    asked = {"template_id": template_id, "note": note, "begins": begins, "before": before}
    return await maybe(conn, sql.FIND_NOTED_VERSION, asked, int)


async def list_texts(conn: Conn, version_id: UUID) -> list[StoredText]:
    """Return the texts of a version, by language."""
    return await many(conn, sql.LIST_TEMPLATE_TEXTS, {"version_id": version_id}, StoredText)


async def read_sources(conn: Conn, versions: Sequence[tuple[UUID, str]]) -> list[VersionSource]:
    """Return the sources of versions in these languages, as workers need them."""
    asked = {
        "versions": arrays.uuids([version for version, _ in versions]),
        "languages": [language for _, language in versions],
    }
    return await many(conn, sql.READ_VERSION_SOURCES, asked, VersionSource)


async def put_part(
    conn: Conn, project_id: UUID | None, *, name: str, kind: str, source: str, by: str
) -> UUID:
    """Insert or replace a layout or partial.

    Raises:
        InvalidField: the field named is invalid.
    """
    asked = {"project_id": project_id, "name": name, "kind": kind, "source": source, "by": by}
    with _refused():
        return await value(conn, sql.PUT_TEMPLATE_PART, asked, UUID)


async def remove_part(conn: Conn, project_id: UUID | None, *, name: str, by: str) -> bool:
    """Delete a layout or partial; return False where there is none."""
    asked = {"project_id": project_id, "name": name, "by": by}
    return await value(conn, sql.REMOVE_TEMPLATE_PART, asked, bool)


async def list_parts(
    conn: Conn, project_id: UUID | None, *, with_sources: bool = True
) -> list[PartRow]:
    """Return the layouts and partials that a project's templates may name; sources are empty unless
    `with_sources`.
    """
    asked = {"project_id": project_id, "with_sources": with_sources}
    return await many(conn, sql.LIST_TEMPLATE_PARTS, asked, PartRow)


async def find_part(conn: Conn, project_id: UUID | None, *, part_id: UUID) -> PartRow | None:
    """Return a layout or partial of a project, or one of the platform; None if there is none."""
    asked = {"project_id": project_id, "id": part_id}
    return await maybe(conn, sql.FIND_TEMPLATE_PART, asked, PartRow)
