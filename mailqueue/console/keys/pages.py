"""The API keys of a project, and one of them."""

from datetime import UTC, datetime
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.paging import cursor_of, key_of
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.projects.model import ApiKey

PATH = "/console/projects/{project}/keys"
KEY = f"{PATH}/{{key_id}}"
PAGE_ROWS = 50
DONE = {
    "revoked": "The key was revoked. Programs that use it are refused from now on.",
    "before": "This was done before, and was not done again. A key is shown only once.",
}


async def show_list(context: PageContext) -> Response:
    """List keys, newest first."""
    at, key_id = key_of(context.query("after") or None, datetime, UUID)
    before = None if at is None else (at, key_id)
    async with context.connection() as conn:
        found = await keys_manage.page_of_keys(
            conn, context.seen.id, limit=PAGE_ROWS + 1, before=before
        )
    shown = found[:PAGE_ROWS]
    last = shown[-1] if len(found) > PAGE_ROWS else None
    return context.page(
        "keys/list.html",
        keys=[(key, status_of(key)) for key in shown],
        following=None if last is None else cursor_of(last.created_at, last.id),
        is_first=before is None,
        done=DONE.get(context.query("done"), ""),
    )


async def show_key(context: PageContext) -> Response:
    """Show one key: what it may do, who made it, when it was used, and who revoked it."""
    key = await find_key(context)
    return context.page(
        "keys/key.html", key=key, state=status_of(key), done=DONE.get(context.query("done"), "")
    )


async def find_key(context: PageContext) -> ApiKey:
    """Return the key in the path.

    Raises:
        NotFound: the project has no such key.
    """
    async with context.connection() as conn:
        return await keys_manage.show_key(conn, context.seen.id, key_id_of(context))


def key_id_of(context: PageContext) -> UUID:
    """Return the id of the key in the path.

    Raises:
        NotFound: the value is not an id.
    """
    return context.id_in_path("key_id", "key")


def status_of(key: ApiKey) -> str:
    """Return the state of a key now: active, rotated, expired or revoked."""
    # Maintenance marks expired keys as revoked, at the time of their expiry.
    has_expired = key.revoked_at is not None and key.revoked_at == key.expires_at
    return "expired" if has_expired else key.status(datetime.now(UTC))


PAGES = (
    ConsolePage("GET", PATH, Right.MANAGE_KEYS, show_list, menu=MenuEntry("API keys", "Programs")),
    ConsolePage("GET", KEY, Right.MANAGE_KEYS, show_key),
)
