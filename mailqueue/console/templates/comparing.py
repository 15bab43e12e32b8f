"""Two versions of a template side by side: what differs in subject, HTML and text."""

from functools import partial

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.templates.beside import MAX_ROWS, Compared, compared
from mailqueue.console.templates.owner import (
    PLATFORM_TEMPLATE,
    PROJECT_TEMPLATE,
    connection,
    find_template,
    find_version,
    path_of,
)
from mailqueue.console.templates.pages import VERSIONS
from mailqueue.core.errors import InvalidField
from mailqueue.templates import previews, versions
from mailqueue.templates.model import TemplateRow
from mailqueue.web.rendering import sentence


async def show_comparison(context: PageContext) -> Response:
    """Show what differs; without numbers, the newest version and the published one before it."""
    typed = {name: context.query(name) for name in ("from", "to", "language")}
    async with connection(context) as conn:
        template = await find_template(context, conn)
        listed = await versions.list_all(conn, template, limit=VERSIONS)
    typed["to"] = typed["to"] or str(template.newest or "")
    typed["from"] = typed["from"] or _before(template, typed["to"])
    parts: list[Compared] | None = None
    faults = {}
    try:
        if typed["from"] and typed["to"]:
            parts = await _compared(context, template, typed["from"], typed["to"])
    except InvalidField as exc:
        faults = {exc.field: sentence(exc.why)}
    return context.form_page(
        "templates/compare.html",
        typed,
        faults,
        found=template,
        versions=listed,
        languages=sorted({tag for each in listed for tag in each.languages}),
        parts=parts,
        most=MAX_ROWS,
        path_of=path_of,
    )


def _before(template: TemplateRow, number: str) -> str:
    """Return the version with which another one is compared by default; empty: there is none."""
    if not number.isascii() or not number.isdigit() or int(number) < 2:
        return ""
    published = template.published
    before = published if published and published < int(number) else int(number) - 1
    return str(before)


async def _compared(
    context: PageContext, template: TemplateRow, old: str, new: str
) -> list[Compared]:
    """Return the parts that differ.

    Raises:
        NotFound: there is no such version.
        InvalidField: one has no text in the language of the query.
        Unavailable: comparing them takes too long.
    """
    async with connection(context) as conn:
        both = [await find_version(conn, template, each) for each in (old, new)]
    diff = await previews.diff(
        partial(connection, context),
        context.console.compile_process,
        template,
        *both,
        language=context.query("language") or None,
    )
    return compared(diff)


PAGES = (
    ConsolePage("GET", f"{PROJECT_TEMPLATE}/compare", Right.READ, show_comparison),
    ConsolePage("GET", f"{PLATFORM_TEMPLATE}/compare", Right.ADMINISTER, show_comparison),
)
