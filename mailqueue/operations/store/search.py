"""SQL of the search."""

from uuid import UUID

from mailqueue.contract.search import Match
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.operations import search as sql


async def search(conn: Conn, text: str, *, limit: int) -> list[Match]:
    """Return what a text names in all projects, at most `limit` of each kind."""
    return await fetch.many(conn, sql.SEARCH, {"text": text, "limit": limit}, Match)


async def search_of_user(conn: Conn, user: UUID, text: str, *, limit: int) -> list[Match]:
    """Return what a text names in the projects that a user of the console sees."""
    values = {"user": user, "text": text, "limit": limit}
    return await fetch.many(conn, sql.SEARCH_OF_USER, values, Match)
