"""Workers whose clocks are off by a day, one ahead and one behind."""

import os
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from glob import glob

from tests.chaos.arena import Arena, Size, hasten
from tests.chaos.reckoning import Reckoning
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
    """Give the library that shifts the clock of a process."""
    places = [os.environ.get("FAKETIME_LIBRARY", ""), *(p for each in PLACES for p in glob(each))]
    return next(filter(os.path.exists, places), None)


async def a_day_off(arena: Arena, size: Size) -> Reckoning:
    """Only the database's clock decides: nothing goes early, nothing expires."""
    library = faketime_library()
    fault = "clocks off by a day"
    if library is None:
        return Reckoning(arena.name, fault, 0, 0, left_out=NO_LIBRARY)
    first, total = size.mails, size.mails + LATER
    async with arena.session() as conn, AsyncExitStack() as stack:
        await conn.execute(_LATER, [first, total - 1])
        commands: list[tuple[int, Command]] = []
        for days in (1, -1):
            with _clock(library, days):
                command = await stack.enter_async_context(arena.workers())
            commands.append((days, command))
        await pids(conn, 2)
        await stack.enter_async_context(arena.producing(size.mails, seconds=size.seconds))
        await arena.taken(size.mails)
        early = (await arena.sink.counts()).taken - size.mails
        struck = sum(_is_off(command, days) for days, command in commands)
        await hasten(conn, "2 hours")
        await arena.settled(conn)
        found = await arena.reckon(conn, fault, struck=struck, accepted=total)
    found.promise(struck == 2, f"{struck} of 2 workers had a clock that was off")
    found.promise(early == 0, f"{early} mails went before they were due")
    found.promise(found.statuses["sent"] == total, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    return found


@contextmanager
def _clock(library: str, days: int) -> Iterator[None]:
    """Have processes started in the block live so many days ahead."""
    words = {
        "LD_PRELOAD": library,
        "FAKETIME": f"{days:+d}d",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    os.environ.update(words)
    try:
        yield
    finally:
        for name in words:
            del os.environ[name]


def _is_off(command: Command, days: int) -> bool:
    """Say whether the worker's log is written in another day."""
    there = datetime.now(UTC) + timedelta(days=days)
    return f'"{there:%Y-%m-%d}T' in command.log.read_text()
