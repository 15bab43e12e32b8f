"""Rows that wait for a kind of worker which does not run are reported at once."""

from collections.abc import Awaitable, Callable

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.test_health import troubles
from tests.webhooks.delivering import told, webhook
from tests.webhooks.settling import URL

pytestmark = pytest.mark.anyio


async def waiting_delivery(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn)
    await conn.execute("UPDATE mailqueue.webhook_deliveries SET run_at = now() - interval '20 s'")


async def waiting_report(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.inbound_events (provider, body, run_at)"
        " VALUES ('ses', '{}', now() - interval '20 s')"
    )


@pytest.mark.parametrize(
    ("check", "queue", "waits"),
    [
        ("webhook backlog", "webhooks", waiting_delivery),
        ("reports of providers", "inbound", waiting_report),
    ],
)
async def test_a_kind_of_worker_that_does_not_run_is_named(
    database: DatabaseSettings,
    check: str,
    queue: str,
    waits: Callable[[Conn], Awaitable[None]],
) -> None:
    async with connect(database) as conn:
        await make.sender_account(conn)
        await waits(conn)
        state, found, fix = (await troubles(conn))[check]
        assert state == "warning"
        assert "no worker" in found
        assert "start a worker: mailqueue worker" in fix

        await make.worker(conn, kind="other")
        assert check in await troubles(conn), "a worker of another queue"
        await make.worker(conn, kind="inbound+webhooks", queues=("inbound", "webhooks"))
        assert check not in await troubles(conn)
