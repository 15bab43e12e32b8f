"""One worker of webhooks: claims deliveries, deals them to the lanes of their endpoints, drains."""

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.link import Link
from mailqueue.ports.webhook import Poster
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks.concurrency import CallSlots
from mailqueue.webhooks.dispatcher import (
    FIRST_CALLS,
    WAITING_PER_CALL,
    DispatchContext,
    EndpointDispatcher,
)
from mailqueue.webhooks.model import ClaimedDelivery
from mailqueue.webhooks.settler import DeliverySettler
from mailqueue.webhooks.store import deliveries as deliveries_store
from mailqueue.webhooks.targets import CACHE_SECONDS, EndpointTargets

LEASE = timedelta(seconds=60)
"""Longer than a delivery waits here and is called for together, and than its outcome takes."""
BATCH = 500
MAX_UNSETTLED = 2000
"""Outcomes that wait for the database; above it nothing new is claimed."""
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.05, 1.0
"""Nobody rings: with nothing to do it looks again after the one, ever later up to the other."""
TIDY_SECONDS = 5.0
TIDY_ROWS = 5000
DRAIN_SECONDS = 20.0
FORGET_SECONDS = 120.0
"""An endpoint that was told nothing for so long is a stranger again."""
RETRY_SECONDS = 5.0

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WebhookTools:
    """What a worker needs from outside."""

    poster: Poster
    read_master: Callable[[], MasterKey | None]
    in_flight: int = 128  # calls under way at once


