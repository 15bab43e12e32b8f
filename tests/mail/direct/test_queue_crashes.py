"""A worker that is killed while it sends by a custom server sends nothing twice and loses
nothing.
"""

import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.queues.registry import MAX_CRASHES, queue_named
from mailqueue.db.pool import connect
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.direct.queueing import MASTER, Queued, queued
from tests.queue.kernel.pools import code_of, prepare

pytestmark = pytest.mark.anyio

# What becomes of the mail, and the messages that the server has by then. A mail that was marked may
# have been sent: it is held, once its worker is known to be lost.
AT_DEATH: Mapping[str, tuple[str, int]] = {
    "custom-smtp.claimed": ("sent", 1),
    "custom-smtp.handling": ("sent", 1),
    "custom-smtp.marked": ("held", 0),
    "custom-smtp.answered": ("held", 1),
    "custom-smtp.handled": ("held", 1),
    "custom-smtp.settling": ("held", 1),
    "custom-smtp.settled": ("sent", 1),
}


async def rescued(direct: Queued) -> None:
    """Declare all workers lost."""
    async with connect(direct.api.database) as conn:
        await conn.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
        await store.rescue(conn, silence=LOST_AFTER)


@pytest.mark.parametrize("point", AT_DEATH)
async def test_killed_anywhere_it_is_sent_once_or_held(
    database: DatabaseSettings, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv("MAILQUEUE_MASTER_KEY", MASTER)
    monkeypatch.setenv(VARIABLE, f"{point} kill 1")
    status, messages = AT_DEATH[point]
    async with queued(database) as direct:
        email = await direct.send()

        assert await code_of("custom-smtp") == -signal.SIGKILL
        assert await direct.turn() == 0, "nothing is taken from a worker that may live"
        await rescued(direct)
        await direct.turn()

        assert (await direct.shown(email))["status"] == status
        assert len(direct.server.messages) == messages
        assert await direct.kept() == 0
        assert await direct.books() == (1, 0)


async def test_mail_that_stops_its_worker_each_time_fails(database: DatabaseSettings) -> None:
    async with queued(database) as direct:
        email = await direct.send()
        spec = queue_named("custom-smtp")
        async with connect(database) as conn:
            for death in range(MAX_CRASHES + 1):
                worker = await make.worker(conn)
                claimed = (
                    "SELECT id, claim_no FROM"
                    " mailqueue.claim_inline_servers(%s, 1, '1 min', %s, 4, '{}', '{}')"
                )
                [row] = await make.rows(conn, claimed, worker, death > 0)
                await store.suspect(
                    conn, spec, [(row[0], row[1])], is_alone=death > 0, reason="signal SIGSEGV"
                )
                await conn.execute("UPDATE mailqueue.inline_servers SET run_at = now()")
        await direct.sweep()

        shown = await direct.shown(email)
        assert shown["status"] == "failed"
        assert "it stopped its worker: signal SIGSEGV" in str(shown)
        assert (await direct.kept(), direct.server.messages) == (0, [])
        assert await direct.books() == (0, 0)


async def test_mail_whose_worker_died_before_is_sent_by_a_worker_alone(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as direct:
        email = await direct.send()
        await direct.do("UPDATE mailqueue.inline_servers SET crashes = 1")

        assert await direct.turn() == 0
        assert await direct.turn(is_alone=True) == 1
        assert (await direct.shown(email))["status"] == "sent"
        assert await direct.kept() == 0
