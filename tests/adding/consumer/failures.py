"""Addresses of failed mail are suppressed once, without a webhook, and not of test mail."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.stream import consumers
from tests import make
from tests.stream.reading import read_stream

pytestmark = pytest.mark.anyio
EVENT = (
    "INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, is_test)"
    " VALUES (%s, gen_random_uuid(), %s, %s, %s)"
)


async def test_failed_addresses_are_suppressed(conn: Conn) -> None:
    project = await make.project_named(conn)
    await conn.execute(EVENT, (project, "failed", "ann@example.com", False))
    await conn.execute(EVENT, (project, "failed", "test@example.com", True))
    await conn.execute(EVENT, (project, "delivered", "bob@example.com", False))
    query = "SELECT type FROM mailqueue.event_stream ORDER BY sequence_number"
    assert [row[0] for row in await make.rows(conn, query)] == ["email.failed"] * 2
    [state] = [one for one in await consumers.list_all(conn) if one.name == "failures"]
    assert state.waiting == 2

    await read_stream(conn)

    found = await make.rows(conn, "SELECT address FROM mailqueue.suppressions")
    assert found == [("ann@example.com",)]
    [state] = [one for one in await consumers.list_all(conn) if one.name == "failures"]
    assert state.waiting == 0
