"""Which API keys a security incident puts out of force, over all projects."""

from mailqueue.administration import store
from mailqueue.contract.administration import RevokedKey
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.tenants.keys import text as keys_text


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
    """Put keys out of force at once and return them: those that fit all that is said.

    `key` is a whole key that somebody found somewhere; `prefix` the first characters of keys, as
    far as lists show them. `is_all` has to be said where nothing else is.

    Raises:
        InvalidField: nothing is said, or what is said can be no key's.
    """
    if not reason.strip():
        raise InvalidField("reason", "say why the keys are revoked")
    is_narrow = any(each is not None for each in (project, prefix, key))
    if is_narrow == is_all:
        raise InvalidField("all", "name a project, prefix or key, or else say all, and only one")
    if prefix is not None and not 1 <= len(prefix) <= keys_text.HINT_CHARACTERS:
        why = f"must have 1 to {keys_text.HINT_CHARACTERS} characters; a whole key is given as key"
        raise InvalidField("prefix", why)
    if key is not None and not keys_text.is_well_formed(key):
        raise InvalidField("key", "is no whole key of ours")
    return await store.revoke_keys(
        conn,
        project=project,
        prefix=prefix,
        key_hash=None if key is None else keys_text.hash_of(key),
        reason=reason,
        by=by,
    )
