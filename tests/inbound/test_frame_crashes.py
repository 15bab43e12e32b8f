"""A worker that is killed at any point loses no event and records none twice."""

import signal
from pathlib import Path

import pytest

from mailqueue.adapters.inbound.event_types import ID_NAME
from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.inbound.handler import InboundHandler
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.inbound import inbound_tools
from tests import make
from tests.api.support.calling import settings_for
from tests.events.sent_mail import left
from tests.inbound.json_provider import kept, states
from tests.queue.kernel.pools import code_of, prepare
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio
# How many events are there once it has died: what is not recorded then is recorded by the next.
AT_DEATH = {
    "inbound.claimed": 0,
    "inbound.handling": 0,
    "inbound.handled": 0,
    "inbound.settling": 0,
    "inbound.settled": 2,
}


@pytest.mark.parametrize("point", AT_DEATH)
async def test_killed_anywhere_each_event_is_recorded_once(
    database: DatabaseSettings, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, f"{point} kill 1")
    recorded = "SELECT count(*) FROM mailqueue.email_events WHERE source = 'sendgrid'"
    async with connect(database) as conn:
        mail = await left(conn)
        told = {"sg_event_id": "1", "timestamp": 1, "email": "ann@example.com", ID_NAME: str(mail)}
        await kept(
            conn, told | {"event": "delivered"}, told | {"event": "open", "sg_event_id": "2"}
        )

        assert await code_of("inbound") == -signal.SIGKILL
        assert await make.scalar(conn, recorded) == AT_DEATH[point]
        await conn.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
        await store.rescue(conn, silence=LOST_AFTER)
        tools = inbound_tools(settings_for(database))
        await work_once(database, "inbound", InboundHandler(database, tools))

        assert await states(conn) == ["processed"]
        assert await make.scalar(conn, recorded) == 2
