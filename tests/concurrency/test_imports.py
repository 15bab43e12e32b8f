"""Lines of imports lock contacts in the order of all who make mail for them."""

import asyncio

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people
from tests.mail.claim.steps import opened, until_waiting

pytestmark = pytest.mark.anyio

SLOT = "SELECT hashtextextended('contact ' || %s::text || 'false' || %s, 0) & 1023"
"""The row of locks that stands for an address."""


async def test_an_import_waits_for_mail_to_its_contacts_that_is_being_made(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (conn, other):
        project = await make.project_named(conn)
        slots = {
            address: await make.scalar(conn, SLOT, project, address)
            for address in ("ann@example.com", "bob@example.com")
        }
        last, first = sorted(slots, key=slots.__getitem__, reverse=True)
        ids = await people.added(conn, project, last, first)
        lock = "SELECT FROM mailqueue.contacts WHERE id = %s FOR KEY SHARE"
        lines = [{"line": n, "fields": {"email": one}} for n, one in enumerate((first, last))]

        async with conn.transaction():
            await conn.execute(lock, (ids[0],))
            importing = asyncio.create_task(_imported(other, project, lines))
            await until_waiting(conn, other)
            await conn.execute(lock, (ids[1],))

        assert await importing == ["unchanged", "unchanged"]


async def _imported(conn: Conn, project: object, lines: list[dict[str, object]]) -> list[str]:
    query = "SELECT outcome FROM mailqueue.import_contacts(%s, %s, NULL)"
    return [outcome for (outcome,) in await make.rows(conn, query, project, Jsonb(lines))]
