"""Addresses that earlier releases stored with unsubscribes become networks."""

from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio
MIGRATION = next(Path("sql/migrations").glob("*_unsubscribe_networks.sql"))
TRIGGER = "ALTER TABLE mailqueue.unsubscribe_list {} TRIGGER unsubscribe_list_suppress"


async def test_stored_addresses_become_networks_and_suppress_no_address_again(conn: Conn) -> None:
    await conn.execute(TRIGGER.format("DISABLE").encode())
    await conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (project_id, project, email, ip_address)"
        " SELECT p.id, NULL, 'p' || g.n || '@example.com', g.ip::inet FROM mailqueue.projects AS p,"
        " (VALUES (1, '203.0.113.7'), (2, '2001:db8:1:2::3'), (3, NULL)) AS g (n, ip)"
        " WHERE p.name = 'default'"
    )
    await conn.execute(TRIGGER.format("ENABLE").encode())

    await conn.execute(MIGRATION.read_text().encode())

    stored = "SELECT u.ip_address::text FROM mailqueue.unsubscribe_list AS u ORDER BY u.email"
    assert await make.rows(conn, stored) == [("203.0.113.0/24",), ("2001:db8:1::/48",), (None,)]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 0
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('p4@example.com')")
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 1
