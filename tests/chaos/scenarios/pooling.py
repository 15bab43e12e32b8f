"""A pooler between workers and PostgreSQL that is killed and started again."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mailqueue.embedded.ports import free_port
from mailqueue.embedded.service_user import Account, service_account
from mailqueue.settings.environment import Pooler
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize
from tests.chaos.scenarios.sessions import EACH_MAIL_MS
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import pids
from tests.poolers.pgbouncer import PGBOUNCER, lacks_pgbouncer

FAULT = "kill -9 of the pooler"
FEWEST_KILLS, SELDOM_SECONDS = 4, 2.0
_SETTINGS = """
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = transaction
auth_type = scram-sha-256
auth_file = {folder}/users
server_login_retry = 1
"""


@dataclass
class Bouncer:
    """A pooler at one port, which can be killed repeatedly."""

    port: int
    folder: Path
    account: Account
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            command = [str(PGBOUNCER), str(self.folder / "pgbouncer.ini")]
            self.process = self.account.spawn(command, log=log.fileno())

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


async def pooler_killed(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Transactions are interrupted and their responses lost: everything is sent, once."""
    complaint = lacks_pgbouncer()
    if complaint is not None:
        return ScenarioResult(sandbox.name, FAULT, 0, 0, left_out=complaint)
    server = (await asyncio.to_thread(sandbox.server.start)).port
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    with _bouncer(server, sandbox.user) as bouncer, _pooled():
        async with (
            sandbox.session() as conn,
            sandbox.workers(2, database=sandbox.database_by(bouncer.port)),
        ):
            await pids(conn, 2)
            async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
                await sandbox.taken(size.first)
                kills = max(FEWEST_KILLS, int(size.seconds / SELDOM_SECONDS))
                for _ in range(kills):
                    await asyncio.to_thread(bouncer.kill)
                    await asyncio.to_thread(bouncer.start)
                    await asyncio.sleep(max(0.3, size.seconds / kills))
                await mails.done.wait()
            await sandbox.finished(conn)
            found = await sandbox.compare(conn, FAULT, faults=kills, accepted=mails.accepted)
    found.promise(found.statuses["sent"] == size.mails, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown == 0, f"{found.unknown} of unknown fate")
    return found


@contextmanager
def _bouncer(server: int, user: str) -> Iterator[Bouncer]:
    account = service_account(None)
    with tempfile.TemporaryDirectory(prefix="mailqueue-pooler-", dir="/tmp") as name:
        folder, port = Path(name), free_port()
        (folder / "users").write_text(f'"{user}" "{user}"\n')
        settings = _SETTINGS.format(server=server, port=port, folder=folder)
        (folder / "pgbouncer.ini").write_text(settings)
        for path in (folder, *folder.iterdir()):
            account.own(path)
        bouncer = Bouncer(port, folder, account)
        bouncer.start()
        try:
            yield bouncer
        finally:
            bouncer.kill()


@contextmanager
def _pooled() -> Iterator[None]:
    """Start processes in the block with the setting that says there is a pooler."""
    os.environ["MAILQUEUE_POOLER"] = Pooler.TRANSACTION.value
    try:
        yield
    finally:
        del os.environ["MAILQUEUE_POOLER"]
