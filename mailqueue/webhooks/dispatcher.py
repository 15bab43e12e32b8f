"""One endpoint in this process: what waits for it, and how many calls it is worth at once."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.ports.webhook import Poster
from mailqueue.telemetry.log import get_logger
from mailqueue.webhooks.call import called
from mailqueue.webhooks.concurrency import CallSlots
from mailqueue.webhooks.model import ClaimedDelivery, DeliveryOutcome, SettledDelivery

FIRST_CALLS = 1
MAX_CALLS = 32
"""Calls of one endpoint at once; it begins with one, and each good answer is worth another."""
WAITING_PER_CALL = 4
"""So many deliveries are held for each call that may be made."""
MAX_WAIT_SECONDS = 30.0
"""What waited so long here goes back: its lease would be over before its answer is written."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EndpointTarget:
    """Where an endpoint is and what signs; `fault` says why it cannot be called."""

    revision: int
    url: str = ""
    keys: tuple[tuple[bytes, float], ...] = ()  # each with the time of the loop until it signs
    read_at: float = 0.0
    fault: str | None = None
    wait: timedelta | None = None


@dataclass(slots=True)
class DispatchContext:
    """What the lanes of a worker share."""

    poster: Poster
    slots: CallSlots
    settle: Callable[[SettledDelivery], int]
    written: Callable[[], int]
    freed: Callable[[], None]
    now: Callable[[], float]


class EndpointDispatcher:
    """Delivers to one endpoint: calls side by side, in no order that anybody may count on."""

    def __init__(self, webhook_id: UUID, way: EndpointTarget, desk: DispatchContext) -> None:
        self.webhook_id = webhook_id
        self.way = way
        self._desk = desk
        self._waiting: deque[tuple[float, ClaimedDelivery]] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._worth = FIRST_CALLS
        self._is_stranger = True
        self._doubted_until = 0  # a bad answer is to be written first: it may be the last for now
        self.used_at = desk.now()

    @property
    def room(self) -> int:
        """Return how many more deliveries are welcome."""
        if self._is_in_doubt:
            return 0
        return max(0, self._worth * WAITING_PER_CALL - len(self._waiting))

    @property
    def is_idle(self) -> bool:
        """Say that nothing waits and nothing is under way."""
        return not self._waiting and not self._calls

    @property
    def _is_in_doubt(self) -> bool:
        return self._desk.written() < self._doubted_until

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def add(self, claims: Sequence[ClaimedDelivery], *, claimed_at: float) -> None:
        """Queue claims, made at that time of the loop's clock."""
        self.used_at = self._desk.now()
        self._waiting.extend((claimed_at, claim) for claim in claims)
        self.start()

    def start(self) -> None:
        """Begin as many calls as the endpoint is worth and places allow."""
        while self._waiting and len(self._calls) < self._worth and not self._is_in_doubt:
            is_stranger = self._is_stranger
            if not self._desk.slots.take(is_stranger=is_stranger):
                return
            calling = self._calling(*self._waiting.popleft())
            task = asyncio.create_task(calling, name=f"webhook-{self.webhook_id}")
            self._calls.add(task)

            def ended(task: asyncio.Task[None], *, was_stranger: bool = is_stranger) -> None:
                self._calls.discard(task)
                self._desk.slots.give_back(was_stranger=was_stranger)
                self._desk.freed()
                self.start()

            task.add_done_callback(ended)

    def give_back(self, reason: str) -> None:
        """Leave the endpoint alone: what waits goes back, no attempt counted."""
        self._worth, self._is_stranger = FIRST_CALLS, True
        while self._waiting:
            _, claim = self._waiting.popleft()
            self._desk.settle(_deferred(claim, reason))

    async def drained(self) -> None:
        """Wait for the calls under way."""
        while self._calls:
            await asyncio.wait(self._calls)

    def cancel(self) -> None:
        """Cut off the calls under way; what they would have said is not known."""
        for task in self._calls:
            task.cancel()

    async def _calling(self, claimed_at: float, claim: ClaimedDelivery) -> None:
        """Call for one delivery after the other, while the endpoint is worth this many calls."""
        was_stranger = self._is_stranger
        while True:
            if self._desk.now() - claimed_at > MAX_WAIT_SECONDS:
                self._desk.settle(_deferred(claim, "it waited too long for its turn"))
            else:
                await self._deliver(claim)
            # Known, or a stranger again: its place is of the other half now.
            has_changed = was_stranger != self._is_stranger
            if (
                has_changed
                or self._is_in_doubt
                or not self._waiting
                or len(self._calls) > self._worth
            ):
                return
            claimed_at, claim = self._waiting.popleft()

    async def _deliver(self, claim: ClaimedDelivery) -> None:
        try:
            done = await self._delivered(claim)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("delivery.failed", delivery_id=str(claim.id))
            why = f"{type(exc).__name__} while delivering"
            done = SettledDelivery(claim.id, claim.claim_no, DeliveryOutcome.FAILED, error=why)
        if done.tried_at is not None:
            self._learn(is_good=done.ending is DeliveryOutcome.DELIVERED)
        number = self._desk.settle(done)
        if done.ending is not DeliveryOutcome.DELIVERED:
            self._doubted_until = number

    async def _delivered(self, claim: ClaimedDelivery) -> SettledDelivery:
        way = self.way
        if claim.payload is None:
            why = "what it told is not kept any more"
            return SettledDelivery(claim.id, claim.claim_no, DeliveryOutcome.REFUSED, error=why)
        if way.fault is not None:
            return _deferred(claim, way.fault, wait=way.wait)
        reach("webhooks.calling")
        done = await called(
            self._desk.poster,
            way.url,
            claim=(claim.id, claim.claim_no),
            event_id=claim.event_id,
            body=claim.payload.encode(),
            keys=[key for key, until in way.keys if until > self._desk.now()],
        )
        reach("webhooks.answered")
        return done

    def _learn(self, *, is_good: bool) -> None:
        """Be worth one call more with each good answer; a bad one is from a stranger again."""
        if is_good:
            self._worth = min(MAX_CALLS, self._worth + 1)
            self._is_stranger = False
            self.start()
        else:
            self._worth, self._is_stranger = FIRST_CALLS, True


def _deferred(
    claim: ClaimedDelivery, reason: str, *, wait: timedelta | None = None
) -> SettledDelivery:
    return SettledDelivery(claim.id, claim.claim_no, DeliveryOutcome.DEFER, error=reason, wait=wait)
