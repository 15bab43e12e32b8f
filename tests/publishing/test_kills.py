"""A worker killed amid a batch loses no message, and repeats only those that were not noted."""

from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.publishing import outboxes
from tests.queue.kernel.pools import deaths, pool_of, prepare, until
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio
CONFIRMED = "publishing.confirmed"
MESSAGES = 10


@pytest.mark.parametrize("confirmed", [1, 4, MESSAGES])
async def test_messages_confirmed_before_a_kill_are_repeated_in_order_and_none_is_lost(
    confirmed: int, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, f"{CONFIRMED} kill {confirmed}")
    async with fake([FakeReply(200)]) as server, connect(database) as conn:
        await outboxes.add(conn, "default", await webhook(conn, f"http://127.0.0.1:{server.port}/"))
        written = [await outboxes.publish(conn, number) for number in range(MESSAGES)]
        async with pool_of(["publishing"], tmp_path):

            async def is_done() -> bool:
                query = "SELECT bool_and(status = 'published') FROM mailqueue.outbox_message"
                return await deaths(conn) == 1 and bool(await make.scalar(conn, query))

            await until(is_done, lambda: outboxes.numbers(conn))

        assert outboxes.arrived(server)["default"] == written[:confirmed] + written
