"""Keeps a worker registered by a heartbeat, and decides whether it may still begin work."""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import mailqueue
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.own_loop import run_in_own_loop
from mailqueue.queue.server_memory import ServerMemory
from mailqueue.queue.tasks import cancelled
from mailqueue.telemetry.log import get_logger

BEAT_SECONDS = 5.0
STOP_SECONDS = 5.0
"""Limit of the statement that unregisters the worker."""
LOST_AFTER = timedelta(seconds=30)
"""Time without a heartbeat after which a worker is declared lost and what it holds is rescued."""
TRUSTED_SECONDS = 20.0
"""Time since its last heartbeat after which a worker hands over no email and begins no row: below
LOST_AFTER."""
LOOP_CHECK_SECONDS = 1.0
"""Interval at which the event loop shows that it turns."""
HUNG_SECONDS = 60.0
"""Time without a turn of the event loop after which a worker sends no more heartbeats, and its
parent ends the process."""

log = get_logger(__name__)


class Heartbeat:
    """The registration of one worker process, kept alive by a heartbeat.

    `is_alive()` is cheap and called before each email is handed over. The heartbeat has a thread,
    an event loop and a connection of its own, so that a worker that is busy building a message for
    seconds is not declared lost.
    """

    def __init__(
        self,
        link: Link,
        *,
        kind: str,
        launch_id: UUID,
        queues: Sequence[str] = (),
        in_progress: InProgress | None = None,
    ) -> None:
        self._link = link
        self._kind = kind
        self._launch_id = launch_id
        self._queues = queues
        self._in_progress = in_progress
        self._confirmed_at = 0.0
        self._turned_at = 0.0
        self._memory = ServerMemory()
        self.marks: Callable[[], int] = int
        """Returns the number of acknowledged commits of this worker that marked emails."""
        self.worker_id = 0
        self.is_stopping = False
        self.is_lost = False

    def is_alive(self) -> bool:
        """Return whether the last heartbeat is recent enough to hand over an email."""
        return not self.is_lost and time.monotonic() - self._confirmed_at < TRUSTED_SECONDS

    async def start(self, stop: asyncio.Event) -> bool:
        """Register this process as a worker; return False if `stop` was set before it could.

        A database that is unavailable, or gone for ever, does not keep a process from stopping.
        """
        turning = asyncio.create_task(self._turn_forever(), name="turn")
        stopping = asyncio.create_task(stop.wait(), name="stop")
        started_at = time.monotonic()
        registering = asyncio.create_task(
            self._link.call(
                lambda conn: store.start_worker(
                    conn,
                    kind=self._kind,
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    version=mailqueue.__version__,
                    launch_id=self._launch_id,
                    queues=self._queues,
                )
            ),
            name="register",
        )
        try:
            await asyncio.wait((registering, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not registering.done():
                return False
            self.worker_id = registering.result()
        finally:
            await cancelled(turning, stopping, registering)
            await self._link.close()  # seldom used from now on: the heartbeat has its own
        self._confirmed_at, self.is_lost = started_at, False
        return True

    async def beat(self) -> None:
        """Send one heartbeat.

        Raises:
            LeaseLost: this worker was declared lost.
        """
        await self._link.call(self.beat_on)

    async def beat_on(self, conn: Conn) -> None:
        """Send one heartbeat on this connection, which may lead to another server than before.

        Raises:
            LeaseLost: this worker was declared lost.
        """
        # Before the statement: what counts is the age of the database's record.
        asked_at = time.monotonic()
        answer = await store.beat(
            conn,
            self.worker_id,
            is_stopping=self.is_stopping,
            launch_id=self._launch_id,
            seen=self._memory.seen,
            marks=self.marks(),
        )
        self._memory.update(answer.seen, answer.refusal)
        reach("beat.committed")
        if not answer.is_known:
            self.is_lost = True
            raise LeaseLost(f"worker {self.worker_id} was declared lost")
        self._confirmed_at = asked_at

    async def beat_forever(self) -> None:
        """Send heartbeats until cancelled, or until the worker is declared lost."""
        turning = asyncio.create_task(self._turn_forever(), name="turn")
        try:
            await run_in_own_loop(self._beat_apart, name="beat")
        finally:
            await cancelled(turning)

    async def _turn_forever(self) -> None:
        """Show that the event loop turns; a long wait for the database does not count as hung."""
        while True:
            self._turned_at = time.monotonic()
            if self._in_progress is not None:
                self._in_progress.turn()
            await asyncio.sleep(LOOP_CHECK_SECONDS)

    async def _beat_apart(self) -> None:
        link = self._link.clone()
        try:
            with suppress(LeaseLost):
                while True:
                    if time.monotonic() - self._turned_at < HUNG_SECONDS:
                        await link.call(self.beat_on)
                    else:
                        log.error("worker.stuck", worker=self.worker_id)
                    await asyncio.sleep(BEAT_SECONDS)
        finally:
            await link.close()

    async def stop(self) -> None:
        """Unregister the worker; what it still holds returns to its queues.

        While the database is unavailable it is declared lost later.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._link.call(lambda conn: store.stop_worker(conn, self.worker_id))
