"""Worker processes are forked by a server process; no end of any process leaves another behind."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mailqueue.process.signals import OF_THE_LOG
from mailqueue.process.starting import client
from mailqueue.process.starting.client import PROGRAM, ForkServer
from mailqueue.queue.in_progress import EXIT_UNKNOWN
from mailqueue.telemetry.threshold import THRESHOLD
from tests.concurrency.running import descendants, until
from tests.whole.running import is_running

pytestmark = pytest.mark.anyio
TO_STOP = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PARENT = """
import asyncio, os, sys
from mailqueue.process.signals import OF_THE_LOG
from mailqueue.process.starting import client

async def main():
    client.PROGRAM = "tests.process.forked"
    server = client.ForkServer()
    memory = os.memfd_create("test")
    ways = [await server.start([way], memory) for way in ("ignore", "wait")]
    print(*(one.pid for one in ways), server._server._process.pid, flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@asynccontextmanager
async def forking(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[ForkServer, int]]:
    """Yield a fork server of the test program, and a memory file."""
    monkeypatch.setattr(client, "PROGRAM", "tests.process.forked")
    server, memory = ForkServer(), os.memfd_create("test")
    try:
        yield server, memory
    finally:
        async with asyncio.timeout(60):
            await server.close()
        os.close(memory)


def pid_of(server: ForkServer) -> int:
    assert server._server is not None
    return server._server._process.pid


def name_of(pid: int) -> str:
    """Return the name that ps and top show."""
    return Path(f"/proc/{pid}/comm").read_text().strip()


async def gone(*pids: int) -> None:
    """Wait until none of the processes runs."""

    async def none_runs() -> bool:
        return not any(is_running(pid) for pid in pids)

    await until(none_runs, seconds=60)


async def test_a_process_has_its_arguments_its_files_and_nothing_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with forking(monkeypatch) as (server, memory):
        other = await server.start(["wait"], memory)
        process = await server.start(["print", "--data=x"], memory)

        async def has_printed() -> bool:
            return os.fstat(memory).st_size > 0

        await until(has_printed, seconds=30)
        printed = os.pread(memory, 1000, 0).decode()
        held = sorted(OF_THE_LOG)  # until it has handlers for them
        assert printed == repr((["worker", "print", "--data=x"], [], held))
        assert name_of(process.pid) == "mailqueue print"
        process.terminate()
        assert await process.wait() == -signal.SIGTERM
        assert not other.has_ended


@pytest.mark.parametrize(
    ("way", "code"), [("leave", 3), ("kill", -signal.SIGKILL), ("raise", 1), ("unknown", 1)]
)
async def test_exit_codes_are_those_of_the_process(
    way: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with forking(monkeypatch) as (server, memory):
        process = await server.start([way], memory)
        assert await process.wait() == code
        process.kill()  # has no effect
        assert await (await server.start(["leave"], memory)).wait() == 3, "it forks on"


async def test_a_server_that_was_loaded_before_starts_the_first_process_and_is_closed_unused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with forking(monkeypatch) as (server, memory):
        await server.load()
        loaded = pid_of(server)
        assert await (await server.start(["leave"], memory)).wait() == 3
        assert pid_of(server) == loaded
    async with forking(monkeypatch) as (server, _), server:
        await server.load()
        loaded = pid_of(server)
    assert not is_running(loaded)


async def test_a_process_that_is_asked_to_stop_at_once_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Signals are held back in the server: none is lost before the process has its own handlers."""
    async with forking(monkeypatch) as (server, memory):
        for _ in range(20):
            process = await server.start(["wait"], memory)
            process.terminate()
            assert await process.wait() == -signal.SIGTERM


async def test_the_level_of_the_log_is_that_of_the_parent_in_each_process_old_or_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = os.memfd_create("later")

    async def until_written(memory: int, words: str) -> None:
        async def is_written() -> bool:
            return os.pread(memory, 1000, 0).decode() == words

        await until(is_written, seconds=60)

    try:
        async with forking(monkeypatch) as (server, memory):
            await server.start(["log"], memory)
            await until_written(memory, "some ")
            os.kill(pid_of(server), signal.SIGUSR1)  # as to a whole service: nothing dies of it
            THRESHOLD.lower()
            await until_written(memory, "some all ")
            later = await server.start(["log"], other)  # told before it can listen
            await until_written(other, "some all ")
            THRESHOLD.restore()
            await until_written(memory, "some all some ")
            await until_written(other, "some all some ")
            later.terminate()
            assert await later.wait() == 0
    finally:
        THRESHOLD.restore()
        os.close(other)


async def test_signals_to_a_whole_service_are_left_to_the_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with forking(monkeypatch) as (server, memory):
        assert await (await server.start(["leave"], memory)).wait() == 3
        first = pid_of(server)
        for number in TO_STOP:
            os.kill(first, number)
        assert await (await server.start(["leave"], memory)).wait() == 3
        assert pid_of(server) == first


async def test_processes_go_on_when_their_server_dies_and_another_starts_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with forking(monkeypatch) as (server, memory):
        left = [await server.start(["wait"], memory) for _ in range(2)]
        os.kill(pid_of(server), signal.SIGKILL)
        await gone(pid_of(server))

        async def is_lost() -> bool:
            return server._server is not None and server._server.is_lost

        await until(is_lost)
        assert await (await server.start(["leave"], memory)).wait() == 3
        assert not any(one.has_ended for one in left)
        left[0].kill()
        assert await left[0].wait() == EXIT_UNKNOWN
        left[1].terminate()
        assert await left[1].wait() == EXIT_UNKNOWN


async def test_a_server_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with forking(monkeypatch) as (server, memory):
        left = await server.start(["wait"], memory)
        os.kill(pid_of(server), signal.SIGSTOP)
        monkeypatch.setattr(client, "START_SECONDS", 0.2)
        with pytest.raises(OSError, match="no process was started within 0 s"):
            await server.start(["leave"], memory)
        monkeypatch.undo()
        monkeypatch.setattr(client, "PROGRAM", "tests.process.forked")
        await gone(pid_of(server))

        async def starts() -> bool:
            try:
                return await (await server.start(["leave"], memory)).wait() == 3
            except OSError:
                return False

        assert await until(starts)
        assert not left.has_ended


async def test_a_refused_fork_is_an_error_of_that_start_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAILQUEUE_TEST_REFUSES", "1")
    async with forking(monkeypatch) as (server, memory):
        with pytest.raises(OSError, match="Resource temporarily unavailable"):
            await server.start(["leave"], memory)
        assert await (await server.start(["leave"], memory)).wait() == 3


async def test_a_server_that_cannot_load_its_modules_is_an_error_of_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with forking(monkeypatch) as (server, memory):
        monkeypatch.setattr(client, "PROGRAM", "tests.process.missing")
        with pytest.raises(OSError, match="the process that starts workers ended"):
            await server.start(["leave"], memory)


async def test_starts_that_are_given_up_leave_no_process_and_no_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with forking(monkeypatch) as (server, memory):
        assert await (await server.start(["leave"], memory)).wait() == 3
        files = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            starting = asyncio.create_task(server.start(["wait"], memory))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        assert await (await server.start(["leave"], memory)).wait() == 3
        await gone(*descendants(pid_of(server)))
        assert len(os.listdir("/proc/self/fd")) == files


async def test_a_parent_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    """Not even one that hangs: the server process ends it after a while."""
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "MAILQUEUE_TEST_LEFT": "0.5"},
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in (await parent.stdout.readline()).split()]
    assert len(pids) == 3
    assert all(is_running(pid) for pid in pids)
    parent.kill()
    await parent.wait()
    await gone(*pids)


async def test_the_server_has_one_thread_and_no_connection_but_to_its_parent(
    tmp_path: Path,
) -> None:
    """What it loads starts no thread and opens nothing: a fork is safe."""
    server, memory = ForkServer(), os.memfd_create("test")
    process = await server.start(["send", "--help"], memory)
    pid = pid_of(server)
    assert os.listdir(f"/proc/{pid}/task") == [str(pid)]
    files = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    assert len([file for file in files if file.startswith("socket:")]) == 1
    assert not [file for file in files if "event" in file]
    assert await process.wait() == 0
    await server.close()
    os.close(memory)
    assert PROGRAM == "mailqueue.cli.worker.forked"
