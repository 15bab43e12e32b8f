"""The page that changes the details of a template."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.templates.owner import OWNERS, PLATFORM, find_own_template, path_of
from mailqueue.db.fetch import Conn
from mailqueue.templates import writing
from mailqueue.web.schemas import FormSchema


class DetailsForm(FormSchema):
    """The details of a template."""

    name: Annotated[str, Field(max_length=200)]
    """Name to display"""
    description: Annotated[str, Field(max_length=2000)] | None = None
    """Description"""
    category: Annotated[str, Field(max_length=63)]
    """Category of its emails"""
    language: Annotated[str, Field(max_length=35)]
    """Language of the next versions"""


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the template of the path."""
    return (await find_own_template(context, conn)).name


async def first(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return the details as they are."""
    found = await find_own_template(context, conn)
    return {name: getattr(found, name) or "" for name in DetailsForm.model_fields}


async def change(context: PageContext, conn: Conn, form: DetailsForm) -> str:
    """Change the details; return the path of the template's page."""
    found = await find_own_template(context, conn)
    await writing.change(conn, found, changes=form.model_dump(), by=context.user.by)
    return path_of(context, found.id, done="changed")


PAGES = tuple(
    page
    for owner in OWNERS
    for page in form_pages(
        f"{owner.template}/change",
        owner.right,
        FormPage(
            "Change the template",
            "Save the details",
            DetailsForm,
            change,
            consequence="Versions stay as they are. Emails accepted from now on have the new "
            "category.",
            on_installation=owner.path == PLATFORM,
            named=name,
            first=first,
        ),
    )
)
