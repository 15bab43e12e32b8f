"""The dispatcher of one endpoint: its waiting deliveries, and how many calls it may have."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.ports.webhook import Poster
from mailqueue.telemetry.log import get_logger
from mailqueue.webhooks.call import call_endpoint
from mailqueue.webhooks.concurrency import CallSlots
from mailqueue.webhooks.model import ClaimedDelivery, DeliveryOutcome, SettledDelivery

FIRST_CALLS = 1
MAX_CALLS = 32
"""Concurrent calls of one endpoint; it begins with FIRST_CALLS, each good response adds one."""
WAITING_PER_CALL = 4
"""Deliveries that are held for each concurrent call."""
MAX_WAIT_SECONDS = 30.0
"""How long a delivery waits here; after that its lease could end before it is settled."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EndpointTarget:
    """URL and signing keys of an endpoint; `fault` says why it cannot be call_endpoint."""

    revision: int
    url: str = ""
    keys: tuple[tuple[bytes, float], ...] = ()  # each with the loop time until which it signs
    read_at: float = 0.0
    fault: str | None = None
    wait: timedelta | None = None


@dataclass(slots=True)
class DispatchContext:
    """What the dispatchers of a worker share."""

    poster: Poster
    slots: CallSlots
    settle: Callable[[SettledDelivery], int]
    written: Callable[[], int]
    freed: Callable[[], None]
    now: Callable[[], float]


class EndpointDispatcher:
    """Delivers to one endpoint, with concurrent calls and in no guaranteed order."""

    def __init__(self, webhook_id: UUID, target: EndpointTarget, context: DispatchContext) -> None:
        self.webhook_id = webhook_id
        self.target = target
        self._context = context
        self._waiting: deque[tuple[float, ClaimedDelivery]] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._limit = FIRST_CALLS
        self._is_unproven = True
        self._doubted_until = 0  # a bad response is settled first: it may open the circuit
        self.used_at = context.now()

    @property
    def room(self) -> int:
        """Return how many more deliveries may be queued."""
        if self._is_in_doubt:
            return 0
        return max(0, self._limit * WAITING_PER_CALL - len(self._waiting))

    @property
    def is_idle(self) -> bool:
        """Return whether no delivery waits and no call is running."""
        return not self._waiting and not self._calls

    @property
    def _is_in_doubt(self) -> bool:
        return self._context.written() < self._doubted_until

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def add(self, claims: Sequence[ClaimedDelivery], *, claimed_at: float) -> None:
        """Queue deliveries that were claimed at that loop time."""
        self.used_at = self._context.now()
        self._waiting.extend((claimed_at, claim) for claim in claims)
        self.start()

    def start(self) -> None:
        """Start as many calls as the endpoint's limit and the free slots allow."""
        while self._waiting and len(self._calls) < self._limit and not self._is_in_doubt:
            is_unproven = self._is_unproven
            if not self._context.slots.take(is_unproven=is_unproven):
                return
            calling = self._calling(*self._waiting.popleft())
            task = asyncio.create_task(calling, name=f"webhook-{self.webhook_id}")
            self._calls.add(task)

            def ended(task: asyncio.Task[None], *, was_unproven: bool = is_unproven) -> None:
                self._calls.discard(task)
                self._context.slots.give_back(was_unproven=was_unproven)
                self._context.freed()
                self.start()

            task.add_done_callback(ended)

    def give_back(self, reason: str) -> None:
        """Defer all waiting deliveries, without counting an attempt."""
        self._limit, self._is_unproven = FIRST_CALLS, True
        while self._waiting:
            _, claim = self._waiting.popleft()
            self._context.settle(_deferred(claim, reason))

    async def drained(self) -> None:
        """Wait until the running calls have ended."""
        while self._calls:
            await asyncio.wait(self._calls)

    def cancel(self) -> None:
        """Cancel the running calls; their outcome stays unknown."""
        for task in self._calls:
            task.cancel()

    async def _calling(self, claimed_at: float, claim: ClaimedDelivery) -> None:
        """Make one delivery after the other, while the endpoint may have this many calls."""
        was_unproven = self._is_unproven
        while True:
            if self._context.now() - claimed_at > MAX_WAIT_SECONDS:
                self._context.settle(_deferred(claim, "it waited too long for a free call"))
            else:
                await self._deliver(claim)
            # Proven now, or unproven again: its slot counts for the other half.
            has_changed = was_unproven != self._is_unproven
            if (
                has_changed
                or self._is_in_doubt
                or not self._waiting
                or len(self._calls) > self._limit
            ):
                return
            claimed_at, claim = self._waiting.popleft()

    async def _deliver(self, claim: ClaimedDelivery) -> None:
        try:
            done = await self._delivered(claim)
        except Exception as exc:  # one bad row must not stop the worker
            log.exception("delivery.failed", delivery_id=str(claim.id))
            why = f"{type(exc).__name__} while delivering"
            done = SettledDelivery(claim.id, claim.claim_no, DeliveryOutcome.FAILED, error=why)
        if done.tried_at is not None:
            self._learn(is_good=done.ending is DeliveryOutcome.DELIVERED)
        number = self._context.settle(done)
        if done.ending is not DeliveryOutcome.DELIVERED:
            self._doubted_until = number

    async def _delivered(self, claim: ClaimedDelivery) -> SettledDelivery:
        target = self.target
        if claim.payload is None:
            why = "its payload is no longer stored"
            return SettledDelivery(claim.id, claim.claim_no, DeliveryOutcome.REFUSED, error=why)
        if target.fault is not None:
            return _deferred(claim, target.fault, wait=target.wait)
        reach("webhooks.calling")
        done = await call_endpoint(
            self._context.poster,
            target.url,
            claim=(claim.id, claim.claim_no),
            event_id=claim.event_id,
            body=claim.payload.encode(),
            keys=[key for key, until in target.keys if until > self._context.now()],
        )
        reach("webhooks.answered")
        return done

    def _learn(self, *, is_good: bool) -> None:
        """Raise the limit by one after a good response; a bad one makes the endpoint unproven."""
        if is_good:
            self._limit = min(MAX_CALLS, self._limit + 1)
            self._is_unproven = False
            self.start()
        else:
            self._limit, self._is_unproven = FIRST_CALLS, True


def _deferred(
    claim: ClaimedDelivery, reason: str, *, wait: timedelta | None = None
) -> SettledDelivery:
    return SettledDelivery(claim.id, claim.claim_no, DeliveryOutcome.DEFER, error=reason, wait=wait)
