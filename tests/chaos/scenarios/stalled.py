"""A worker that is frozen until others have claimed its mail, and one that is cut off."""

import asyncio
import signal

from mailqueue.db.fetch import Conn
from mailqueue.queue import store as kernel
from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import IN_FLIGHT, Sandbox, ScenarioSize
from tests.chaos.scenarios.cutting import Way, proxy_to
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import until
from tests.mail.claim.steps import SILENCE

EACH_MAIL_MS = 5
_STATES = "SELECT status FROM mailqueue.worker_status WHERE id = %s"


async def frozen_and_held(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Fence: resumed, it records what it had sent, and sends nothing that it lost."""
    found, before = await _frozen(sandbox, size, "hold")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown <= IN_FLIGHT, f"{found.unknown} unknown")
    found.prove(before > 0, "nothing was in flight when it froze")
    late = before - found.unknown
    found.prove(late > 0, "no success was recorded late")
    return found


async def frozen_and_resent(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Fence: at most the mail it had in flight is sent again by others."""
    found, _ = await _frozen(sandbox, size, "resend")
    found.promise(found.duplicated <= IN_FLIGHT, f"{found.duplicated} duplicates")
    return found


async def _frozen(
    sandbox: Sandbox, size: ScenarioSize, delivery: str
) -> tuple[ScenarioResult, int]:
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    async with sandbox.session() as conn, sandbox.workers() as frozen:
        worker = await _first_worker(conn)
        async with sandbox.producing(size.mails, seconds=size.seconds, delivery=delivery) as mails:
            await sandbox.taken(size.first)
            frozen.signal(signal.SIGSTOP)
            await _is_lost(conn, worker)
            async with sandbox.workers():
                await mails.done.wait()
                await sandbox.settled(conn)
                held = "SELECT count(*) FROM mailqueue.email_queue WHERE status = 'held'"
                before = await make.scalar(conn, held)
                frozen.signal(signal.SIGCONT)
                await _began_anew(conn)
                await sandbox.settled(conn)
        found = await sandbox.compare(
            conn, "SIGSTOP of a worker", faults=1, accepted=mails.accepted
        )
    return found, before


async def silent_both_ways(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Nothing arrives in either direction, and no connection is closed."""
    return await _unheard(sandbox, size, Way.BOTH)


async def silent_answers(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """The server receives the worker's bytes, the worker receives none: marks without a sender."""
    return await _unheard(sandbox, size, Way.ANSWERING)


async def silent_questions(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """The worker receives the server's bytes, the server receives none."""
    return await _unheard(sandbox, size, Way.ASKING)


async def _unheard(sandbox: Sandbox, size: ScenarioSize, ways: Way) -> ScenarioResult:
    """No mail is started without a valid claim; the worker continues once it is reachable."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    port = (await asyncio.to_thread(sandbox.server.start)).port
    async with (
        proxy_to(port) as proxy,
        sandbox.session() as conn,
        sandbox.workers(database=sandbox.database_by(proxy.port)),
    ):
        worker = await _first_worker(conn)
        async with sandbox.producing(size.mails, seconds=size.seconds, delivery="hold") as mails:
            await sandbox.taken(size.first)
            proxy.cut(ways)
            await _is_lost(conn, worker)
            async with sandbox.workers():
                await mails.done.wait()
                await sandbox.settled(conn)
                faults = proxy.stopped
                proxy.heal()
                await _began_anew(conn)
                await sandbox.settled(conn)
        found = await sandbox.compare(
            conn, "a silent connection", faults=faults, accepted=mails.accepted
        )
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown <= IN_FLIGHT, f"{found.unknown} unknown")
    return found


async def _first_worker(conn: Conn) -> int:
    async def registered() -> int:
        return int(await make.scalar(conn, "SELECT min(id) FROM mailqueue.workers") or 0)

    return await until(registered)


async def _is_lost(conn: Conn, worker: int) -> None:
    """Shorten its lease until others see that it is lost."""

    async def lost() -> bool:
        await make.silent(conn, worker)
        await kernel.rescue(conn, silence=SILENCE)
        return bool(await make.scalar(conn, _STATES, worker) == "lost")

    await until(lost)


async def _began_anew(conn: Conn) -> None:
    """Wait until the worker that was declared lost has registered under another number."""
    anew = "SELECT count(*) >= 3 FROM mailqueue.workers"  # its own two, and the one that stood in

    async def is_back() -> bool:
        return bool(await make.scalar(conn, anew))

    await until(is_back)
