"""Limit: mail with a custom SMTP server waits for the window of low priority too."""

from uuid import UUID

import pytest

from mailqueue.core.errors import LimitReached
from mailqueue.db.pool import connect
from mailqueue.mail.custom_smtp import store as custom_smtp_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.custom_smtp.queueing import queued
from tests.mail.limits.low_priority.windows import change, close
from tests.operations.why.commands import why

pytestmark = pytest.mark.anyio


async def test_mail_with_a_server_of_its_own_waits_for_the_window(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as custom, connect(database) as conn:
        project = await make.scalar(
            conn, "SELECT name FROM mailqueue.projects ORDER BY created_at DESC LIMIT 1"
        )
        opens = await close(conn, project)
        low = await custom.send(priority="low")
        normal = await custom.send()

        assert await custom.turn() == 1
        assert (await custom.shown(normal))["status"] == "sent"
        assert f"waits until {opens:%Y-%m-%d %H:%M}" in await why(conn, UUID(low))
        assert "--low-priority-window WINDOW" in await why(conn, UUID(low))
        assert await custom.books() == (1, 0)
        wait = (
            "SELECT run_at - now() BETWEEN '14 min' AND '15 min' FROM mailqueue.custom_smtp_servers"
        )
        assert await custom.value(wait) is True

        await change(conn, None, project)
        await custom.do("UPDATE mailqueue.custom_smtp_servers SET run_at = now()")
        assert await custom.turn() == 1
        assert (await custom.shown(low))["status"] == "sent"


async def test_mail_that_is_sent_at_once_is_refused_outside_the_window(
    database: DatabaseSettings,
) -> None:
    message = {
        "recipient": "ann@example.com", "subject": "Hello", "text": "Hello Ann",
        "from_email": "shop@example.com",
    }  # fmt: skip
    async with connect(database) as conn:
        await close(conn)

        with pytest.raises(LimitReached, match="outside_window"):
            await custom_smtp_store.begin(conn, "default", {**message, "priority": "low"})
        started, _ = await custom_smtp_store.begin(conn, "default", message)

        assert started.state == "sending"
