"""Templates of a project or of the platform, and one of them: versions and the published text."""

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.templates.owner import (
    PLATFORM,
    PLATFORM_TEMPLATE,
    PROJECT,
    PROJECT_TEMPLATE,
    connection,
    find_template,
    owner_of,
    path_of,
)
from mailqueue.core.paging import cursor_of, key_of
from mailqueue.templates import versions, writing

PAGE_ROWS = 50
VERSIONS = 50
"""Newest versions that are listed."""
DONE = {
    "created": "The template was created. Write a version, and publish it.",
    "changed": "The template was changed.",
    "version": "The version was stored as a draft. Publish it so that emails use it.",
    "published": "The version was published. Emails accepted from now on use it.",
    "archived": "The version was archived.",
    "copied": "The template was copied. The project uses its own from now on.",
    "copied_here": "This is the copy. Its published version is the one that was copied.",
    "removed": "The template was deleted.",
    "before": "This was done before, and was not done again.",
}


async def show_list(context: PageContext) -> Response:
    """List templates by slug; those of a project with those of the platform that it may use."""
    text = context.query("q")
    (after,) = key_of(context.query("after") or None, str)
    async with connection(context) as conn:
        found = await writing.list_all(
            conn, owner_of(context), q=text or None, after=after, limit=PAGE_ROWS + 1
        )
    shown = found[:PAGE_ROWS]
    following = cursor_of(shown[-1].slug) if len(found) > PAGE_ROWS else None
    return context.page(
        "templates/list.html",
        templates=shown,
        text=text,
        following=following,
        path_of=path_of,
        done=DONE.get(context.query("done"), ""),
    )


async def show_template(context: PageContext) -> Response:
    """Show one template, its versions and what the published one says."""
    async with connection(context) as conn:
        template = await find_template(context, conn)
        listed = await versions.list_all(conn, template, limit=VERSIONS)
        shown = next((each for each in listed if each.version == template.published), None)
        texts = await versions.texts_of(conn, shown) if shown else []
    return context.page(
        "templates/template.html",
        found=template,
        versions=listed,
        shown=shown,
        texts=texts,
        path_of=path_of,
        done=DONE.get(context.query("done"), ""),
    )


PAGES = (
    ConsolePage("GET", PROJECT, Right.READ, show_list, menu=MenuEntry("Templates", "Mail")),
    ConsolePage("GET", PROJECT_TEMPLATE, Right.READ, show_template),
    ConsolePage("GET", PLATFORM, Right.ADMINISTER, show_list, menu=MenuEntry("Templates")),
    ConsolePage("GET", PLATFORM_TEMPLATE, Right.ADMINISTER, show_template),
)
