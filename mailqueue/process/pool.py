"""Keeps worker processes running; reports the rows that a process was handling when it died."""

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID, uuid4

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.operations.doctor.disk_space import watching_space
from mailqueue.process.child import MAX_NAMED, ChildEnding, Children, ending_of, start_child
from mailqueue.process.starting.client import Fork, ForkServer
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.queue.in_progress import EXIT_UNKNOWN, Begun, InProgress
from mailqueue.queue.rescue import rescuing
from mailqueue.queue.rights import UpkeepSearch
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.metrics.declared import SUSPECTED_ROWS, WORKER_DEATHS
from mailqueue.telemetry.metrics.memory import MEMORY

MIN_RESTART_WAIT, MAX_RESTART_WAIT = 0.2, 10.0
UPKEEP_SECONDS = 30.0
"""Interval at which due rows of upkeep queues are looked for."""
ALONE_SECONDS = 2.0
"""Interval at which rows are looked for whose worker stopped before."""
MAX_ALONE = 3
"""Processes of one queue for such rows."""
READY_SECONDS = 60.0
"""Time after which processes that have not registered are no longer waited for."""
LAUNCHED_SECONDS = 0.1
"""Interval at which registrations are looked for until then."""
REPORT_SECONDS = 5.0
"""Limit of the report of a death while the parent stops."""

log = get_logger(__name__)


