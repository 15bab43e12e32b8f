"""Workers of the previous release beside those of this one; `worker send` sends this mail too."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.pool import connect
from mailqueue.mail.direct import store as direct_store
from mailqueue.mail.model import Ending, SendOutcome
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import until
from tests.mail.direct.queueing import MASTER, Queued, queued

pytestmark = pytest.mark.anyio
CLAIM = "SELECT id, claim_no, worker_id FROM mailqueue.claim_inline('old', 1, '0', 4)"


async def claimed_before(direct: Queued) -> list[tuple[UUID, int, int]]:
    """Claim as a worker of the previous release does."""
    async with connect(direct.api.database) as conn:
        return [(row[0], row[1], row[2]) for row in await make.rows(conn, CLAIM)]


async def settled_before(direct: Queued, claimed: tuple[Any, ...], ending: Ending) -> bool:
    email, claim_no, worker = claimed
    async with connect(direct.api.database) as conn:
        done = SendOutcome(email, claim_no, ending, reason="said before")
        return await direct_store.settle(conn, worker, done)


async def test_mail_of_a_worker_of_the_release_before_is_left_to_it(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as direct:
        first = await direct.send()
        [claimed] = await claimed_before(direct)

        assert str(claimed[0]) == first
        assert await direct.turn() == 0
        assert await claimed_before(direct) == []
        assert await settled_before(direct, claimed, Ending.RETRY)
        assert (await direct.shown(first))["why"].startswith("waits until")
        assert await direct.turn() == 0
        await direct.do("UPDATE mailqueue.inline_servers SET run_at = now()")
        assert await direct.turn() == 1
        assert (await direct.shown(first))["status"] == "sent"
        assert await direct.kept() == 0

        second = await direct.send(to=["bob@example.com"])
        [claimed] = await claimed_before(direct)
        assert await settled_before(direct, claimed, Ending.SENT)
        assert (await direct.shown(second))["status"] == "sent"
        assert await direct.kept() == 0
        assert len(direct.server.messages) == 1
        assert (await direct.books())[1] == 0


async def test_mail_of_a_worker_of_the_release_before_that_died_is_held(
    database: DatabaseSettings,
) -> None:
    async with queued(database) as direct:
        email = await direct.send()
        assert len(await claimed_before(direct)) == 1
        async with connect(database) as conn:
            await conn.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
            await store.rescue(conn, silence=LOST_AFTER)

        assert await direct.turn() == 0
        assert (await direct.shown(email))["status"] == "held"
        assert await direct.kept() == 0


@contextmanager
def sending(database: DatabaseSettings, folder: Path) -> Iterator[None]:
    """Run `mailqueue worker send` during the block."""
    command = [sys.executable, "-m", "mailqueue", "worker", "send", "--processes", "1"]
    environment = os.environ | {
        "MAILQUEUE_DATABASE_URL": database.url.reveal(),
        "MAILQUEUE_DATA": str(folder),
        "MAILQUEUE_MASTER_KEY": MASTER,
        "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.1/32",
    }
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, env=environment, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    assert process.returncode == 0, (folder / "log").read_text()


async def test_a_host_that_runs_only_worker_send_sends_it(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with queued(database) as direct:
        email = await direct.send()
        with sending(database, tmp_path):

            async def is_sent() -> bool:
                return bool((await direct.shown(email))["status"] == "sent")

            await until(is_sent)

        assert len(direct.server.messages) == 1
        assert await direct.kept() == 0
        workers = "SELECT count(*) FROM mailqueue.workers WHERE queues = '{custom-smtp}'"
        assert await direct.value(workers) == 1
