"""The imports of a project: their progress, and the lines that they refused."""

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.imports import requests
from mailqueue.web.forms import uuid_of

PATH = "/console/projects/{project}/imports"
PAGE_ROWS = 20
UNFINISHED = frozenset({"waiting", "running"})
"""States of an import whose page looks for changes."""


async def show_imports(context: PageContext) -> Response:
    """List the imports of a project, newest first."""
    before = uuid_of(context.query("before"))
    async with context.connection() as conn:
        found = await requests.page(conn, context.seen.id, None, before=before, limit=PAGE_ROWS + 1)
    return context.page(
        "imports/list.html",
        imports=found[:PAGE_ROWS],
        following=found[PAGE_ROWS - 1].id if len(found) > PAGE_ROWS else None,
    )


async def show_import(context: PageContext) -> Response:
    """Show one import and its progress; a script asks for it again and again."""
    import_id = context.id_in_path("import_id", "import")
    async with context.connection() as conn:
        found = await requests.find(conn, context.seen.id, None, import_id)
    return context.page("imports/import.html", one=found, is_live=found.state in UNFINISHED)


PAGES = (
    ConsolePage("GET", PATH, Right.MANAGE_RECIPIENTS, show_imports),
    ConsolePage("GET", f"{PATH}/{{import_id}}", Right.MANAGE_RECIPIENTS, show_import),
)
