"""Limit: marketing with a custom SMTP server keeps quiet hours and the frequency cap too."""

from uuid import UUID

import pytest

from mailqueue.core.errors import LimitReached
from mailqueue.db.pool import connect
from mailqueue.mail.custom_smtp import store as custom_smtp_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.custom_smtp.queueing import queued
from tests.mail.limits.held_back.marketing import around_now, change
from tests.operations.why.commands import why

pytestmark = pytest.mark.anyio
ADDRESS_NOT_NEEDED = "UPDATE mailqueue.projects SET require_postal_address = false"


async def test_marketing_with_a_server_of_its_own_waits(database: DatabaseSettings) -> None:
    async with queued(database) as custom, connect(database) as conn:
        project = await make.scalar(
            conn, "SELECT name FROM mailqueue.projects ORDER BY created_at DESC LIMIT 1"
        )
        await conn.execute(ADDRESS_NOT_NEEDED)
        await change(conn, project, quiet_hours=await around_now(conn))
        late = await custom.send(category="marketing")
        invoice = await custom.send()

        assert await custom.turn() == 1
        assert (await custom.shown(invoice))["status"] == "sent"
        assert ": quiet hours, " in await why(conn, UUID(late))

        await change(conn, project, quiet_hours=None, frequency_cap="1/1d")
        await custom.do("UPDATE mailqueue.custom_smtp_servers SET run_at = now()")
        assert await custom.turn() == 1
        assert (await custom.shown(late))["status"] == "sent"
        again = await custom.send(category="marketing")
        assert await custom.turn() == 0
        assert ": frequency cap, 1 marketing mails" in await why(conn, UUID(again))


async def test_marketing_that_is_sent_at_once_is_refused(database: DatabaseSettings) -> None:
    message = {
        "recipient": "ann@example.com", "subject": "Hello", "text": "Hello Ann",
        "from_email": "shop@example.com",
    }  # fmt: skip
    async with connect(database) as conn:
        await conn.execute(ADDRESS_NOT_NEEDED)
        await change(conn, quiet_hours=await around_now(conn))

        with pytest.raises(LimitReached, match="quiet hours"):
            await custom_smtp_store.begin(conn, "default", {**message, "category": "marketing"})
        started, _ = await custom_smtp_store.begin(conn, "default", message)

        assert started.state == "sending"
