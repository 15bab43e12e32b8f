"""Workers that are killed every second, and workers that are stopped by SIGTERM."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.arena import IN_FLIGHT, Arena, ScenarioSize
from tests.chaos.result import ScenarioResult
from tests.chaos.sink.faults import Fault
from tests.chaos.worker_group import worker_group
from tests.concurrency.running import pids

MANY_MAILS = 10_000
TOLD_EVERY = 30
KILL_SECONDS = 1.0
EACH_MAIL_MS = 15  # long enough for much to be in flight when a worker is killed
FEWEST_BETWEEN_STOPS, MAX_STOPS = 50, 50
BACKLOG = 1000
QUEUED = "SELECT count(*) FROM mailqueue.email_queue"


@dataclass(frozen=True, slots=True)
class Crew:
    """The workers of a run: few with quick kills, or as many as a million mails need."""

    processes: int
    in_flight: int
    batch: int


SMALL, LARGE = Crew(3, IN_FLIGHT, 50), Crew(4, 32, 200)


def crew_for(size: ScenarioSize) -> Crew:
    return LARGE if size.mails >= MANY_MAILS else SMALL


async def killed_and_resent(arena: Arena, size: ScenarioSize) -> ScenarioResult:
    """Nothing is lost; at most the mail in flight at each kill is duplicated."""
    found = await _killed(arena, size, "resend")
    most = found.struck * crew_for(size).in_flight
    found.promise(found.duplicated <= most, f"more than {most} duplicates: {found.duplicated}")
    return found


async def killed_and_held(arena: Arena, size: ScenarioSize) -> ScenarioResult:
    """Nothing is duplicated; mail with an unknown outcome is listed."""
    found = await _killed(arena, size, "hold")
    most = found.struck * crew_for(size).in_flight
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown <= most, f"more than {most} unknown: {found.unknown}")
    return found


async def _killed(arena: Arena, size: ScenarioSize, delivery: str) -> ScenarioResult:
    await arena.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    run = _killed_for_long if size.mails >= MANY_MAILS else _killed_shortly
    async with arena.session() as conn:
        kills = await run(arena, conn, size, delivery)
        fault = f"kill -9 of a worker every {KILL_SECONDS:.0f} s"
        return await arena.reckon(conn, fault, struck=kills, accepted=size.mails)


async def _killed_shortly(arena: Arena, conn: Conn, size: ScenarioSize, delivery: str) -> int:
    kills = 0
    async with arena.workers(SMALL.processes, in_flight=SMALL.in_flight, batch=SMALL.batch):
        await pids(conn, SMALL.processes)
        async with arena.producing(size.mails, seconds=size.seconds, delivery=delivery) as mails:
            while not mails.done.is_set() or await make.scalar(conn, QUEUED) > BACKLOG:
                await asyncio.sleep(KILL_SECONDS)
                kills += kill_one(await pids(conn, 1))
        await arena.settled(conn)
    return kills


async def _killed_for_long(arena: Arena, conn: Conn, size: ScenarioSize, delivery: str) -> int:
    kills = turns = 0
    workers = worker_group(
        arena, processes=LARGE.processes, in_flight=LARGE.in_flight, batch=LARGE.batch
    )
    async with (
        workers as made,
        arena.producing(size.mails, seconds=size.seconds, delivery=delivery) as mails,
    ):
        while not mails.done.is_set() or await make.scalar(conn, QUEUED) > BACKLOG:
            await asyncio.sleep(KILL_SECONDS)
            kills += await made.kill_one(conn)
            turns += 1
            if turns % TOLD_EVERY == 0:
                await _tell(arena, mails.accepted, kills)
        await arena.settled(conn)
    return kills


async def _tell(arena: Arena, accepted: int, kills: int) -> None:
    """Print the progress of a long run."""
    taken = (await arena.sink.counts()).taken
    seconds = asyncio.get_running_loop().time() - arena.started_at
    told = f"{arena.name}: {accepted} accepted, {taken} taken, {kills} kills, {seconds:.0f} s\n"
    sys.stderr.write(told)
    sys.stderr.flush()


def kill_one(running: Sequence[int]) -> int:
    """Kill one worker; return 0 if none runs, because earlier ones are not declared lost yet."""
    for pid in random.sample(running, len(running)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return 1
    return 0


async def told_to_stop(arena: Arena, size: ScenarioSize) -> ScenarioResult:
    """SIGTERM under load, repeatedly: nothing duplicated, nothing unknown, exit 0."""
    await arena.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    codes: list[int] = []
    async with (
        arena.session() as conn,
        arena.producing(size.mails, seconds=size.seconds) as mails,
    ):
        # While it stops a worker sends a little more than was waited for.
        between = max(FEWEST_BETWEEN_STOPS, size.mails * 2 // (3 * MAX_STOPS))
        while (before := (await arena.sink.counts()).taken) + between <= size.mails:
            if len(codes) == MAX_STOPS:
                break
            async with arena.workers() as command:
                await arena.taken(before + between)
                codes.append(await command.stopped())
        async with arena.workers():
            await arena.settled(conn)
        found = await arena.reckon(
            conn, "SIGTERM under load", struck=len(codes), accepted=mails.accepted
        )
        found.promise(set(codes) == {0}, f"exit codes {codes}")
        found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
        doubts = "SELECT count(*) FROM mailqueue.send_logs WHERE status = 'unknown'"
        unknown = found.unknown + await make.scalar(conn, doubts)
        found.promise(unknown == 0, f"{unknown} of unknown fate")
        return found
