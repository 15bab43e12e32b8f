"""Contacts that several connections add to a list at once are asked to confirm once."""

import asyncio
from uuid import UUID

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people

pytestmark = pytest.mark.anyio


async def test_contacts_that_several_add_at_once_are_asked_once(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        await people.list_of(conn, project, opt_in="confirmed")
        ids = await people.added(conn, project, "ann@example.com", "bob@example.com")
        await _add(database, project, ids)
        later = "UPDATE mailqueue.list_confirmations SET created_at = created_at - interval '2 h'"
        await conn.execute(later)

        await asyncio.gather(*[_add(database, project, ids[:: 1 - n % 2 * 2]) for n in range(10)])

        query = "SELECT count(*) FROM mailqueue.list_confirmations GROUP BY contact_id"
        assert await make.rows(conn, query) == [(2,), (2,)]


async def _add(database: DatabaseSettings, project: UUID, ids: list[UUID]) -> None:
    async with connect(database) as conn:
        await conn.execute("SELECT mailqueue.add_list_members(%s, 'news', %s)", (project, ids))
