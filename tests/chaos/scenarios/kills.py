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
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import IN_FLIGHT, Sandbox, ScenarioSize
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
class WorkerCounts:
    """The workers of a run: few with quick kills, or as many as a million mails need."""

    processes: int
    in_flight: int
    batch: int


SMALL, LARGE = WorkerCounts(3, IN_FLIGHT, 50), WorkerCounts(4, 32, 200)


def worker_counts(size: ScenarioSize) -> WorkerCounts:
    return LARGE if size.mails >= MANY_MAILS else SMALL


async def killed_and_resent(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Nothing is lost; at most the mail in flight at each kill is duplicated."""
    found = await _killed(sandbox, size, "resend")
    most = found.faults * worker_counts(size).in_flight
    found.promise(found.duplicated <= most, f"more than {most} duplicates: {found.duplicated}")
    return found


async def killed_and_held(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Nothing is duplicated; mail with an unknown outcome is listed."""
    found = await _killed(sandbox, size, "hold")
    most = found.faults * worker_counts(size).in_flight
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown <= most, f"more than {most} unknown: {found.unknown}")
    return found


async def _killed(sandbox: Sandbox, size: ScenarioSize, delivery: str) -> ScenarioResult:
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    run = _killed_for_long if size.mails >= MANY_MAILS else _killed_shortly
    async with sandbox.session() as conn:
        kills = await run(sandbox, conn, size, delivery)
        fault = f"kill -9 of a worker every {KILL_SECONDS:.0f} s"
        return await sandbox.compare(conn, fault, faults=kills, accepted=size.mails)


async def _killed_shortly(sandbox: Sandbox, conn: Conn, size: ScenarioSize, delivery: str) -> int:
    kills = 0
    async with sandbox.workers(SMALL.processes, in_flight=SMALL.in_flight, batch=SMALL.batch):
        await pids(conn, SMALL.processes)
        async with sandbox.producing(size.mails, seconds=size.seconds, delivery=delivery) as mails:
            while not mails.done.is_set() or await make.scalar(conn, QUEUED) > BACKLOG:
                await asyncio.sleep(KILL_SECONDS)
                kills += kill_one(await pids(conn, 1))
        await sandbox.settled(conn)
    return kills


async def _killed_for_long(sandbox: Sandbox, conn: Conn, size: ScenarioSize, delivery: str) -> int:
    kills = turns = 0
    workers = worker_group(
        sandbox, processes=LARGE.processes, in_flight=LARGE.in_flight, batch=LARGE.batch
    )
    async with (
        workers as made,
        sandbox.producing(size.mails, seconds=size.seconds, delivery=delivery) as mails,
    ):
        while not mails.done.is_set() or await make.scalar(conn, QUEUED) > BACKLOG:
            await asyncio.sleep(KILL_SECONDS)
            kills += await made.kill_one(conn)
            turns += 1
            if turns % TOLD_EVERY == 0:
                await _tell(sandbox, mails.accepted, kills)
        await sandbox.settled(conn)
    return kills


async def _tell(sandbox: Sandbox, accepted: int, kills: int) -> None:
    """Print the progress of a long run."""
    taken = (await sandbox.sink.counts()).taken
    seconds = asyncio.get_running_loop().time() - sandbox.started_at
    told = f"{sandbox.name}: {accepted} accepted, {taken} taken, {kills} kills, {seconds:.0f} s\n"
    sys.stderr.write(told)
    sys.stderr.flush()


def kill_one(running: Sequence[int]) -> int:
    """Kill one worker; return 0 if none runs, because earlier ones are not declared lost yet."""
    for pid in random.sample(running, len(running)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return 1
    return 0


async def told_to_stop(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """SIGTERM under load, repeatedly: nothing duplicated, nothing unknown, exit 0."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    codes: list[int] = []
    async with (
        sandbox.session() as conn,
        sandbox.producing(size.mails, seconds=size.seconds) as mails,
    ):
        # While it stops a worker sends a little more than was waited for.
        between = max(FEWEST_BETWEEN_STOPS, size.mails * 2 // (3 * MAX_STOPS))
        while (before := (await sandbox.sink.counts()).taken) + between <= size.mails:
            if len(codes) == MAX_STOPS:
                break
            async with sandbox.workers() as command:
                await sandbox.taken(before + between)
                codes.append(await command.stopped())
        async with sandbox.workers():
            await sandbox.settled(conn)
        found = await sandbox.compare(
            conn, "SIGTERM under load", faults=len(codes), accepted=mails.accepted
        )
        found.promise(set(codes) == {0}, f"exit codes {codes}")
        found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
        doubts = "SELECT count(*) FROM mailqueue.send_logs WHERE status = 'unknown'"
        unknown = found.unknown + await make.scalar(conn, doubts)
        found.promise(unknown == 0, f"{unknown} of unknown fate")
        return found
