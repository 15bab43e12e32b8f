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
from tests.mail.custom_smtp.queueing import MASTER, Queued, queued
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


async def rescued(custom: Queued) -> None:
    """Declare all workers lost."""
    async with connect(custom.api.database) as conn:
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
    async with queued(database) as custom:
        email = await custom.send()

        assert await code_of("custom-smtp") == -signal.SIGKILL
        assert await custom.turn() == 0, "nothing is taken from a worker that may live"
        await rescued(custom)
        await custom.turn()

        assert (await custom.shown(email))["status"] == status
        assert len(custom.server.messages) == messages
        assert await custom.kept() == 0
        assert await custom.books() == (1, 0)


async def test_mail_that_stops_its_worker_each_time_fails(database: DatabaseSettings) -> None:
    async with queued(database) as custom:
        email = await custom.send()
        spec = queue_named("custom-smtp")
        async with connect(database) as conn:
            for death in range(MAX_CRASHES + 1):
                worker = await make.worker(conn)
                claimed = (
                    "SELECT id, claim_no FROM"
                    " mailqueue.claim_custom_smtp_servers(%s, 1, '1 min', %s, 4, '{}', '{}')"
                )
                [row] = await make.rows(conn, claimed, worker, death > 0)
                await store.suspect(
                    conn, spec, [(row[0], row[1])], is_alone=death > 0, reason="signal SIGSEGV"
                )
                await conn.execute("UPDATE mailqueue.custom_smtp_servers SET run_at = now()")
        await custom.sweep()

        shown = await custom.shown(email)
        assert shown["status"] == "failed"
        assert "it stopped its worker: signal SIGSEGV" in str(shown)
        assert (await custom.kept(), custom.server.messages) == (0, [])
        assert await custom.books() == (0, 0)


async def test_mail_whose_worker_died_before_is_sent_by_a_worker_alone(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as custom:
        email = await custom.send()
        await custom.do("UPDATE mailqueue.custom_smtp_servers SET crashes = 1")

        assert await custom.turn() == 0
        assert await custom.turn(is_alone=True) == 1
        assert (await custom.shown(email))["status"] == "sent"
        assert await custom.kept() == 0
