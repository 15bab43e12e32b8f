"""Issue, find, show, list, change, rotate and revoke API keys."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.core.errors import InvalidField, NotFound, Unauthorized
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.projects.keys import store
from mailqueue.projects.keys import text as keys_text
from mailqueue.projects.model import EVERY_SCOPE, ApiKey, Caller, IssuedKey, Scope

NAME_CHARACTERS = 100
MAX_REQUESTS_PER_SECOND = 1_000_000
GRACE = timedelta(hours=24)
MAX_GRACE = timedelta(days=90)
LONGEST_LIFE = timedelta(days=3_650)
ALL = 1_000_000
MAX_ACTIVE = 1_000
"""Most keys of a project that are valid at a time."""


async def issue_key(
    conn: Conn,
    project: str,
    name: str,
    *,
    is_test: bool,
    scopes: Collection[str] = EVERY_SCOPE,
    expires_at: datetime | None = None,
    requests_per_second: int | None = None,
) -> IssuedKey:
    """Create a key of a project; only the result holds the key itself.

    Raises:
        InvalidField: the name, the scopes or the rate are invalid.
        NotFound: there is no such project.
        Conflict: the project has an active key of that name.
    """
    _check_name(name)
    _check_rate(requests_per_second)
    chosen = checked_scopes(scopes)
    project_id = await project_id_of(conn, project)
    key = keys_text.new_key(is_test=is_test)
    key_id = await store.issue_key(
        conn,
        project_id,
        name=name,
        key_hash=keys_text.hash_of(key.reveal()),
        hint=keys_text.hint_of(key),
        is_test=is_test,
        scopes=chosen,
        expires_at=expires_at,
        requests_per_second=requests_per_second,
    )
    return IssuedKey(key, await show_key(conn, project_id, key_id))


def not_in_force() -> Unauthorized:
    """Return the error for a key that is unknown, revoked or expired."""
    return Unauthorized("this API key is not valid")


async def in_force(conn: Conn, ids: Collection[UUID]) -> frozenset[UUID]:
    """Return those of these keys that are active now."""
    return frozenset(await store.keys_in_force(conn, ids))


async def find_key(conn: Conn, key: str, *, address: str | None = None) -> Caller | None:
    """Return the caller of a key; None if it is unknown, revoked or expired.

    `address` is the client's IP address, stored as the key's last use.
    """
    if not keys_text.is_well_formed(key):
        return None
    found = await store.find_key(conn, keys_text.hash_of(key), address=address)
    if found is None:
        return None
    return Caller(
        id=found.id,
        project_id=found.project_id,
        project=found.project,
        is_test=found.is_test,
        trap_sender=found.trap_sender,
        name=found.name,
        scopes=frozenset(found.scopes),
        requests_per_second=found.requests_per_second,
        project_requests_per_second=found.project_requests_per_second,
    )


async def id_of_key(conn: Conn, project_id: UUID, name: str) -> UUID:
    """Return the id of the active key of that name, else of the newest one that had it.

    Raises:
        NotFound: there is no such key.
    """
    found = await store.find_named(conn, project_id, name=name)
    if found is None:
        raise NotFound("key", name)
    return found


async def show_key(conn: Conn, project_id: UUID, key_id: UUID) -> ApiKey:
    """Return a key without its secret.

    Raises:
        NotFound: the project has no such key.
    """
    found = await store.read_key(conn, project_id, key_id)
    if found is None:
        raise NotFound("key", key_id)
    return found


async def list_keys(conn: Conn, project: str) -> list[ApiKey]:
    """Return a project's keys, newest first, including revoked ones."""
    project_id = await project_id_of(conn, project)
    return await page_of_keys(conn, project_id, limit=ALL)


async def page_of_keys(
    conn: Conn, project_id: UUID, *, limit: int, before: tuple[datetime, UUID] | None = None
) -> list[ApiKey]:
    """Return up to `limit` keys of a project, newest first, created before the one at that time and
    id.
    """
    at, before_id = before or (None, None)
    return await store.list_keys(conn, project_id, before=at, before_id=before_id, limit=limit)


