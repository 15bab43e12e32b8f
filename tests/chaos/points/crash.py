"""Runs one process to one crash point, interrupts it there, and checks what remains."""

import signal
from uuid import uuid4

from mailqueue.core.crashpoints import Action
from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.points.named import Point, Way
from tests.chaos.points.runner import EACH_MAIL_MS, PointRunner, lose_all, wait_for_fault
from tests.chaos.processes import Child
from tests.chaos.sandbox import IN_FLIGHT, LONGEST_WAIT, hasten
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import until

KILLED = -signal.SIGKILL
RESCUE = "rescue.committed"
_NEWEST = "SELECT coalesce(max(id), 0) FROM mailqueue.workers"
_UNFINISHED = "SELECT count(*) FROM mailqueue.email_queue WHERE status IN ('pending', 'assigned')"


async def crash_worker(runner: PointRunner, conn: Conn, point: Point, action: Action) -> list[str]:
    """Interrupt a worker; finish its mail with another one, then check that it continues if it
    can.
    """
    await runner.sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    await runner.accept(conn, is_large=point.way is Way.LARGE)
    child = await runner.start(
        # A parent rescues; all other points are those of the process that it keeps.
        *("worker", "send", "--processes=1" if point.name == RESCUE else f"--child={uuid4()}"),
        "--batch=8",
        *(f"--in-flight={IN_FLIGHT}", f"--data={runner.folder}"),
        inject=(point, action),
    )
    await _bring(runner, conn, child, point.way)
    await wait_for_fault(child, point, action)
    match action:
        case Action.KILL:
            return await _after_death(runner, conn, child)
        case Action.RAISE:
            return await _after_exception(runner, conn, child)
        case Action.STALL:
            return await _after_stall(runner, conn, child)


async def _bring(runner: PointRunner, conn: Conn, child: Child, way: Way) -> None:
    """Do what makes a sending worker reach the point."""
    if way not in (Way.STOP, Way.LOSE):
        return
    before = (await runner.sandbox.sink.counts()).taken
    await runner.sandbox.taken(before + 2)
    if way is Way.STOP:
        child.signal(signal.SIGTERM)
    else:
        await lose_all(conn)


async def _after_death(runner: PointRunner, conn: Conn, child: Child) -> list[str]:
    code = await child.ended()
    await lose_all(conn)
    await runner.finish(conn)
    return [] if code == KILLED else [f"it was killed and ended with {code}"]


async def _after_exception(runner: PointRunner, conn: Conn, child: Child) -> list[str]:
    """It ends and returns its mail, or continues and finishes it."""

    async def is_over() -> bool:
        await hasten(conn, LONGEST_WAIT)
        return child.code is not None or await make.scalar(conn, _UNFINISHED) == 0

    await until(is_over, seconds=runner.sandbox.size.patience)
    child.signal(signal.SIGTERM)
    await child.ended()
    await lose_all(conn)
    await runner.finish(conn)
    return []


async def _after_stall(runner: PointRunner, conn: Conn, child: Child) -> list[str]:
    """Fence: resumed after others have finished its mail, it changes nothing."""
    await lose_all(conn)
    await runner.finish(conn)
    newest = await make.scalar(conn, _NEWEST)
    child.signal(signal.SIGCONT)

    async def goes_on() -> bool:
        return child.code is not None or await make.scalar(conn, _NEWEST) > newest

    await until(goes_on, seconds=runner.sandbox.size.patience)
    child.signal(signal.SIGTERM)
    code = await child.ended()
    await runner.finish(conn)
    return [] if code == 0 else [f"woken, it ended with {code}"]
