"""Create, find, rename and revoke API keys for the compatible APIs, by the rules of our own API.

A key that the vendor would have removed is one that is revoked or expired here: it is not shown.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import NotFound
from mailqueue.projects.keys import manage as keys_manage
from mailqueue.projects.keys.reach import check_reach
from mailqueue.projects.model import ApiKey, IssuedKey

MAX_NAME_CHARACTERS = keys_manage.NAME_CHARACTERS
_GONE = ("revoked", "expired")


async def add_key(
    call: RequestContext,
    name: str,
    scopes: Collection[str],
    *,
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Create a key of the mode of the caller's; without `expires_at` it never expires.

    Raises:
        Forbidden: it would have a scope that the caller lacks.
        InvalidField: the name is invalid, or the project has as many keys as it may have.
        Conflict: the project has a key of that name.
    """
    is_test = call.caller.is_test
    check_reach(call.caller, scopes, is_test=is_test)
    async with call.connection() as conn:
        return await keys_manage.issue_key(
            conn,
            call.caller.project,
            name,
            is_test=is_test,
            scopes=scopes,
            expires_at=expires_at,
        )


async def all_keys(call: RequestContext) -> list[ApiKey]:
    """Return the project's valid keys, newest first."""
    async with call.connection() as conn:
        return await keys_manage.active_keys(conn, call.caller.project_id)


async def key_in_path(call: RequestContext) -> ApiKey:
    """Return the valid key that the path names by `key_id`.

    Raises:
        NotFound: the project has no such key.
    """
    key_id = call.id("key_id")
    async with call.connection() as conn:
        found = await keys_manage.show_key(conn, call.caller.project_id, key_id)
    if found.status(datetime.now(UTC)) in _GONE:
        raise NotFound("key", key_id)
    return found


async def rename_key(call: RequestContext, one: ApiKey, name: str) -> ApiKey:
    """Change the name of a key.

    Raises:
        InvalidField: the name is invalid.
        NotFound: the key was rotated, or revoked meanwhile.
        Conflict: the project has a key of that name.
    """
    async with call.connection() as conn:
        changed = await keys_manage.change_key(
            conn, call.caller.project_id, one.id, changes={"name": name}
        )
    call.runtime.callers.forget()
    return changed


async def revoke_key(call: RequestContext, one: ApiKey) -> None:
    """Revoke a key: it is refused from now on."""
    async with call.connection() as conn:
        await keys_manage.revoke_key_by_id(conn, call.caller.project_id, one.id)
    call.runtime.callers.forget()


async def replace_key(call: RequestContext, one: ApiKey) -> IssuedKey:
    """Replace a key by a new one of its name and scopes: the old one is refused from now on.

    Raises:
        Forbidden: it has a scope that the caller lacks.
        InvalidField: the project has as many keys as it may have.
        NotFound: the key was replaced or revoked meanwhile.
    """
    check_reach(call.caller, one.scopes, is_test=one.is_test)
    async with call.connection() as conn:
        made = await keys_manage.rotate_key(
            conn, call.caller.project_id, one.id, grace=timedelta(0)
        )
    call.runtime.callers.forget()
    return made
