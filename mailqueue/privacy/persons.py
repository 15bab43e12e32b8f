"""Find a person by address or hash, in one project or all, and count their records."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from mailqueue.contract.privacy import MentionCount
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn, Lend
from mailqueue.privacy import store
from mailqueue.privacy.model import Erasure, ProjectName, Table
from mailqueue.privacy.pattern import search_of

_HASH = re.compile(r"[0-9a-f]{64}")


def lending(conn: Conn) -> Lend:
    """Return a function that lends one connection, each time in a transaction of its own."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with conn.transaction():
            yield conn

    return lend


def spellings_of(email: str) -> tuple[str, ...]:
    """Return all spellings of an address.

    Raises:
        InvalidField: it is not an address.
    """
    try:
        return parse_address(email).spellings
    except InvalidAddress as exc:
        raise InvalidField("email", str(exc)) from None


async def projects(conn: Conn, project: str | None) -> list[ProjectName]:
    """Return the project of that name, or all projects.

    Raises:
        NotFound: there is no project of that name.
    """
    found = await store.projects(conn, project)
    if not found and project is not None:
        raise NotFound("project", project)
    return found


async def concerned(conn: Conn, project: str | None, spellings: Sequence[str]) -> list[ProjectName]:
    """Return the project of that name, or, as the schema's owner, all that have records of a
    person.

    Rows without a project are included with any; where no project has records, with the first.

    Raises:
        NotFound: there is no project of that name.
    """
    found = await projects(conn, project)
    if project is not None or len(found) == 1:
        return found
    naming, pattern = set[UUID](), search_of(spellings)
    for table in await store.tables(conn):
        for pages in steps(table):
            some = await store.projects_naming(conn, table.name, pattern=pattern, pages=pages)
            naming.update(some)
    # Archive files take too long to search here.
    known = [one for one in found if one.id in naming or await store.has_archives(conn, one.id)]
    return known or (found[:1] if naming else [])


async def find(conn: Conn, project: ProjectName, who: str) -> tuple[str, ...]:
    """Return the spellings of the address that an address or a hash stands for.

    Raises:
        NotFound: the project knows no address with that hash.
        InvalidField: the text is neither an address nor a hash.
    """
    if "@" in who:
        return spellings_of(who)
    known = who.lower()
    if not _HASH.fullmatch(known):
        raise InvalidField("email_hash", "must be 64 hexadecimal digits, or an address")
    found = await store.find_address(conn, project.id, known)
    if found is None:
        raise NotFound("person with the hash", known)
    try:
        return parse_address(found).spellings
    except InvalidAddress:  # SQL accepts addresses that Python refuses
        return (found,)


async def last_erasure(conn: Conn, project: ProjectName, address_hash: str) -> Erasure:
    """Return the last erasure of a person.

    Raises:
        NotFound: no erasure was requested.
    """
    found = None
    if _HASH.fullmatch(address_hash.lower()):
        found = await store.find_last(conn, project.id, address_hash.lower())
    if found is None:
        raise NotFound("erasure of", address_hash[:100])
    return found


async def count(lend: Lend, project: ProjectName, spellings: Sequence[str]) -> list[MentionCount]:
    """Return the number of rows of each table that name a person; nothing is changed."""
    pattern = search_of(spellings)
    async with lend() as conn:
        tables = await store.tables(conn)
    rows: dict[str, int] = {}
    settings = {each.parent for each in tables if each.is_settings}
    for table in tables:
        for pages in steps(table):
            async with lend() as conn:
                some = await store.count_mentions(
                    conn, project.id, table.name, pattern=pattern, pages=pages
                )
            rows[table.parent] = rows.get(table.parent, 0) + some
    return [
        MentionCount(project.name, name, some, name in settings)
        for name, some in rows.items()
        if some
    ]


def steps(table: Table) -> list[range]:
    """Return the ranges of pages that are searched in one step each. Pure."""
    return [
        range(first, min(first + table.step, table.pages))
        for first in range(0, table.pages, table.step)
    ]
