"""Search by an id, a Message-ID, an id at a provider, an address, or the beginning of a name."""

from uuid import UUID

from mailqueue.contract.search import Match
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import search as store

MAX_CHARACTERS = 500
"""Characters of a part of a subject or address that is searched."""
MAX_MATCHES = 20
"""Matches of each kind that a search returns."""


async def search(conn: Conn, text: str, *, limit: int = MAX_MATCHES) -> list[Match]:
    """Return what a text names in all projects, by kind: emails first, templates last."""
    return await store.search(conn, _storable(text), limit=limit)


async def search_for_user(
    conn: Conn, user: UUID, text: str, *, limit: int = MAX_MATCHES
) -> list[Match]:
    """Return what a text names in the projects that a user of the console sees."""
    return await store.search_of_user(conn, user, _storable(text), limit=limit)


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd")
