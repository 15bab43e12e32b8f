"""Limit: mail with a custom SMTP server waits for the window of low priority too."""

from uuid import UUID

import pytest

from mailqueue.core.errors import LimitReached
from mailqueue.db.pool import connect
from mailqueue.mail.direct import store as direct_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.direct.queueing import queued
from tests.mail.limits.low_priority.windows import change, close
from tests.operations.why.commands import why

pytestmark = pytest.mark.anyio


async def test_mail_with_a_server_of_its_own_waits_for_the_window(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as direct, connect(database) as conn:
        project = await make.scalar(
            conn, "SELECT name FROM mailqueue.projects ORDER BY created_at DESC LIMIT 1"
        )
        opens = await close(conn, project)
        low = await direct.send(priority="low")
        normal = await direct.send()

        assert await direct.turn() == 1
        assert (await direct.shown(normal))["status"] == "sent"
        assert f"waits until {opens:%Y-%m-%d %H:%M}" in await why(conn, UUID(low))
        assert "--low-priority-window WINDOW" in await why(conn, UUID(low))
        assert await direct.books() == (1, 0)
        wait = "SELECT run_at - now() BETWEEN '14 min' AND '15 min' FROM mailqueue.inline_servers"
        assert await direct.value(wait) is True

        await change(conn, None, project)
        await direct.do("UPDATE mailqueue.inline_servers SET run_at = now()")
        assert await direct.turn() == 1
        assert (await direct.shown(low))["status"] == "sent"


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
            await direct_store.begin(conn, "default", {**message, "priority": "low"})
        started, _ = await direct_store.begin(conn, "default", message)

        assert started.state == "sending"
