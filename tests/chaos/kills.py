"""Workers that are killed every second, and workers that are asked to stop."""

import asyncio
import os
import random
import signal
import sys
from dataclasses import dataclass

from tests import make
from tests.chaos.arena import IN_FLIGHT, Arena, Size
from tests.chaos.orders import Fault
from tests.chaos.reckoning import Reckoning
from tests.concurrency.running import pids

MANY_MAILS = 10_000
TOLD_EVERY = 30
KILL_SECONDS = 1.0
EACH_MAIL_MS = 15  # long enough for much to be in flight when a worker is killed
FEWEST_BETWEEN_STOPS, MOST_STOPS = 50, 50
BACKLOG = 1000
# One that is killed before it has begun proves nothing.
AT_WORK = """
SELECT pid FROM mailqueue.worker_status
 WHERE status = 'running' AND started_at < clock_timestamp() - interval '1 s'
"""
QUEUED = "SELECT count(*) FROM mailqueue.email_queue"


@dataclass(frozen=True, slots=True)
class Crew:
    """The workers of a run: few that are soon killed, or as many as a million mails want."""

    processes: int
    in_flight: int
    batch: int


SMALL, LARGE = Crew(3, IN_FLIGHT, 50), Crew(4, 32, 200)


def crew_for(size: Size) -> Crew:
    return LARGE if size.mails >= MANY_MAILS else SMALL


async def killed_and_resent(arena: Arena, size: Size) -> Reckoning:
    """Lose nothing, double no more than was in flight at each kill."""
    found = await _killed(arena, size, "resend")
    most = found.struck * crew_for(size).in_flight
    found.promise(found.duplicated <= most, f"more than {most} duplicates: {found.duplicated}")
    return found


async def killed_and_held(arena: Arena, size: Size) -> Reckoning:
    """Double nothing; whose fate is unknown is listed."""
    found = await _killed(arena, size, "hold")
    most = found.struck * crew_for(size).in_flight
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown <= most, f"more than {most} unknown: {found.unknown}")
    return found


async def _killed(arena: Arena, size: Size, delivery: str) -> Reckoning:
    crew = crew_for(size)
    await arena.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    running = arena.workers(crew.processes, in_flight=crew.in_flight, batch=crew.batch)
    async with arena.session() as conn, running:
        await pids(conn, crew.processes)
        async with arena.producing(size.mails, seconds=size.seconds, delivery=delivery) as mails:
            kills = 0
            while not mails.done.is_set() or await make.scalar(conn, QUEUED) > BACKLOG:
                await asyncio.sleep(KILL_SECONDS)
                kills += await _kill_one(await make.rows(conn, AT_WORK))
                if crew is LARGE and kills % TOLD_EVERY == 0:
                    await _tell(arena, mails.accepted, kills)
        await arena.settled(conn)
        fault = f"kill -9 of a worker every {KILL_SECONDS:.0f} s"
        return await arena.reckon(conn, fault, struck=kills, accepted=mails.accepted)


async def _tell(arena: Arena, accepted: int, kills: int) -> None:
    """Say how far a long run is."""
    taken = (await arena.sink.counts()).taken
    seconds = asyncio.get_running_loop().time() - arena.started_at
    told = f"{arena.name}: {accepted} accepted, {taken} taken, {kills} kills, {seconds:.0f} s\n"
    sys.stderr.write(told)
    sys.stderr.flush()


async def _kill_one(at_work: list[tuple[int]]) -> int:
    if not at_work:  # on a machine so busy that none has come so far
        return 0
    (pid,) = random.choice(at_work)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # killed before, and not declared lost yet
        return 0
    return 1


async def told_to_stop(arena: Arena, size: Size) -> Reckoning:
    """SIGTERM under load, again and again: nothing doubled, nothing unknown, exit 0."""
    await arena.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    codes: list[int] = []
    async with (
        arena.session() as conn,
        arena.producing(size.mails, seconds=size.seconds) as mails,
    ):
        between = max(FEWEST_BETWEEN_STOPS, size.mails // MOST_STOPS)
        while (before := (await arena.sink.counts()).taken) + between <= size.mails:
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
