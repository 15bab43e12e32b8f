"""`worker send` sends mail with a custom SMTP server too."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.concurrency.running import until
from tests.mail.custom_smtp.queueing import MASTER, queued

pytestmark = pytest.mark.anyio


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
    async with queued(database) as custom:
        email = await custom.send()
        with sending(database, tmp_path):

            async def is_sent() -> bool:
                return bool((await custom.shown(email))["status"] == "sent")

            await until(is_sent)

        assert len(custom.server.messages) == 1
        assert await custom.kept() == 0
        workers = "SELECT count(*) FROM mailqueue.workers WHERE queues = '{custom-smtp}'"
        assert await custom.value(workers) == 1
