"""Real worker processes, a PostgreSQL with default settings, and a server that takes their mail."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any, TypeVar

from psycopg.types.json import Jsonb

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_connection
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.postmaster import Postmaster
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.forks.starting import Forked, start_command
from tests.smtp.client.scripted import Answer, ScriptedServer

T = TypeVar("T")
PATIENCE_SECONDS = 150.0
SLOWLY: list[Answer] = [(b"250 2.0.0 ", b"queued\r\n")] * 5000
"""Reply to the final dot in two pieces, a moment apart, so that mail is in flight long enough."""


@dataclass
class Shipped:
    """A cluster with durable settings."""

    cluster: Cluster
    process: subprocess.Popen[bytes] | None = None
    template: str = "template0"  # the database that databases of scenarios are copied from

    def start(self) -> Postmaster:
        """Start the server unless it runs."""
        postmaster, started = self.cluster.start()
        self.process = started or self.process
        return postmaster

    def kill(self) -> None:
        """Kill the server as a power failure would: without shutdown or checkpoint."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.cluster.stop(self.process)


@dataclass(frozen=True, slots=True)
class Command:
    """A running `mailqueue worker send`."""

    process: Forked | asyncio.subprocess.Process
    log: Path
    is_one: bool = True

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def worker_pid(self) -> int:
        """Return the process that sends, of a command with a single one."""
        for pid in descendants(self.pid):
            if Path(f"/proc/{pid}/comm").read_text() == "mailqueue send\n":
                return pid
        return self.pid

    def signal(self, what: signal.Signals) -> None:
        """Send a signal; SIGKILL and SIGSTOP go to the worker process itself, if there is one."""
        if self.is_one and what in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT):
            for pid in descendants(self.pid):
                os.kill(pid, what)
        os.kill(self.pid, what)

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE_SECONDS)

    async def stopped(self) -> int:
        """Stop it as a service manager does, and wait for its end."""
        self.process.terminate()
        return await self.ended()


def descendants(pid: int) -> list[int]:
    """Return the processes below a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in children for one in (*descendants(int(child)), int(child))]


@asynccontextmanager
async def workers(
    database: DatabaseSettings,
    *,
    processes: int = 1,
    in_flight: int = 8,
    batch: int = 50,
    data: Path | None = None,
) -> AsyncIterator[Command]:
    """Run workers during the block; kill those that still run afterwards."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-worker-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            arguments = (
                *("worker", "send", f"--data={data or folder}"),
                *(f"--processes={processes}", f"--in-flight={in_flight}", f"--batch={batch}"),
            )
            environment = {**os.environ, "MAILQUEUE_DATABASE_URL": database.url.reveal()}
            process = await _started(arguments, environment, output.fileno())
        command = Command(process, log, processes == 1)
        try:
            yield command
        except BaseException:
            sys.stderr.write(log.read_text()[-6000:])
            raise
        finally:
            if process.returncode is None:
                process.terminate()
                try:
                    await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)
                except TimeoutError:
                    process.kill()
                    await process.wait()


async def _started(
    arguments: Sequence[str], environment: Mapping[str, str], output: int
) -> Forked | asyncio.subprocess.Process:
    """Start `mailqueue ARGUMENTS`; it is forked unless a library is to be loaded before all."""
    if "LD_PRELOAD" not in environment:
        return await start_command(arguments, environment, output)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mailqueue", *arguments),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
    )


async def until(holds: Callable[[], Awaitable[T]], *, seconds: float = PATIENCE_SECONDS) -> T:
    """Poll until a condition holds; a time limit keeps a broken promise from hanging the run.

    Asking takes little of the time: the rest belongs to those who are waited for.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    asked_at = loop.time()
    while not (found := await holds()):
        assert loop.time() < deadline, "it never came true"
        await asyncio.sleep(min(0.5, max(0.01, 4 * (loop.time() - asked_at))))
        asked_at = loop.time()
    return found


async def pids(conn: Conn, count: int) -> list[int]:
    """Wait until that many send workers run; return their process ids."""

    async def running() -> list[int]:
        rows = await make.rows(
            conn,
            "SELECT pid FROM mailqueue.worker_status"
            " WHERE status = 'running' AND kind = 'send' ORDER BY id",
        )
        return [pid for (pid,) in rows] if len(rows) >= count else []

    return await until(running)


async def statuses(conn: Conn) -> Counter[str]:
    """Count all mail by status."""
    rows = await make.rows(conn, "SELECT status, count(*) FROM mailqueue.emails GROUP BY status")
    return Counter(dict(rows))


async def until_nothing_is_queued(conn: Conn) -> Counter[str]:
    """Wait until no mail is pending or assigned; return the number in each status."""

    async def done() -> Counter[str] | None:
        found = await statuses(conn)
        return None if found["pending"] or found["assigned"] else found

    found = await until(done)
    assert found is not None
    return found


def deliveries(server: ScriptedServer) -> Counter[str]:
    """Count the messages that the server accepted, by Message-ID."""
    return Counter(
        str(message_from_bytes(message.body)["Message-ID"]) for message in server.messages
    )


async def account_at(conn: Conn, server: ScriptedServer, **columns: Any) -> int:
    """Create a sender account that sends to this server."""
    return await make.sender_account(conn, smtp_port=server.port, **columns)


@asynccontextmanager
async def session(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """Open a session; retry while a pooler still reports that the server is unavailable."""

    async def opened() -> Conn | None:
        with suppress(Unavailable):
            return await open_connection(database, application_name="test")
        return None

    found = await until(opened)
    assert found is not None
    async with found as conn:
        yield conn


async def messages(server: ScriptedServer, count: int) -> None:
    """Wait until the server has accepted that many messages."""

    async def taken() -> bool:
        return len(server.messages) >= count

    await until(taken)


async def enqueue(conn: Conn, count: int, **options: Any) -> None:
    """Queue many mails in one call."""
    batch = [
        {"recipient": f"p{n}@example.com", "subject": "Hello", "text": "Hello", **options}
        for n in range(count)
    ]
    await conn.execute(
        "SELECT count(*) FROM mailqueue.enqueue_batch('default', %s)", [Jsonb(batch)]
    )
