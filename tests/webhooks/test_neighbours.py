"""Deliveries beside those that cannot be read, and beside silent endpoints of another project."""

import time
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.webhooks import endpoints
from tests import make
from tests.adapters.sending.fake import SILENT, Fake, FakeReply, fake
from tests.webhooks.delivering import delivering, states, told, until, webhook

pytestmark = pytest.mark.anyio
SILENT_ENDPOINTS = 500
"""Many more than a worker has slots."""
MIN_CALLED = 32
"""Of these, when the worker has taken as many slots for them as it may."""
HOSTILE_PROJECTS, HOSTILE_ENDPOINTS = 8, 40
UNPROVEN_SLOTS = 64
"""Half of the slots of a worker."""
MAX_SECONDS = 5.0
"""Within which a delivery of another project ends."""
# PostgreSQL answers so where a stored value is damaged; no statement can damage one.
CORRUPTED = """
    CREATE FUNCTION public.corrupted() RETURNS json LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'missing chunk number 0 for toast value 1' USING ERRCODE = 'XX001';
    END $$;
    -- The trigger casts to the row type of the table, whose name the view takes.
    ALTER TABLE mailqueue.email_events DISABLE TRIGGER email_events_told;
    ALTER TABLE mailqueue.webhook_events RENAME TO webhook_events_stored;
    CREATE VIEW mailqueue.webhook_events AS
    SELECT id, CASE WHEN id = '{event}' THEN public.corrupted() ELSE payload END AS payload
      FROM mailqueue.webhook_events_stored;
    GRANT SELECT ON mailqueue.webhook_events TO PUBLIC;
    GRANT EXECUTE ON FUNCTION public.corrupted() TO PUBLIC
"""


def url_of(server: Fake, path: str = "/hooks") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


async def corrupt(conn: Conn, event: UUID) -> None:
    """Have the payload of an event fail where it is read."""
    await conn.execute(CORRUPTED.replace("{event}", str(event)).encode())


async def test_a_corrupted_payload_fails_only_its_delivery(database: DatabaseSettings) -> None:
    async with fake([FakeReply(204)]) as server, connect(database) as conn:
        hook = await webhook(conn, url_of(server))
        await told(conn, 20)
        event = await make.scalar(
            conn, "SELECT event_id FROM mailqueue.webhook_deliveries ORDER BY id LIMIT 1 OFFSET 7"
        )
        await corrupt(conn, event)

        async def are_settled() -> bool:
            found = await states(conn, hook)
            return "assigned" not in found and found.count("delivered") == 19

        async with delivering(database):
            await until(are_settled, what="the others")

        rows = await make.rows(
            conn,
            "SELECT event_id, status, attempts, last_error FROM mailqueue.webhook_deliveries"
            " WHERE status <> 'delivered'",
        )
    assert [row[:3] for row in rows] == [(event, "pending", 1)]
    assert "missing chunk number 0" in rows[0][3]
    assert len(server.requests) == 19


async def test_silent_endpoints_of_a_project_keep_no_new_one_of_another_waiting(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "MAX_WEBHOOKS", SILENT_ENDPOINTS)
    async with (
        fake([SILENT]) as silent,
        fake([FakeReply(204)]) as good,
        connect(database) as conn,
    ):
        other = await make.project(conn, "other")
        for number in range(SILENT_ENDPOINTS):
            await webhook(conn, url_of(silent, f"/{number}"))
        async with delivering(database, total_s=2 * MAX_SECONDS):
            await told(conn, 2)

            async def is_called() -> bool:
                return silent.connections >= MIN_CALLED

            await until(is_called, what="silent endpoints")
            hook = await webhook(conn, url_of(good), project_id=other)
            begun = time.monotonic()
            await told(conn, project_id=other)

            async def is_delivered() -> bool:
                return await states(conn, hook) == ["delivered"]

            await until(is_delivered, what="the new endpoint")
            took = time.monotonic() - begun

    assert took < MAX_SECONDS


async def test_silent_endpoints_of_many_projects_keep_no_new_one_waiting(
    database: DatabaseSettings,
) -> None:
    """Those of seven projects take all slots of endpoints without a success."""
    async with (
        fake([SILENT]) as silent,
        fake([FakeReply(204)]) as good,
        connect(database) as conn,
    ):
        hostile = [await make.project(conn, f"hostile{n}") for n in range(HOSTILE_PROJECTS)]
        for project in hostile:
            for number in range(HOSTILE_ENDPOINTS):
                url = url_of(silent, f"/{project}/{number}")
                await webhook(conn, url, project_id=project)
        other = await make.project(conn, "other")
        hook = await webhook(conn, url_of(good), project_id=other)
        for project in hostile:
            await told(conn, 2, project_id=project)
        async with delivering(database, total_s=60.0):

            async def are_called() -> bool:
                return silent.connections >= UNPROVEN_SLOTS

            await until(are_called, what="silent endpoints")
            begun = time.monotonic()
            await told(conn, project_id=other)

            async def is_delivered() -> bool:
                return await states(conn, hook) == ["delivered"]

            await until(is_delivered, what="the new endpoint")
            took = time.monotonic() - begun

    assert took < MAX_SECONDS
