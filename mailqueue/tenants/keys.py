"""What can be done with API keys: issue, find, list, revoke."""

from datetime import datetime

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.tenants import keytext, store
from mailqueue.tenants.model import ApiKey, Caller, IssuedKey

NAME_CHARACTERS = 100


async def issue_key(
    conn: Conn, project: str, name: str, *, is_test: bool, expires_at: datetime | None = None
) -> IssuedKey:
    """Make a key of a project; the key itself is in the answer and nowhere else.

    Raises:
        InvalidField: the name is empty, too long or not printable.
        NotFound: there is no such project.
        Conflict: the project has a key of that name; names are not used again.
    """
    if not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
        why = f"must be 1 to {NAME_CHARACTERS} printable characters, got {name!r}"
        raise InvalidField("name", why)
    project_id = await store.find_project(conn, project)
    if project_id is None:
        raise NotFound("project", project)
    key = keytext.new_key(is_test=is_test)
    record = await store.add_key(
        conn,
        project_id,
        name=name,
        key_hash=keytext.hash_of(key.reveal()),
        hint=keytext.hint_of(key),
        is_test=is_test,
        expires_at=expires_at,
    )
    return IssuedKey(key, record)


async def find_key(conn: Conn, key: str) -> Caller | None:
    """Find who a key speaks for; None for one that is unknown, revoked or expired."""
    if not keytext.is_well_formed(key):
        return None
    return await store.find_key(conn, keytext.hash_of(key))


async def list_keys(conn: Conn, project: str) -> list[ApiKey]:
    """List a project's keys, newest first, revoked ones too."""
    return await store.list_keys(conn, project)


async def revoke_key(conn: Conn, project: str, name: str) -> None:
    """Put a key out of force from now on.

    Raises:
        NotFound: the project has no key of that name in force.
    """
    if not await store.revoke_key(conn, project, name=name):
        raise NotFound("key", name)