class WebhookWorker:
    """Delivers until told to stop. Leases decide who has a row: it registers nowhere."""

    def __init__(self, database: DatabaseSettings, tools: WebhookTools) -> None:
        self._links = [Link(database, f"mailqueue/webhooks-{name}") for name in ("claim", "write")]
        self._tools = tools
        self._name = f"{socket.gethostname()} {os.getpid()}"
        self._lanes: dict[UUID, EndpointDispatcher] = {}
        self._has_room = asyncio.Event()
        self._ledger = DeliverySettler(self._links[1], blocked=self._left_alone)
        self._ways = EndpointTargets(self._links[0], tools.read_master)
        self._desk = DispatchContext(
            tools.poster,
            CallSlots(tools.in_flight),
            self._ledger.settle,
            lambda: self._ledger.written,
            self._has_room.set,
            asyncio.get_running_loop().time,
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until told to stop; calls under way are waited for and recorded."""
        tasks = [
            asyncio.create_task(work, name=f"webhooks-{name}")
            for name, work in (
                ("claim", self._claim_forever()),
                ("tidy", self._tidy_forever()),
                ("write", self._ledger.run()),
            )
        ]
        stopping = asyncio.create_task(stop.wait(), name="webhooks-stop")
        try:
            ended, _ = await asyncio.wait((stopping, *tasks), return_when=asyncio.FIRST_COMPLETED)
            await _cancelled(*tasks[:2])
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._drain()
            for task in ended:
                task.result()  # an error of ours ends the worker
        finally:
            for lane in self._lanes.values():
                lane.cancel()
            await _cancelled(stopping, *tasks)
            self._tools.poster.close()
            for link in self._links:
                await link.close()

    async def turn(self) -> int:
        """Claim once and deal out what was claimed; return how many deliveries."""
        room = {lane.webhook_id: lane.room for lane in self._lanes.values()}
        claimed_at = self._desk.now()
        claims = await self._links[0].call(
            lambda conn: deliveries_store.claim(
                conn,
                by=self._name,
                limit=BATCH,
                lease=LEASE,
                first=FIRST_CALLS * WAITING_PER_CALL,
                room=room,
            )
        )
        reach("webhooks.claimed")
        if claims:
            await self._deal(claims, claimed_at=claimed_at)
        return len(claims)

    async def _deal(self, claims: Sequence[ClaimedDelivery], *, claimed_at: float) -> None:
        by_webhook = {
            webhook_id: list(group)
            for webhook_id, group in groupby(claims, key=attrgetter("webhook_id"))
        }
        await self._find_ways([found[0] for found in by_webhook.values()])
        for webhook_id, group in by_webhook.items():
            if (lane := self._lanes.get(webhook_id)) is not None:
                lane.add(group, claimed_at=claimed_at)
            # Else it was removed at this moment, and what was claimed goes with it.

    async def _find_ways(self, claims: Sequence[ClaimedDelivery]) -> None:
        """See to it that each has a lane that knows the way as it is now."""
        oldest = self._desk.now() - CACHE_SECONDS
        stale = set()
        for claim in claims:
            lane = self._lanes.get(claim.webhook_id)
            if lane is None or lane.way.revision != claim.revision or lane.way.read_at < oldest:
                stale.add(claim.webhook_id)
        if not stale:
            return
        for webhook_id, way in (await self._ways.find(stale)).items():
            lane = self._lanes.get(webhook_id)
            if lane is None:
                self._lanes[webhook_id] = EndpointDispatcher(webhook_id, way, self._desk)
            else:
                lane.way = way

    async def _claim_forever(self) -> None:
        pause = MIN_POLL_SECONDS
        while True:
            self._has_room.clear()
            count = await self.turn() if len(self._ledger) < MAX_UNSETTLED else 0
            self._start_waiting()
            if count:
                pause = MIN_POLL_SECONDS
            if count >= BATCH // 2:
                continue
            # Who answers makes room: then there may be more to claim.
            is_busy = any(not lane.is_idle for lane in self._lanes.values())
            longest = MIN_POLL_SECONDS if is_busy or count else pause
            with suppress(TimeoutError):
                async with asyncio.timeout(longest):
                    await self._has_room.wait()
            if not is_busy:
                pause = min(MAX_POLL_SECONDS, pause * 1.5)

    def _start_waiting(self) -> None:
        """Begin calls that found no place before, in no order: none is always last."""
        waiting = [lane for lane in self._lanes.values() if lane.is_waiting]
        random.shuffle(waiting)
        for lane in waiting:
            lane.start()

    async def _tidy_forever(self) -> None:
        while True:
            while await self.tidy() >= TIDY_ROWS:
                pass
            await asyncio.sleep(TIDY_SECONDS)

    async def tidy(self) -> int:
        """Do once what nobody else sees to; return how many rows it touched."""
        self._tools.poster.rest()
        oldest = self._desk.now() - FORGET_SECONDS
        for webhook_id, lane in list(self._lanes.items()):
            if lane.is_idle and lane.used_at < oldest:
                del self._lanes[webhook_id]
        return await self._links[1].call(lambda conn: deliveries_store.tidy(conn, most=TIDY_ROWS))

    def _left_alone(self, ids: Collection[UUID]) -> None:
        for webhook_id in ids:
            if (lane := self._lanes.get(webhook_id)) is not None:
                lane.give_back("the endpoint is left alone for now")
        self._has_room.set()  # those that were in doubt and are not left alone go on

    async def _drain(self) -> None:
        for lane in self._lanes.values():
            lane.give_back("the worker stops")
        await asyncio.gather(*(lane.drained() for lane in self._lanes.values()))
        await self._ledger.drained()


@asynccontextmanager
async def keeping_webhooks(database: DatabaseSettings, tools: WebhookTools) -> AsyncIterator[None]:
    """Run a worker beside the block; one that fails begins again after a while."""
    stop = asyncio.Event()
    task = asyncio.create_task(_keep(database, tools, stop), name="webhooks")
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)


async def _keep(database: DatabaseSettings, tools: WebhookTools, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            await WebhookWorker(database, tools).run(stop)
        except Exception:  # whatever it is, it is in the log, and the rest of us goes on
            log.exception("webhooks.failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await stop.wait()


async def _cancelled(*tasks: asyncio.Task[None] | asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
