"""Measure the accept and send rates of this installation, and report what limits them."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex
from statistics import median
from uuid import UUID

from mailqueue.contract.processes import Accepting, Sending
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept import acceptance
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.operations.doctor.context import plural
from mailqueue.operations.store import bench as bench_store

PINGS, SINGLES, BATCH = 50, 100, 1000
BODY_BYTES = 5_000
ENOUGH_CPU = 0.8
"""CPU share from which a worker is limited by its CPU."""
MUCH_WAITING = 0.5


@dataclass(frozen=True, slots=True)
class BenchProject:
    """The project of one measurement."""

    name: str
    project: UUID
    account: int


@asynccontextmanager
async def trial(conn: Conn, *, port: int, is_forced: bool) -> AsyncIterator[BenchProject]:
    """Create a project for the block and erase all its rows afterwards.

    Raises:
        Conflict: mail is queued or workers are running, and `is_forced` is false.
    """
    found = await bench_store.obstacles(conn)
    if not is_forced and (found.emails or found.workers):
        raise Conflict(
            f"{plural(found.emails, 'email')} queued and {plural(found.workers, 'worker')} "
            "running: a measurement would slow them down and include them. Stop them first, or "
            "pass --yes"
        )
    name = f"bench-{token_hex(4)}"
    async with conn.transaction():
        project = await bench_store.start(conn, name)
        account = await bench_store.add_sender(conn, project, port=port)
    try:
        yield BenchProject(name, project, account)
    finally:
        async with conn.transaction():
            await bench_store.erase(conn, name, project)


async def accept(conn: Conn, trial: BenchProject, *, count: int) -> Accepting:
    """Queue `count` mails in batches, after some single ones; return the rates."""
    round_trip = await _typical(PINGS, lambda _: bench_store.ping(conn))
    single = await _typical(SINGLES, lambda n: _one(conn, trial, n))
    started = time.perf_counter()
    for first in range(SINGLES, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        await acceptance.accept(conn, [_mail(trial, n) for n in numbers], project=trial.name)
    took = time.perf_counter() - started
    return Accepting(1000 * round_trip, 1000 * single, max(0, count - SINGLES) / took)


async def sent(conn: Conn, trial: BenchProject, *, count: int, is_over: asyncio.Event) -> Sending:
    """Start sending and wait until all mails are sent or the worker has ended; return the rate."""
    cpu, began_at = time.process_time(), await bench_store.instant(conn)
    started = time.perf_counter()
    await bench_store.resume_sender(conn, trial.account)
    while (found := await bench_store.look(conn, trial.name)).sent < count:
        if is_over.is_set():
            raise Conflict(f"the worker ended after {found.sent} of {count} emails")
        await asyncio.sleep(0.1)
    used, passed = time.process_time() - cpu, time.perf_counter() - started
    took = found.ended_at - began_at
    return Sending(count, count / took, 1e6 * used / count, used / passed)


def words(accepting: Accepting, sending: Sending) -> list[str]:
    """Return the limiting factors, the most important first. Pure."""
    commit_ms = accepting.single_ms - accepting.round_trip_ms
    said: list[str] = []
    if sending.cpu_share >= ENOUGH_CPU:
        said.append(
            f"Sending is limited by the worker's CPU, {sending.cpu_us:.0f} us per email: more "
            "processes (`mailqueue worker send --processes`) or hosts send more."
        )
    else:
        said.append(
            f"The worker waited {1 - sending.cpu_share:.0%} of the time for PostgreSQL and the "
            "sink: more processes or a higher --in-flight send more."
        )
    if accepting.round_trip_ms > MUCH_WAITING:
        said.append(
            f"PostgreSQL is {accepting.round_trip_ms:.2f} ms away: run it closer, or send in "
            "batches."
        )
    if commit_ms > 2:
        said.append(
            f"A commit takes {commit_ms:.1f} ms, most of it the disk under the write-ahead log: a "
            "faster disk helps single mails; batches need it less."
        )
    else:
        said.append(f"A commit takes {commit_ms:.1f} ms: the disk is not the limit.")
    return said


async def _one(conn: Conn, trial: BenchProject, number: int) -> None:
    await acceptance.accept_one(conn, _mail(trial, number), project=trial.name)


async def _typical(count: int, work: Callable[[int], Awaitable[None]]) -> float:
    took: list[float] = []
    for number in range(count):
        started = time.perf_counter()
        await work(number)
        took.append(time.perf_counter() - started)
    return median(took)


def _mail(trial: BenchProject, number: int) -> NewEmail:
    html = f"<h1>Number {number}</h1>\n".ljust(BODY_BYTES, "x")
    wrapped = "\n".join(html[at : at + 76] for at in range(0, len(html), 76))
    return NewEmail(
        f"person{number}@example.com",
        f"Number {number}",
        html=wrapped,
        text=f"Number {number}",
        options={"campaign_id": trial.name},
    )
