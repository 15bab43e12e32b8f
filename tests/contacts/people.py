"""Contacts and lists for tests."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make


async def put(
    conn: Conn,
    project: UUID,
    email: str | None = "ann@example.com",
    *,
    id_: UUID | None = None,
    must_be_new: bool | None = None,
    is_test: bool = False,
    **given: object,
) -> dict[str, Any] | None:
    """Add the contact of an address or change it; return its row, None for no row."""
    fields = given if email is None else {"email": email, **given}
    async with conn.transaction():
        if is_test:
            await conn.execute("SET LOCAL mailqueue.mode = 'test'")
        found = await make.rows(
            conn,
            "SELECT to_jsonb(c) FROM mailqueue.put_contact(%s, %s, %s, %s) AS c",
            project,
            id_,
            Jsonb(fields),
            must_be_new,
        )
        if is_test:  # of this transaction there may be more
            await conn.execute("SET LOCAL mailqueue.mode = ''")
    return found[0][0] if found else None


async def added(
    conn: Conn, project: UUID, *emails: str, is_test: bool = False, **given: Any
) -> list[UUID]:
    """Return the ids of new contacts with these addresses."""
    found = []
    for email in emails:
        one = await put(conn, project, email, must_be_new=True, is_test=is_test, **given)
        assert one is not None
        found.append(UUID(one["id"]))
    return found


async def list_of(
    conn: Conn,
    project: UUID,
    name: str = "news",
    *,
    members: list[UUID] | None = None,
    **given: str,
) -> UUID:
    """Return the id of a new list, with members."""
    [(found,)] = await make.rows(
        conn,
        "SELECT id FROM mailqueue.put_contact_list(%s, %s, %s, true, 'tests')",
        project,
        name,
        Jsonb(given),
    )
    if members:
        count = await make.scalar(
            conn, "SELECT mailqueue.add_list_members(%s, %s, %s)", project, name, members
        )
        assert count == len(members)
    return UUID(str(found))


async def members(conn: Conn, project: UUID, list_id: UUID, *, chunk: int = 1000) -> list[str]:
    """Return the addresses of a list, read in chunks."""
    found: list[str] = []
    after = None
    while True:
        rows = await make.rows(
            conn,
            "SELECT id, email FROM mailqueue.list_members(%s, %s, %s, %s)",
            project,
            list_id,
            after,
            chunk,
        )
        if not rows:
            return found
        assert len(rows) <= chunk
        found += [email for _, email in rows]
        after = rows[-1][0]
