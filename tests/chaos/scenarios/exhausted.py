"""A worker's host that has no more file descriptors, or no more memory."""

import asyncio
import resource

from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import IN_FLIGHT, Sandbox, ScenarioSize
from tests.chaos.scenarios.sessions import EACH_MAIL_MS, OURS, superuser
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import Command, until

_END = (
    f"SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {OURS}"
)
NOT_OPENED = (b"Too many open files", b"connection is bad")
NO_MEMORY = (b"MemoryError", b"out of memory")
LARGE_BYTES = 20_000_000
ROOM_BYTES = 30_000_000


async def without_descriptors(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """No file or socket can be opened for a while; outcomes are written afterwards."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    async with sandbox.workers() as command, superuser(sandbox) as dba:
        async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
            await sandbox.taken(size.first)
            usual = resource.prlimit(command.worker_pid, resource.RLIMIT_NOFILE)
            resource.prlimit(command.worker_pid, resource.RLIMIT_NOFILE, (3, usual[1]))
            await make.scalar(dba, _END)
            faults = await until(
                lambda: _says(command, (b"Too many open files", b"connection is bad"))
            )
            await asyncio.sleep(max(1.0, size.seconds))
            resource.prlimit(command.worker_pid, resource.RLIMIT_NOFILE, usual)
            await mails.done.wait()
        await sandbox.finished(dba)
        lives = command.process.returncode is None
        found = await sandbox.compare(
            dba, "no file descriptors", faults=faults, accepted=size.mails
        )
    found.promise(found.statuses["sent"] == size.mails, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(lives, "the worker ended")
    return found


async def without_memory(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Memory is refused while large mail is composed; another worker finishes it."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    async with sandbox.session() as conn:
        async with sandbox.workers() as command, sandbox.producing(size.mails) as mails:
            await sandbox.taken(size.first)
            limit = _used(command.worker_pid) + ROOM_BYTES
            resource.prlimit(
                command.worker_pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY)
            )
            await _large(conn, size.mails)
            faults = await until(lambda: _says(command, NO_MEMORY))
        async with sandbox.workers(2):
            await sandbox.finished(conn)
        found = await sandbox.compare(
            conn, "memory refused", faults=faults, accepted=mails.accepted + 1
        )
    found.promise(found.statuses["failed"] == 0, f"{found.statuses}")
    found.promise(found.duplicated <= IN_FLIGHT, f"{found.duplicated} duplicates")
    return found


async def _says(command: Command, words: tuple[bytes, ...]) -> int:
    said = await asyncio.to_thread(command.log.read_bytes)
    return sum(said.count(each) for each in words)


def _used(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


async def _large(conn: Conn, number: int) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
        " SELECT 'm' || %s::integer || '@example.com', 'Hello', repeat('All work. ', %s)",
        (number, LARGE_BYTES // 10),
    )
