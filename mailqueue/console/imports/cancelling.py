"""The page that cancels an import; it says first what stays."""

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.imports.pages import PATH
from mailqueue.db.fetch import Conn
from mailqueue.imports import requests
from mailqueue.web.rendering import counted


async def preview(context: PageContext, conn: Conn) -> ActPreview:
    """Return what a cancellation leaves."""
    import_id = context.id_in_path("import_id", "import")
    found = await requests.find(conn, context.seen.id, None, import_id)
    read = counted(found.lines_read, "line")
    return ActPreview(
        f"{found.kind} of {found.file_name or 'a file'}",
        f"No more lines are taken, and the file is deleted. {read} of at most {found.lines:,} "
        "were read so far; what was taken of them stays.",
    )


async def cancel(context: PageContext, conn: Conn) -> str:
    """Cancel the import."""
    import_id = context.id_in_path("import_id", "import")
    await requests.cancel(conn, context.seen.id, None, import_id, by=context.user.by)
    return project_path(context.seen.name, "imports", import_id)


PAGES = button_pages(
    f"{PATH}/{{import_id}}/cancel",
    Right.MANAGE_RECIPIENTS,
    ActPage("Cancel the import", "Cancel the import", preview, cancel, is_destructive=True),
)
