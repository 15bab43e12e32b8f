"""Layouts and partials, which templates extend and include: listed, shown, written and deleted."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.page import SOURCE_BYTES, SOURCE_CHARACTERS, ConsolePage
from mailqueue.console.templates.owner import (
    OWNERS,
    PLATFORM,
    TemplateOwner,
    connection,
    owner_of,
    path_of,
)
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import writing
from mailqueue.templates.model import PartKind, PartRow
from mailqueue.web.schemas import Choices, FormSchema, TextLines

DONE = {
    "stored": "It was stored. Versions that are written from now on use it.",
    "removed": "It was deleted. Versions that use it keep it.",
    "before": "This was done before, and was not done again.",
}
_KINDS = {
    PartKind.LAYOUT: "layout, which bodies extend",
    PartKind.PARTIAL: "partial, which bodies include",
}


def _as_typed(source: str) -> str:
    """Return a text with the line breaks of its author: browsers send two characters for each."""
    return source.replace("\r\n", "\n")


class PartForm(FormSchema):
    """The form of a layout or partial."""

    kind: Annotated[PartKind, Choices(_KINDS)] = PartKind.PARTIAL
    """Kind"""
    source: Annotated[
        str,
        TextLines(),
        StringConstraints(strip_whitespace=False),
        Field(max_length=SOURCE_CHARACTERS),
        BeforeValidator(_as_typed),
    ]
    """Source:
    HTML or text with Jinja2; a layout has blocks, such as {% block content %}{% endblock %}"""


class PartNameForm(FormSchema):
    """The name of a layout or partial."""

    name: Annotated[str, Field(max_length=100)]
    """Name, by which bodies name it: lower-case letters, digits, ., _, / and -"""


class NewPartForm(PartForm, PartNameForm):
    """The form of a new layout or partial: its name first."""


async def show_list(context: PageContext) -> Response:
    """List layouts and partials by name; those of a project with those of the platform."""
    async with connection(context) as conn:
        found = await writing.list_parts(conn, owner_of(context), with_sources=False)
    return context.page(
        "templates/parts.html",
        parts=found,
        path_of=path_of,
        done=DONE.get(context.query("done"), ""),
    )


async def show_part(context: PageContext) -> Response:
    """Show the source of a layout or partial."""
    async with connection(context) as conn:
        found = await _find(context, conn)
    return context.page(
        "templates/part.html",
        part=found,
        most=SOURCE_CHARACTERS,
        path_of=path_of,
        done=DONE.get(context.query("done"), ""),
    )


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the layout or partial of the path."""
    return (await _find_own(context, conn)).name


async def first(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of a layout or partial holds at first."""
    found = await _find_own(context, conn)
    return {"kind": found.kind, "source": found.source}


async def add(context: PageContext, conn: Conn, form: NewPartForm) -> str:
    """Create a layout or partial; return the path of its page.

    Raises:
        InvalidField: there is one of this name.
    """
    owner = owner_of(context)
    listed = await writing.list_parts(conn, owner, with_sources=False)
    if any(each.name == form.name and each.project_id == owner for each in listed):
        raise InvalidField("name", "there is a layout or partial of this name")
    return await _put(context, conn, form.name, form)


async def change(context: PageContext, conn: Conn, form: PartForm) -> str:
    """Replace the source of a layout or partial; return the path of its page."""
    found = await _find_own(context, conn)
    return await _put(context, conn, found.name, form)


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends with a layout or partial."""
    found = await _find_own(context, conn)
    return ActPreview(
        found.name,
        "Versions that use it keep it; none that is written from now on can name it. "
        "It cannot be undone.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Delete the layout or partial; return the path of the list."""
    found = await _find_own(context, conn)
    await writing.remove_part(conn, owner_of(context), name=found.name, by=context.user.by)
    return path_of(context, "parts", done="removed")


async def _put(context: PageContext, conn: Conn, name: str, form: PartForm) -> str:
    owner, by = owner_of(context), context.user.by
    made = await writing.put_part(conn, owner, name=name, kind=form.kind, source=form.source, by=by)
    return path_of(context, "parts", made, done="stored")


async def _find(context: PageContext, conn: Conn) -> PartRow:
    """Return the layout or partial in the path, also one of the platform that a project uses.

    Raises:
        NotFound: there is none.
    """
    name = "platform_part" if context.project is None else "part_id"
    part_id = context.id_in_path(name, "layout or partial")
    return await writing.find_part(conn, owner_of(context), part_id=part_id)


async def _find_own(context: PageContext, conn: Conn) -> PartRow:
    """Return the layout or partial in the path, to be changed.

    Raises:
        NotFound: there is none, or it is one of the platform that a project uses.
    """
    found = await _find(context, conn)
    if found.project_id != owner_of(context):
        raise NotFound("layout or partial", found.id)
    return found


def _pages(owner: TemplateOwner) -> tuple[ConsolePage, ...]:
    path, is_platform = f"{owner.path}/parts", owner.path == PLATFORM
    part = f"{path}/{{platform_part}}" if is_platform else f"{path}/{{part_id}}"
    read = Right.ADMINISTER if is_platform else Right.READ
    return (
        ConsolePage("GET", path, read, show_list),
        ConsolePage("GET", part, read, show_part),
        *form_pages(
            f"{path}/new",
            owner.right,
            FormPage(
                "Create a layout or partial",
                "Store the source",
                NewPartForm,
                add,
                lead="Templates share it: a change is written once, and reaches the versions that "
                "are written from then on.",
                on_installation=is_platform,
            ),
            max_fields_bytes=SOURCE_BYTES,
        ),
        *form_pages(
            f"{part}/change",
            owner.right,
            FormPage(
                "Change the layout or partial",
                "Save the source",
                PartForm,
                change,
                consequence="Versions that were written before keep what they have: write a new "
                "version of a template for it to use the change.",
                on_installation=is_platform,
                named=name,
                first=first,
            ),
            max_fields_bytes=SOURCE_BYTES,
        ),
        *button_pages(
            f"{part}/remove",
            owner.right,
            ActPage(
                "Delete the layout or partial",
                "Delete the layout or partial",
                preview_removal,
                remove,
                is_destructive=True,
                on_installation=is_platform,
            ),
            step_up=True,
        ),
    )


PAGES = tuple(page for owner in OWNERS for page in _pages(owner))
