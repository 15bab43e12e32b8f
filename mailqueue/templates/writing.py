"""Create, change and delete templates and their shared parts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import store
from mailqueue.templates.model import NewTemplate, PartKind, PartRow, TemplateRow

PLATFORM = "platform"
"""The name that commands use for templates of no project."""

MAX_LISTED = 1000


async def create(conn: Conn, project_id: UUID | None, *, new: NewTemplate, by: str) -> TemplateRow:
    """Create a template without a version; with `project_id` None it is one of the platform.

    Raises:
        InvalidField: the field named is invalid.
        Conflict: the slug is taken.
    """
    given = {name: value for name, value in asdict(new).items() if value is not None}
    made = await store.add_template(conn, project_id, template=given, by=by)
    return await find(conn, project_id, template_id=made)


async def find(
    conn: Conn, project_id: UUID | None, *, slug: str | None = None, template_id: UUID | None = None
) -> TemplateRow:
    """Return a template that a project may send: its own, else the platform's.

    Raises:
        NotFound: there is no such template.
    """
    found = await store.find_template(conn, project_id, slug=slug, template_id=template_id)
    if found is None:
        raise NotFound("template", slug or template_id)
    return found


async def find_own(
    conn: Conn, project_id: UUID | None, *, slug: str | None = None, template_id: UUID | None = None
) -> TemplateRow:
    """Return a template that a project may change.

    Raises:
        NotFound: there is no such template, or it is the platform's.
    """
    found = await find(conn, project_id, slug=slug, template_id=template_id)
    if found.project_id != project_id:
        name = slug or template_id
        raise NotFound("template of this project", name, "clone the platform's template first")
    return found


async def list_all(
    conn: Conn,
    project_id: UUID | None,
    *,
    category: str | None = None,
    status: str | None = None,
    q: str | None = None,
    after: str | None = None,
    limit: int = MAX_LISTED,
) -> list[TemplateRow]:
    """Return templates by slug, with those of the platform that the project has not overridden.

    `after` is the last slug of the page before; `q` is searched in slug, name and description.
    """
    return await store.list_templates(
        conn, project_id, category=category, status=status, q=q, after=after, limit=limit
    )


async def change(
    conn: Conn, template: TemplateRow, *, changes: Mapping[str, object], by: str
) -> TemplateRow:
    """Change name, description, category or language of a template.

    Raises:
        InvalidField: the field named is invalid; nothing is changed.
        NotFound: it was deleted meanwhile.
    """
    if not await store.change_template(conn, template.id, changes=changes, by=by):
        raise NotFound("template", template.slug)
    return await find(conn, template.project_id, template_id=template.id)


async def remove(conn: Conn, template: TemplateRow, *, by: str) -> None:
    """Delete a template with its versions; mail accepted before is still rendered.

    Raises:
        NotFound: it was deleted meanwhile.
    """
    if not await store.remove_template(conn, template.id, by=by):
        raise NotFound("template", template.slug)


async def remove_all(conn: Conn, templates: Sequence[TemplateRow], *, by: str) -> int:
    """Delete templates in one statement; return the number of those that were still there."""
    return await store.remove_templates(conn, [one.id for one in templates], by=by)


async def put_part(
    conn: Conn, project_id: UUID | None, *, name: str, kind: PartKind, source: str, by: str
) -> UUID:
    """Create or replace a layout or partial and return its id; existing versions keep the one they
    had.

    Raises:
        InvalidField: the field named is invalid, or there are as many as an owner may have.
    """
    return await store.put_part(conn, project_id, name=name, kind=kind, source=source, by=by)


async def list_parts(
    conn: Conn, project_id: UUID | None, *, with_sources: bool = True
) -> list[PartRow]:
    """Return the layouts and partials that a project's templates may name.

    Sources, which are large, are empty unless `with_sources`.
    """
    return await store.list_parts(conn, project_id, with_sources=with_sources)


async def find_part(conn: Conn, project_id: UUID | None, *, part_id: UUID) -> PartRow:
    """Return a layout or partial of a project, or one of the platform.

    Raises:
        NotFound: there is none of this id.
    """
    found = await store.find_part(conn, project_id, part_id=part_id)
    if found is None:
        raise NotFound("layout or partial", part_id)
    return found


async def remove_part(conn: Conn, project_id: UUID | None, *, name: str, by: str) -> None:
    """Delete a layout or partial; existing versions keep it.

    Raises:
        NotFound: the project has no part of that name.
    """
    if not await store.remove_part(conn, project_id, name=name, by=by):
        raise NotFound("layout or partial", name)
