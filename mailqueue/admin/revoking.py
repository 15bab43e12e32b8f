"""Revoke API keys after a security incident, over all projects."""

from mailqueue.admin import store
from mailqueue.contract.admin import RevokedKey
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects.keys import text as keys_text


async def revoke(
    conn: Conn,
    *,
    by: str,
    reason: str,
    project: str | None = None,
    prefix: str | None = None,
    key: str | None = None,
    is_all: bool = False,
) -> list[RevokedKey]:
    """Revoke the keys that match all given filters, at once, and return them.

    `key` is a whole key, such as one found in public; `prefix` the first characters of keys, as
    shown in lists. Without any filter `is_all` must be true.

    Raises:
        InvalidField: no filter is given, or one cannot match any key.
    """
    if not reason.strip():
        raise InvalidField("reason", "must name a reason")
    is_narrow = any(each is not None for each in (project, prefix, key))
    if is_narrow == is_all:
        raise InvalidField("all", "must have one of project, prefix, key and all")
    if prefix is not None and not 1 <= len(prefix) <= keys_text.HINT_CHARACTERS:
        why = f"must have 1 to {keys_text.HINT_CHARACTERS} characters; pass a whole key as key"
        raise InvalidField("prefix", why)
    if key is not None and not keys_text.is_well_formed(key):
        raise InvalidField("key", "is not a whole key of this installation")
    return await store.revoke_keys(
        conn,
        project=project,
        prefix=prefix,
        key_hash=None if key is None else keys_text.hash_of(key),
        reason=reason,
        by=by,
    )
