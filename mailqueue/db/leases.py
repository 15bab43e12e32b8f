"""Leases: exclusive rights to a task, held in a row and renewed while a process works.

A lease ends when it is released, when its holder's session ends, or when it was not renewed for
LEASE_SECONDS. A holder that cannot renew its lease stops before that.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

from psycopg import Error

from mailqueue.core.errors import LeaseLost, Unavailable
from mailqueue.db.fetch import Conn, maybe, run, value
from mailqueue.db.statements import leases as sql

LEASE_SECONDS = 60.0
RENEW_SECONDS = 10.0
MARGIN_SECONDS = 10.0
"""Seconds before the end of its lease at which a holder that cannot renew it stops."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease held by this process."""

    name: str
    token: UUID


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lease."""

    holder: str
    taken_at: datetime

    def __str__(self) -> str:
        return f"{self.holder}, since {self.taken_at.astimezone(UTC):%H:%M:%S} UTC"


def this_process() -> str:
    """Return host and pid of this process, for messages."""
    return f"process {os.getpid()} on {socket.gethostname()}"


async def take(keeper: Conn, name: str, *, worker: Conn) -> Lease | Holder:
    """Take a lease for `worker`; return its holder if another process has it."""
    lease = Lease(name, uuid4())
    params = {
        "name": name,
        "token": lease.token,
        "holder": this_process(),
        "pid": await value(worker, sql.SHOW_BACKEND_PID, None, int),
        "seconds": LEASE_SECONDS,
    }
    if await value(keeper, sql.TAKE_LEASE, params, bool):
        return lease
    found = await maybe(keeper, sql.FIND_LEASE_HOLDER, {"name": name}, Holder)
    return found or Holder("another process", datetime.now(UTC))


@asynccontextmanager
async def held(keeper: Conn, lease: Lease) -> AsyncIterator[Lease]:
    """Renew a lease over `keeper` during the block, then release it.

    Raises:
        Unavailable: it could not be renewed in time, and the block was cancelled.
    """
    try:
        async with renewed(partial(renew, keeper, lease), lease.name):
            yield lease
    finally:
        if not keeper.closed:
            with suppress(Error):  # it ends with the session
                params = {"name": lease.name, "token": lease.token}
                await run(keeper, sql.RELEASE_LEASE, params)


async def renew(keeper: Conn, lease: Lease) -> bool:
    """Extend a lease to LEASE_SECONDS from now; return False if another process has it."""
    params = {"name": lease.name, "token": lease.token, "seconds": LEASE_SECONDS}
    return await value(keeper, sql.RENEW_LEASE, params, bool)


@asynccontextmanager
async def renewed(
    renew_once: Callable[[], Awaitable[bool]], name: str, *, seconds: float = LEASE_SECONDS
) -> AsyncIterator[None]:
    """Call `renew_once` every few seconds in the block; cancel the block if it fails too long.

    Raises:
        Unavailable: the lease could not be renewed in time, or another process has it.
    """
    try:
        async with asyncio.timeout(seconds - MARGIN_SECONDS) as bound:
            renewing = asyncio.create_task(
                _renew(renew_once, bound, seconds), name=f"lease of {name}"
            )
            try:
                yield
            finally:
                renewing.cancel()
                with suppress(asyncio.CancelledError):
                    await renewing
    except TimeoutError:
        if not bound.expired():
            raise
        raise Unavailable(
            f"the lease of {name} could not be renewed in time, so this process stopped before "
            "another takes it: run it again"
        ) from None


async def _renew(
    renew_once: Callable[[], Awaitable[bool]], bound: asyncio.Timeout, seconds: float
) -> None:
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(min(RENEW_SECONDS, seconds / 5))
        began = loop.time()
        try:
            is_ours = await renew_once()
        except (Error, OSError):
            continue  # until the deadline
        if bound.expired():
            return
        bound.reschedule(began + seconds - MARGIN_SECONDS if is_ours else began)
        if not is_ours:
            return


async def call_with_retries(conn: Conn, lease: Lease) -> None:
    """Lock a lease's row, so that it stays with this process until the transaction of `conn` ends.

    Raises:
        LeaseLost: this process no longer holds it.
    """
    if await maybe(conn, sql.USE_LEASE, {"name": lease.name, "token": lease.token}, str) is None:
        raise LeaseLost(
            f"the lease of {lease.name} was taken over by another process: run the command again"
        )
