"""Create, find, list and revoke administrators with a token of this installation."""

import re
from datetime import datetime

from mailqueue.admin import store
from mailqueue.admin.model import NewAdministrator
from mailqueue.contract.admin import Administrator
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects.keys import text as keys_text

PREFIX = "mq_admin_"
_TOKEN = re.compile(rf"{PREFIX}[0-9A-Za-z]{{49}}")
_HINT_CHARACTERS = len(PREFIX) + 4


def may_be_token(text: str) -> bool:
    """Return whether a text has the form of an administrator's token. Pure."""
    return _TOKEN.fullmatch(text) is not None and keys_text.has_checksum(text)


async def create(
    conn: Conn, name: str, *, by: str, expires_at: datetime | None = None
) -> NewAdministrator:
    """Create an administrator; the result holds the token, which is not stored.

    Raises:
        InvalidField: the name is empty or in use, or `expires_at` lies in the past.
    """
    token = keys_text.new_secret(PREFIX)
    made = await store.add_administrator(
        conn,
        name,
        token_hash=keys_text.hash_of(token.reveal()),
        hint=token.reveal()[:_HINT_CHARACTERS],
        expires_at=expires_at,
        by=by,
    )
    record = next(each for each in await store.list_administrators(conn) if each.id == made)
    return NewAdministrator(token, record)


async def find(conn: Conn, token: str) -> str | None:
    """Return the name of the administrator with that token; None unless it is valid."""
    if not may_be_token(token):
        return None
    return await store.find_administrator(conn, keys_text.hash_of(token))


async def list_all(conn: Conn) -> list[Administrator]:
    """Return administrators, newest first, including revoked ones."""
    return await store.list_administrators(conn)


async def revoke(conn: Conn, name: str, *, by: str) -> None:
    """Revoke an administrator's token, at once.

    Raises:
        NotFound: there is no active administrator of that name.
    """
    if not await store.revoke_administrator(conn, name, by=by):
        raise NotFound("administrator", name)
