"""The webhook worker: claim deliveries, give them to the dispatchers of their endpoints, drain."""

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
from mailqueue.queue.tasks import cancelled
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
"""Longer than a delivery waits, is called and is settled, together."""
BATCH = 500
MAX_UNSETTLED = 2000
"""Outcomes that may wait for the database; above it nothing is claimed."""
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.05, 1.0
"""Bounds of the poll interval, which grows while nothing is due; no NOTIFY is sent."""
TIDY_SECONDS = 5.0
TIDY_ROWS = 5000
DRAIN_SECONDS = 20.0
FORGET_SECONDS = 120.0
"""How long an idle endpoint keeps its dispatcher; after that it is unproven again."""
RETRY_SECONDS = 5.0

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WebhookTools:
    """The adapters a worker uses."""

    poster: Poster
    read_master: Callable[[], MasterKey | None]
    in_flight: int = 128  # concurrent calls


class WebhookWorker:
    """Delivers until told to stop; leases say whose a row is, so it is not registered."""

    def __init__(self, database: DatabaseSettings, tools: WebhookTools) -> None:
        self._links = [Link(database, f"mailqueue/webhooks-{name}") for name in ("claim", "write")]
        self._tools = tools
        self._name = f"{socket.gethostname()} {os.getpid()}"
        self._dispatchers: dict[UUID, EndpointDispatcher] = {}
        self._has_room = asyncio.Event()
        self._settler = DeliverySettler(self._links[1], blocked=self._defer_blocked)
        self._targets = EndpointTargets(self._links[0], tools.read_master)
        self._context = DispatchContext(
            tools.poster,
            CallSlots(tools.in_flight),
            self._settler.settle,
            lambda: self._settler.written,
            self._has_room.set,
            asyncio.get_running_loop().time,
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until `stop` is set; running calls are waited for and settled."""
        tasks = [
            asyncio.create_task(work, name=f"webhooks-{name}")
            for name, work in (
                ("claim", self._claim_forever()),
                ("tidy", self._tidy_forever()),
                ("write", self._settler.run()),
            )
        ]
        stopping = asyncio.create_task(stop.wait(), name="webhooks-stop")
        try:
            ended, _ = await asyncio.wait((stopping, *tasks), return_when=asyncio.FIRST_COMPLETED)
            await cancelled(*tasks[:2])
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._drain()
            for task in ended:
                task.result()  # an error of ours ends the worker
        finally:
            for dispatcher in self._dispatchers.values():
                dispatcher.cancel()
            await cancelled(stopping, *tasks)
            self._tools.poster.close()
            for link in self._links:
                await link.close()

    async def turn(self) -> int:
        """Claim once and dispatch what was claimed; return the number of deliveries."""
        room = {dispatcher.webhook_id: dispatcher.room for dispatcher in self._dispatchers.values()}
        claimed_at = self._context.now()
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
            await self._dispatch(claims, claimed_at=claimed_at)
        return len(claims)

    async def _dispatch(self, claims: Sequence[ClaimedDelivery], *, claimed_at: float) -> None:
        by_webhook = {
            webhook_id: list(group)
            for webhook_id, group in groupby(claims, key=attrgetter("webhook_id"))
        }
        await self._refresh_targets([found[0] for found in by_webhook.values()])
        for webhook_id, group in by_webhook.items():
            if (dispatcher := self._dispatchers.get(webhook_id)) is not None:
                dispatcher.add(group, claimed_at=claimed_at)
            # Else it was deleted just now, and its deliveries with it.

    async def _refresh_targets(self, claims: Sequence[ClaimedDelivery]) -> None:
        """Create a dispatcher with the current target for the endpoint of each claim."""
        oldest = self._context.now() - CACHE_SECONDS
        stale = set()
        for claim in claims:
            dispatcher = self._dispatchers.get(claim.webhook_id)
            if (
                dispatcher is None
                or dispatcher.target.revision != claim.revision
                or dispatcher.target.read_at < oldest
            ):
                stale.add(claim.webhook_id)
        if not stale:
            return
        for webhook_id, target in (await self._targets.find(stale)).items():
            dispatcher = self._dispatchers.get(webhook_id)
            if dispatcher is None:
                self._dispatchers[webhook_id] = EndpointDispatcher(
                    webhook_id, target, self._context
                )
            else:
                dispatcher.target = target

    async def _claim_forever(self) -> None:
        pause = MIN_POLL_SECONDS
        while True:
            self._has_room.clear()
            count = await self.turn() if len(self._settler) < MAX_UNSETTLED else 0
            self._start_waiting()
            if count:
                pause = MIN_POLL_SECONDS
            if count >= BATCH // 2:
                continue
            # A response makes room: then there may be more to claim.
            is_busy = any(not dispatcher.is_idle for dispatcher in self._dispatchers.values())
            longest = MIN_POLL_SECONDS if is_busy or count else pause
            with suppress(TimeoutError):
                async with asyncio.timeout(longest):
                    await self._has_room.wait()
            if not is_busy:
                pause = min(MAX_POLL_SECONDS, pause * 1.5)

    def _start_waiting(self) -> None:
        """Start calls that found no slot before, in random order so that none is always last."""
        waiting = [dispatcher for dispatcher in self._dispatchers.values() if dispatcher.is_waiting]
        random.shuffle(waiting)
        for dispatcher in waiting:
            dispatcher.start()

    async def _tidy_forever(self) -> None:
        while True:
            while await self.tidy() >= TIDY_ROWS:
                pass
            await asyncio.sleep(TIDY_SECONDS)

    async def tidy(self) -> int:
        """Drop idle dispatchers; rescue and delete expired rows, and return their number."""
        self._tools.poster.rest()
        oldest = self._context.now() - FORGET_SECONDS
        for webhook_id, dispatcher in list(self._dispatchers.items()):
            if dispatcher.is_idle and dispatcher.used_at < oldest:
                del self._dispatchers[webhook_id]
        return await self._links[1].call(lambda conn: deliveries_store.tidy(conn, most=TIDY_ROWS))

    def _defer_blocked(self, ids: Collection[UUID]) -> None:
        for webhook_id in ids:
            if (dispatcher := self._dispatchers.get(webhook_id)) is not None:
                dispatcher.give_back("the endpoint's circuit is open")
        self._has_room.set()  # those in doubt whose circuit stays closed go on

    async def _drain(self) -> None:
        for dispatcher in self._dispatchers.values():
            dispatcher.give_back("the worker stops")
        await asyncio.gather(*(dispatcher.drained() for dispatcher in self._dispatchers.values()))
        await self._settler.drained()


@asynccontextmanager
async def keeping_webhooks(database: DatabaseSettings, tools: WebhookTools) -> AsyncIterator[None]:
    """Run a worker beside the block; one that fails starts again after RETRY_SECONDS."""
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
        except Exception:  # it is logged; the rest of the process goes on
            log.exception("webhooks.failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await stop.wait()
