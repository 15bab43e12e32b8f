"""Runs every crash point with every action, several at a time."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from itertools import cycle, product
from pathlib import Path

from mailqueue.core.crashpoints import Action
from mailqueue.db.fetch import Conn
from tests.chaos.points.commands import RUN_BY_WAY
from tests.chaos.points.crash import crash_worker
from tests.chaos.points.named import POINTS, WORKER_WAYS, Point
from tests.chaos.points.runner import PointRunner, lose_all
from tests.chaos.processes import fork_server
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize, sandbox

TRACKS = 2
Case = tuple[Point, Action]
CASES: Sequence[Case] = tuple(product(POINTS, Action))
ONCE_EACH: Sequence[Case] = tuple(zip(POINTS, cycle(Action), strict=False))
QUICK_MAILS = 20


async def all_points(first: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Run every point with kill, raise and stall: nothing is lost, few duplicates, the books add
    up.

    The short form strikes each point once, with each action at every third.
    """
    wanted = cases_of(size)
    cases = iter(wanted)
    with tempfile.TemporaryDirectory(prefix="mailqueue-crash-") as folder:
        found = await asyncio.gather(
            *(_track(n, first, size, cases, Path(folder)) for n in range(TRACKS))
        )
    whole = found[0]
    for each in found[1:]:
        whole.add(each)
    whole.promise(whole.faults == len(wanted), f"{whole.faults} of {len(wanted)} faults")
    return whole


def cases_of(size: ScenarioSize) -> Sequence[Case]:
    """Return the cases of a run of that size."""
    return CASES if size.mails > QUICK_MAILS else ONCE_EACH


async def _case(runner: PointRunner, conn: Conn, point: Point, action: Action) -> None:
    """Run one case; after a failure, clean up for the others."""
    run = crash_worker if point.way in WORKER_WAYS else RUN_BY_WAY[point.way]
    faults: list[str] = []
    try:
        faults = await run(runner, conn, point, action)
    except AssertionError as exc:
        faults = [str(exc)]
        runner.nursery.end_all()
        await lose_all(conn)
        await runner.finish(conn)
    await runner.compare(conn, f"{point.name} {action}", faults)


async def _track(
    number: int, first: Sandbox, size: ScenarioSize, cases: Iterator[Case], folder: Path
) -> ScenarioResult:
    """Run cases until none is left."""
    own = folder / str(number)
    own.mkdir()
    async with sandbox(first.name, first.server, size) as made, fork_server(own) as forks:
        runner = PointRunner(made, forks, size.mails)
        async with made.session() as conn:
            for point, action in cases:
                await _case(runner, conn, point, action)
            found = await made.compare(
                conn, "a process faults at a point", faults=runner.faults, accepted=runner.accepted
            )
    found.broken = runner.broken
    return found