class WorkerPool:
    """Worker processes, restarted when they die, until `stop` is set."""

    def __init__(
        self, settings: Settings, groups: Sequence[Children], forks: ForkServer | None = None
    ) -> None:
        self._settings, self._groups = settings, groups
        self._link = Link(settings.database, "mailqueue/rescue")
        self._forks = forks or ForkServer()
        self._has_deaths = asyncio.Event()  # of processes that were handling rows
        self._upkeep = UpkeepSearch(settings.database)
        self._launches = dict[InProgress, UUID]()  # the last start of each process

    async def run(self, stop: asyncio.Event, *, ready: Callable[[], None] | None = None) -> None:
        """Run all processes until `stop` is set and all of them have ended.

        `ready` is called once, when every process has registered or READY_SECONDS are over.
        """
        try:
            async with (
                rescuing(self._settings.database, self._settings.data),
                watching_space(self._settings),
            ):
                # Wait even with no processes: rescue runs for the workers of other hosts.
                await asyncio.gather(
                    stop.wait(),
                    *(
                        self._keep_one(group, stop)
                        for group in self._groups
                        for _ in range(group.count)
                    ),
                    self._keep_alone(stop),
                    self._keep_upkeep(stop),
                    self._tell_ready(stop, ready),
                )
        finally:
            await self._forks.close()
            await self._link.close()

    async def _tell_ready(self, stop: asyncio.Event, ready: Callable[[], None] | None) -> None:
        """Call `ready` when the processes have registered, unless `stop` is set before."""
        if ready is None:
            return
        await _unless_stopped(stop, self._registered())
        if not stop.is_set():
            ready()

    async def _registered(self) -> None:
        wanted = sum(group.count for group in self._groups)
        try:
            async with asyncio.timeout(READY_SECONDS):
                while True:
                    launches = list(self._launches.values())
                    count = partial(store.count_registered, launch_ids=launches)
                    if len(launches) == wanted and await self._link.call(count) == wanted:
                        return
                    await asyncio.sleep(LAUNCHED_SECONDS)
        except TimeoutError:
            log.warning("worker.not_ready", seconds=READY_SECONDS)

    async def _keep_one(self, group: Children, stop: asyncio.Event) -> None:
        wait = MIN_RESTART_WAIT
        in_progress = InProgress()
        try:
            while not stop.is_set():
                started_at = asyncio.get_running_loop().time()
                code = await self._run_child(group, stop, in_progress)
                if code == 0:
                    continue
                lived = asyncio.get_running_loop().time() - started_at
                # Back off unless it was killed or died of a row, which is handled alone from now.
                died_of_row = bool(in_progress.rows())
                was_well = code == -signal.SIGKILL or died_of_row or lived > MAX_RESTART_WAIT
                wait = MIN_RESTART_WAIT if was_well else min(MAX_RESTART_WAIT, wait * 2)
                await _unless_stopped(stop, asyncio.sleep(wait))
        finally:
            in_progress.close()

    async def _keep_alone(self, stop: asyncio.Event) -> None:
        """Handle rows whose worker stopped before, while there are any.

        Each queue has processes of its own for them, each with one row at a time, to which a death
        belongs. While each is busy with a long row, one more is started, up to MAX_ALONE.
        """
        running = dict[str, dict[asyncio.Task[None], InProgress]]()
        groups = {name: group for group in self._groups for name in group.queues}
        try:
            while not stop.is_set():
                await _unless_stopped(stop, self._pause_alone())
                for tasks in running.values():
                    for task in [one for one in tasks if one.done()]:
                        tasks.pop(task).close()
                free = [name for name in groups if _may_start(running.get(name, {}).values())]
                for name in await self._queues_of(partial(store.suspected, queues=free), stop):
                    in_progress = InProgress()
                    alone = self._run_alone(name, groups[name], stop, in_progress)
                    running.setdefault(name, {})[asyncio.create_task(alone)] = in_progress
        finally:
            await asyncio.gather(*(task for tasks in running.values() for task in tasks))
            for tasks in running.values():
                for in_progress in tasks.values():
                    in_progress.close()

    async def _run_alone(
        self, queue: str, group: Children, stop: asyncio.Event, in_progress: InProgress
    ) -> None:
        if len(group.queues) > 1:
            group = Children((queue,))
        await self._run_child(group, stop, in_progress, flag="--alone")
        if in_progress.rows():  # it died with one: others may be due
            self._has_deaths.set()

    async def _keep_upkeep(self, stop: asyncio.Event) -> None:
        """Work on due rows of upkeep queues that no process works on, on any host."""
        in_progress = InProgress()
        try:
            while not stop.is_set():
                await _unless_stopped(stop, asyncio.sleep(UPKEEP_SECONDS * (0.5 + random.random())))  # noqa: S311
                names = await self._queues_of(self._upkeep.due, stop)
                if not names:
                    continue
                await self._run_child(Children(names), stop, in_progress, flag="--until-idle")
                for name in await self._queues_of(partial(store.suspected, queues=names), stop):
                    await self._run_alone(name, Children((name,)), stop, in_progress)
        finally:
            in_progress.close()

    async def _pause_alone(self) -> None:
        """Wait until rows are looked for again; a death of a process that had some ends it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ALONE_SECONDS):
                await self._has_deaths.wait()
        self._has_deaths.clear()

    async def _queues_of(
        self, look: Callable[[Conn], Awaitable[list[str]]], stop: asyncio.Event
    ) -> list[str]:
        """Return the queues that a statement finds; none once `stop` is set, or if it fails."""
        found = list[str]()

        async def run() -> None:
            found.extend(await self._link.call(look))

        try:
            await _unless_stopped(stop, run())
        except Exception:  # workers go on, and it is asked again
            log.exception("worker.queues_not_read")
        return [] if stop.is_set() else found

    async def _run_child(
        self,
        group: Children,
        stop: asyncio.Event,
        in_progress: InProgress,
        *,
        flag: str | None = None,
    ) -> int:
        """Run one child to its end; return its exit code."""
        in_progress.clear()
        launch_id = uuid4()
        if flag is None:
            self._launches[in_progress] = launch_id
        child = await self._started(group, stop, launch_id, in_progress, flag)
        if child is None:
            return 0 if stop.is_set() else EXIT_UNKNOWN
        bound = group.stalled_seconds if flag is None else None
        with MEMORY.following(in_progress.read_metrics):
            ending = await ending_of(child, stop, in_progress, stalled_seconds=bound)
        if ending.code != 0:
            rows = in_progress.rows()
            MEMORY.record(WORKER_DEATHS, 1)
            MEMORY.record(SUSPECTED_ROWS, len(rows))
            log.error(
                "worker.died",
                pid=child.pid,
                code=ending.code,
                kind=" ".join(group.arguments),
                rows=[f"{row.queue} {row.id}" for row in rows[:MAX_NAMED]],
            )
            is_alone = flag == "--alone"
            report = self._report(ending, rows, launch_id, is_alone=is_alone)
            await _unless_stopped(stop, report, grace=REPORT_SECONDS)
        return ending.code

    async def _started(
        self,
        group: Children,
        stop: asyncio.Event,
        launch_id: UUID,
        in_progress: InProgress,
        flag: str | None,
    ) -> Fork | None:
        """Start a process; return None if `stop` is set before, or if none can be started."""
        found = list[Fork]()

        async def start() -> None:
            found.append(
                await start_child(
                    self._forks, self._settings, group, launch_id, in_progress, flag=flag
                )
            )

        try:
            await _unless_stopped(stop, start())
        except OSError:  # the others go on
            log.exception("worker.not_started", kind=" ".join(group.arguments))
        return found[0] if found else None

    async def _report(
        self, ending: ChildEnding, rows: Sequence[Begun], launch_id: UUID, *, is_alone: bool
    ) -> None:
        """Count the death on the rows that were being handled; return the others."""
        specs = {spec.name: spec for spec in QUEUES}
        try:
            by_queue = attrgetter("queue")
            for queue, group in groupby(sorted(rows, key=by_queue), by_queue):
                claims = [(row.id, row.claim_no) for row in group]
                if queue in specs:
                    suspect = partial(store.suspect, spec=specs[queue])
                elif queue == "email_queue":
                    suspect = partial(store.suspect_emails)  # mail has marks and limits of its own
                else:  # of another release, or cut short when the process died
                    continue
                await self._link.call(
                    partial(suspect, rows=claims, is_alone=is_alone, reason=ending.words)
                )
            if rows:
                self._has_deaths.set()
            await self._link.call(partial(store.rescue, silence=LOST_AFTER, launch_id=launch_id))
        except Exception:  # rescued later, when its heartbeat is missed
            log.exception("rescue.failed", launch_id=str(launch_id))


def _may_start(running: Collection[InProgress]) -> bool:
    """Return whether a further process for rows that are handled alone may start."""
    return len(running) < MAX_ALONE and all(
        any(row.seconds > ALONE_SECONDS for row in one.rows()) for one in running
    )


async def _unless_stopped(
    stop: asyncio.Event, work: Coroutine[Any, Any, None], *, grace: float = 0.0
) -> None:
    """Run `work` until `grace` seconds after `stop` is set: the database may be away for long."""
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    ended, _ = await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    if working not in ended and grace:
        ended, _ = await asyncio.wait((working,), timeout=grace)
    for task in (working, stopping):
        task.cancel()
    await asyncio.gather(working, stopping, return_exceptions=True)
    if working in ended:
        working.result()