async def active_keys(conn: Conn, project_id: UUID) -> list[ApiKey]:
    """Return a project's keys that are valid now, newest first."""
    return await store.list_active(conn, project_id, limit=MAX_ACTIVE)


async def change_key(
    conn: Conn, project_id: UUID, key_id: UUID, *, changes: Mapping[str, object]
) -> ApiKey:
    """Change `name` or `requests_per_second` (None: the default) of an active key.

    Raises:
        InvalidField: the field named is invalid.
        NotFound: the project has no such active key.
        Conflict: the project has an active key of that name.
    """
    if "name" in changes:
        _check_name(changes["name"])
    _check_rate(changes.get("requests_per_second"))
    if not await store.change_key(conn, project_id, key_id, changes=changes):
        raise NotFound("key", key_id)
    return await show_key(conn, project_id, key_id)


async def rotate_key(
    conn: Conn, project_id: UUID, key_id: UUID, *, grace: timedelta = GRACE
) -> IssuedKey:
    """Replace an active key; the old one stays valid for the grace period.

    The new key has the same name, scopes and expiry.

    Raises:
        InvalidField: the grace period is negative or too long, or the project has as many valid
            keys as it may have.
        NotFound: the project has no such active key.
    """
    if not timedelta(0) <= grace <= MAX_GRACE:
        raise InvalidField("grace", f"must be 0 to {MAX_GRACE.days} days")
    old = await show_key(conn, project_id, key_id)
    expires_at = None
    if old.expires_at is not None:
        expires_at = datetime.now(UTC) + min(old.expires_at - old.created_at, LONGEST_LIFE)
    key = keys_text.new_key(is_test=old.is_test)
    new_id = await store.rotate_key(
        conn,
        project_id,
        key_id,
        key_hash=keys_text.hash_of(key.reveal()),
        hint=keys_text.hint_of(key),
        grace=grace,
        expires_at=expires_at,
    )
    if new_id is None:
        raise NotFound("key", f"{key_id} in force")
    return IssuedKey(key, await show_key(conn, project_id, new_id))


async def revoke_key(conn: Conn, project: str, name: str, *, reason: str | None = None) -> None:
    """Revoke the active key of that name.

    Raises:
        NotFound: the project has no active key of that name.
    """
    project_id = await project_id_of(conn, project)
    key_id = await id_of_key(conn, project_id, name)
    if not await store.revoke_key(conn, project_id, key_id, reason=reason):
        raise NotFound("key", name)


async def revoke_key_by_id(
    conn: Conn, project_id: UUID, key_id: UUID, *, reason: str | None = None
) -> None:
    """Revoke a key; one that is revoked already is left unchanged.

    Raises:
        NotFound: the project has no such key.
    """
    await show_key(conn, project_id, key_id)
    await store.revoke_key(conn, project_id, key_id, reason=reason)


def checked_scopes(scopes: Collection[str]) -> list[Scope]:
    """Return the scopes in their canonical order.

    Raises:
        InvalidField: the list is empty, or a scope is unknown.
    """
    known = [scope for scope in Scope if scope in scopes]
    if not known or len(known) != len(set(scopes)):
        raise InvalidField("scopes", f"must be one or more of {', '.join(Scope)}")
    return known


def _check_name(name: object) -> None:
    is_fine = isinstance(name, str) and name.strip() and name.isprintable()
    if not is_fine or len(str(name)) > NAME_CHARACTERS:
        why = f"must be 1 to {NAME_CHARACTERS} printable characters, got {name!r}"
        raise InvalidField("name", why)


def _check_rate(rate: object) -> None:
    if rate is not None and not (isinstance(rate, int) and 1 <= rate <= MAX_REQUESTS_PER_SECOND):
        why = f"must be 1 to {MAX_REQUESTS_PER_SECOND} requests a second, got {rate!r}"
        raise InvalidField("requests_per_second", why)
