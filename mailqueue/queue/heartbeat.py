"""Decides whether this worker may still act: it is registered, beats, and stops when it cannot."""

import asyncio
import os
import socket
import time
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import mailqueue
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.own_loop import run_in_own_loop
from mailqueue.telemetry.log import get_logger

BEAT_SECONDS = 5.0
SILENCE = timedelta(seconds=30)
"""After this long without a beat others take what the worker holds."""
TRUSTED_SECONDS = 20.0
"""A worker that has not been heard for this long starts nothing any more: well inside SILENCE."""
TURN_SECONDS = 1.0
STUCK_SECONDS = 300.0
"""No beat is sent for a worker whose event loop has not turned for this long: it has hung."""

log = get_logger(__name__)


class Lifeline:
    """The registration of one worker process, kept alive by a heartbeat.

    `is_alive()` is cheap and asked before each mail is handed over. The heartbeat has a thread, an
    event loop and a connection of its own: composing one mail may take seconds, and a worker that
    is busy is not dead.
    """

    def __init__(self, link: Link, *, kind: str, launch_id: UUID) -> None:
        self._link = link
        self._kind = kind
        self._launch_id = launch_id
        self._heard_at = 0.0
        self._turned_at = 0.0
        self.worker_id = 0
        self.is_stopping = False
        self.is_lost = False

    def is_alive(self) -> bool:
        """Return whether the database has heard of us recently enough to hand mail over."""
        return not self.is_lost and time.monotonic() - self._heard_at < TRUSTED_SECONDS

    async def start(self) -> None:
        """Register this process as a worker."""
        started_at = time.monotonic()
        self.worker_id = await self._link.call(
            lambda conn: store.start_worker(
                conn,
                kind=self._kind,
                host=socket.gethostname(),
                pid=os.getpid(),
                version=mailqueue.__version__,
                launch_id=self._launch_id,
            )
        )
        await self._link.close()  # seldom used from here on: the heartbeat has its own
        self._heard_at, self.is_lost = started_at, False

    async def beat(self) -> None:
        """Beat once.

        Raises:
            LeaseLost: if others were told that this worker is gone.
        """
        await self._beat(self._link)

    async def _beat(self, link: Link) -> None:
        # The moment before asking: what counts is how old the database's news of us may be.
        asked_at = time.monotonic()
        is_known = await link.call(
            lambda conn: store.beat(conn, self.worker_id, is_stopping=self.is_stopping)
        )
        reach("beat.committed")
        if not is_known:
            self.is_lost = True
            raise LeaseLost(f"worker {self.worker_id} was declared lost")
        self._heard_at = asked_at

    async def beat_forever(self) -> None:
        """Beat until cancelled, or until the worker is lost."""
        beating = asyncio.create_task(run_in_own_loop(self._beat_apart, name="beat"))
        try:
            while not beating.done():
                self._turned_at = time.monotonic()
                await asyncio.wait((beating,), timeout=TURN_SECONDS)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
        beating.result()

    async def _beat_apart(self) -> None:
        link = self._link.twin()
        try:
            with suppress(LeaseLost):
                while True:
                    if time.monotonic() - self._turned_at < STUCK_SECONDS:
                        await self._beat(link)
                    else:
                        log.error("worker.stuck", worker=self.worker_id)
                    await asyncio.sleep(BEAT_SECONDS)
        finally:
            await link.close()

    async def stop(self) -> None:
        """Leave in good order; what is still held goes back."""
        await self._link.call(lambda conn: store.stop_worker(conn, self.worker_id))
