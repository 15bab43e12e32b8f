"""Late deliveries are reported, and old ones are deleted."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.webhooks.model import CallOutcome
from tests import make
from tests.webhooks.delivering import told, webhook
from tests.webhooks.settling import URL, claim, settle

pytestmark = pytest.mark.anyio


async def test_undelivered_events_are_reported_by_health(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn)
    query = "SELECT state FROM mailqueue.health WHERE name = 'webhook backlog'"
    assert await make.scalar(conn, query) == "ok"

    for late, state in (("10 min", "warning"), ("2 h", "alarm")):
        await conn.execute(
            f"UPDATE mailqueue.webhook_deliveries SET run_at = now() - interval '{late}'".encode()
        )
        assert await make.scalar(conn, query) == state


async def test_old_deliveries_are_forgotten_with_what_they_told(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn, 3)
    await settle(conn, await claim(conn, limit=1), CallOutcome.DELIVERED, 200)
    for table in ("webhook_deliveries", "webhook_events"):
        await conn.execute(
            f"UPDATE mailqueue.{table} SET created_at = now() - interval '40 days'".encode()
        )
    await told(conn, 2)

    swept = await make.rows(conn, "SELECT * FROM mailqueue.sweep_webhooks(NULL, 100)")
    events = await make.scalar(conn, "SELECT mailqueue.sweep_webhook_events(100)")

    assert (swept[0][1], events) == (3, 3)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_deliveries") == 2
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_events") == 2
