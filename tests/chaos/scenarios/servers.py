"""Mail servers that refuse, stall, send garbage or lie for a while."""

from dataclasses import dataclass
from pathlib import Path

from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize
from tests.chaos.sink.faults import CONNECT, DOT, RCPT, Fault
from tests.concurrency.running import pids, until

MAX_MEMORY_KIB = 300 * 1024
STRIKES = 5
_SPENT = "SELECT count(*) FROM mailqueue.send_logs WHERE status <> 'sent'"


@dataclass(frozen=True, slots=True)
class Borne:
    """Findings apart from the result of the comparison."""

    found: ScenarioResult
    attempts_lost: int  # attempts that came to nothing
    memory_kib: int  # the most the worker ever had


async def refused_for_good(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """5xx: the refused mails have failed, no others."""
    found = (await _through(sandbox, size, Fault.PERMANENT, RCPT)).found
    failed = found.statuses["failed"]
    found.promise(failed == found.faults, f"{failed} failed, {found.faults} refused")
    _is_exact(found, also=failed)
    return found


async def busy_at_once(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """421 instead of a greeting: the account is paused, and no mail has spent an attempt."""
    borne = await _through(sandbox, size, Fault.BUSY, CONNECT, strikes=1)
    lost = borne.attempts_lost
    borne.found.promise(lost == 0, f"{lost} attempts were spent")
    _is_exact(borne.found)
    return borne.found


async def busy_at_the_dot(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """421 after the message: it was refused, and is sent once more."""
    found = (await _through(sandbox, size, Fault.BUSY, DOT)).found
    _is_exact(found)
    return found


async def one_byte_at_a_time(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Replies arrive one byte at a time; apart from that the server works."""
    found = (await _through(sandbox, size, Fault.DRIP, DOT)).found
    _is_exact(found)
    return found


async def huge_replies(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Ten megabytes in reply to RCPT: the connection is closed, memory stays small.

    The yes to the mail before it, read in the same breath, is not believed either.
    """
    borne = await _through(sandbox, size, Fault.FLOOD, RCPT, delivery="hold", is_short=True)
    _is_never_doubled(borne.found)
    _is_small(borne)
    return borne.found


async def huge_reply_to_the_dot(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """It is unknown whether such a server accepted the mail: it is not sent again by itself."""
    borne = await _through(sandbox, size, Fault.FLOOD, DOT, delivery="hold", is_short=True)
    _is_never_doubled(borne.found)
    _is_small(borne)
    return borne.found


async def out_of_order(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Accepted before the message and refused after it: no mail counts as sent."""
    found = (await _through(sandbox, size, Fault.DISORDER, DOT, delivery="hold")).found
    _is_never_doubled(found)
    return found


async def hanging(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """No reply to RCPT until the connection breaks: nothing was handed over, all is sent once."""
    found = (await _through(sandbox, size, Fault.HANG, RCPT, strikes=1)).found
    _is_exact(found)
    return found


async def silent_after_the_dot(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """All mail with the policy `hold` is held and listed."""
    found = (await _through(sandbox, size, Fault.SILENT, DOT, strikes=1, delivery="hold")).found
    _is_never_doubled(found)
    in_doubt = found.faults
    found.promise(found.unknown == in_doubt, f"{found.unknown} unknown of {in_doubt} in doubt")
    return found


async def gone_after_every_dot(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """One resend, then an operator decides: two copies of each mail, never three."""
    await sandbox.sink.obey(Fault.GONE, at=DOT)
    async with (
        sandbox.session() as conn,
        sandbox.workers(),
        sandbox.producing(size.mails) as mails,
    ):
        await sandbox.finished(conn)
        faults = (await sandbox.sink.counts()).faults
        fault = f"{Fault.GONE} at {DOT}"
        found = await sandbox.compare(conn, fault, faults=faults, accepted=mails.accepted)
    found.promise(found.unknown == size.mails, f"{found.unknown} unknown")
    found.promise(found.duplicated == size.mails, f"{found.duplicated} were sent again")
    return found


async def not_listening(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Connections are refused: the account is paused, and no mail has spent an attempt."""
    async with sandbox.session() as conn, sandbox.workers():
        async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
            await sandbox.taken(size.first)
            await sandbox.sink.obey(Fault.REFUSE)

            async def rests() -> int:
                return int(await make.scalar(conn, "SELECT max(failures) FROM mailqueue.limits"))

            faults = await until(rests)
            await mails.done.wait()
            spent = await make.scalar(conn, _SPENT)
            await sandbox.sink.obey(Fault.NONE)
        await sandbox.finished(conn)
        found = await sandbox.compare(conn, "refuse", faults=faults, accepted=mails.accepted)
    found.promise(spent == 0, f"{spent} attempts were spent")
    _is_exact(found)
    return found


async def _through(
    sandbox: Sandbox,
    size: ScenarioSize,
    fault: Fault,
    at: str,
    *,
    strikes: int = STRIKES,
    delivery: str = "resend",
    is_short: bool = False,
) -> Borne:
    """Send some mail before the fault, accept more during it, and finish afterwards.

    A short fault is over once it has occurred.
    """
    async with sandbox.session() as conn, sandbox.workers():
        async with sandbox.producing(
            size.mails, seconds=size.seconds, delivery=delivery, held=size.mails // 2
        ) as mails:
            await sandbox.taken(size.first)
            await sandbox.sink.obey(fault, at=at)
            mails.released.set()
            await sandbox.wait_for_faults(strikes)
            if not is_short:
                await mails.done.wait()
            lost = await make.scalar(conn, _SPENT)
            faults = (await sandbox.sink.obey(Fault.NONE)).faults
        await sandbox.finished(conn)
        memory = max(_most_memory(pid) for pid in await pids(conn, 1))
        words = f"{fault} at {at}"
        found = await sandbox.compare(conn, words, faults=faults, accepted=mails.accepted)
    return Borne(found, lost, memory)


def _is_exact(found: ScenarioResult, *, also: int = 0) -> None:
    sent = found.statuses["sent"]
    found.promise(sent + also == found.accepted, f"{sent} of {found.accepted} were sent")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")


def _is_never_doubled(found: ScenarioResult) -> None:
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(
        found.unknown <= found.faults, f"{found.unknown} unknown, {found.faults} in doubt"
    )


def _is_small(borne: Borne) -> None:
    mib = borne.memory_kib // 1024
    borne.found.promise(borne.memory_kib < MAX_MEMORY_KIB, f"a worker took {mib} MiB")


def _most_memory(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
