"""Workers whose clocks are off by a day, one ahead and one behind."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from glob import glob
from pathlib import Path

from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize, hasten
from tests.concurrency.running import Command, pids

PLACES = (
    "/usr/lib/*/faketime/libfaketime.so.1",
    "/usr/lib*/faketime/libfaketime.so.1",
    "/usr/local/lib/faketime/libfaketime.so.1",
)
NO_LIBRARY = "libfaketime is not installed"
LATER = 10
_LATER = """
INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, run_at, expires_at)
SELECT 'm' || n || '@example.com', 'Hello', 'Hello', now() + interval '1 h', now() + interval '9 h'
  FROM generate_series(%s::integer, %s::integer) AS n
"""


def faketime_library() -> str | None:
    """Return the library that shifts the clock of a process."""
    places = [os.environ.get("FAKETIME_LIBRARY", ""), *(p for each in PLACES for p in glob(each))]
    return next(filter(os.path.exists, places), None)


async def a_day_off(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Only the database's clock decides: no mail is sent early, none expires."""
    library = faketime_library()
    fault = "clocks off by a day"
    if library is None:
        return ScenarioResult(sandbox.name, fault, 0, 0, left_out=NO_LIBRARY)
    first, total = size.mails, size.mails + LATER
    async with sandbox.session() as conn, AsyncExitStack() as stack:
        await conn.execute(_LATER, [first, total - 1])
        commands: list[tuple[int, Command]] = []
        for days in (1, -1):
            with _clock(library, days):
                command = await stack.enter_async_context(sandbox.workers())
            commands.append((days, command))
        await pids(conn, 2)
        await stack.enter_async_context(sandbox.producing(size.mails, seconds=size.seconds))
        await sandbox.taken(size.mails)
        early = (await sandbox.sink.counts()).taken - size.mails
        faults = sum(_is_off(command, days) for days, command in commands)
        await hasten(conn, "2 hours")
        await sandbox.settled(conn)
        found = await sandbox.compare(conn, fault, faults=faults, accepted=total)
    found.prove(faults == 2, f"{faults} of 2 workers had a clock that was off")
    found.promise(early == 0, f"{early} mails went before they were due")
    found.promise(found.statuses["sent"] == total, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    return found


async def stepping(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """The clock of a worker's host is set back and forth by days while it sends."""
    library = faketime_library()
    fault = "clock set while sending"
    if library is None:
        return ScenarioResult(sandbox.name, fault, 0, 0, left_out=NO_LIBRARY)
    steps = ("+2d", "-3d", "+0")
    with tempfile.TemporaryDirectory(prefix="mailqueue-clock-") as folder:
        clock = Path(folder) / "clock"
        clock.write_text("+0\n")
        words = {"FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
        with _living(library, {**words, "MAILQUEUE_LOG_LEVEL": "debug"}):
            running = sandbox.workers()
            command = await running.__aenter__()
        try:
            async with sandbox.session() as conn:
                await pids(conn, 1)
                async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
                    for number, step in enumerate(steps):
                        clock.write_text(f"{step}\n")
                        await sandbox.taken(size.mails * (number + 1) // len(steps) - size.first)
                    await mails.done.wait()
                await sandbox.settled(conn)
                faults = _is_off(command, 2) + _is_off(command, -3)
                found = await sandbox.compare(conn, fault, faults=faults, accepted=mails.accepted)
        finally:
            await running.__aexit__(None, None, None)
    found.prove(faults == 2, f"{faults} of 2 steps were seen")
    found.promise(found.statuses["sent"] == size.mails, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    return found


@contextmanager
def _clock(library: str, days: int) -> Iterator[None]:
    """Start processes in the block with a clock that is that many days ahead."""
    with _living(library, {"FAKETIME": f"{days:+d}d"}):
        yield


@contextmanager
def _living(library: str, more: dict[str, str]) -> Iterator[None]:
    """Start processes in the block with the shifted clock of this library; waits take real time."""
    words = {
        "LD_PRELOAD": library,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        **more,
    }
    os.environ.update(words)
    try:
        yield
    finally:
        for name in words:
            del os.environ[name]


def _is_off(command: Command, days: int) -> bool:
    """Return whether the timestamps of the worker's log are of another day."""
    there = datetime.now(UTC) + timedelta(days=days)
    return f'"{there:%Y-%m-%d}T' in command.log.read_text()
