"""Takes the messages of one queue, in order, until told to stop.

A message is acknowledged after the commit of its event, or after it is kept as a dead letter and
the broker has confirmed it in the dead-letter queue. One that cannot be handled now is held: those
behind it wait in the broker.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from mailqueue.bridge import letters
from mailqueue.bridge.handling import handle
from mailqueue.bridge.model import ConsumedEvent, Dead, HeldBack, MessageOutcome, QueueBinding
from mailqueue.contract.automation.bridge import ConsumptionState
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import Broker, BrokerMessage, BrokerQueue, BrokerUnavailable
from mailqueue.telemetry.log import get_logger

BATCH = 20
"""Messages that share a commit."""
TRIES = 3
"""Tries of a message that raises an unexpected error, before it is a dead letter."""
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0
HOLD_SECONDS = 1_500.0
"""Time for which messages are held; brokers close consumers that hold some for 30 minutes."""
MAX_EXCUSED = 10_000
"""Messages whose deliveries by our own doing are remembered."""

LendConnection = Callable[[], AbstractAsyncContextManager[Conn]]
log = get_logger(__name__)


class Status:
    """What is reported of a queue: its state, and messages since the last report. Mutable."""

    def __init__(self) -> None:
        self.state = ConsumptionState.UNAVAILABLE
        self.reason: str | None = "it is being connected"
        self.received = 0

    def become(self, state: ConsumptionState, reason: str | None = None) -> None:
        """Note a state."""
        self.state, self.reason = state, reason


class HeldTooLong(Exception):
    """Messages were held for HOLD_SECONDS: they are returned to the broker and taken again."""


class QueueIntake:
    """The consumer of one queue."""

    def __init__(
        self, broker: Broker, binding: QueueBinding, lend: LendConnection, *, delivery_limit: int
    ) -> None:
        """Prepare; a message that was delivered more often than the limit is a dead letter."""
        self.binding = binding
        self.status = Status()
        self._broker = broker
        self._lend = lend
        self._limit = delivery_limit
        self._excused: Counter[bytes] = Counter()

    async def run(self, stop: asyncio.Event) -> None:
        """Take messages until `stop` is set; the broker is connected again whenever it is lost."""
        wait = FIRST_WAIT_SECONDS
        while not stop.is_set():
            try:
                async with self._broker.consuming(self.binding.queue) as queue:
                    log.info("bridge.consuming", queue=self.binding.queue)
                    wait = FIRST_WAIT_SECONDS
                    await self._take(queue, stop)
            except HeldTooLong:
                continue  # it stays in state `waiting`: what was returned is delivered again
            except BrokerUnavailable as exc:
                self.status.become(ConsumptionState.UNAVAILABLE, str(exc))
                log.warning("bridge.unavailable", queue=self.binding.queue, error=str(exc))
                await _sleep(wait, stop)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
        self.status.become(ConsumptionState.STOPPED)

    async def _take(self, queue: BrokerQueue, stop: asyncio.Event) -> None:
        if self.status.state is not ConsumptionState.WAITING:
            self.status.become(ConsumptionState.CONSUMING)
        while not stop.is_set():
            # A queue that delivers nothing for a while holds none of the messages that waited.
            emptied = asyncio.get_running_loop().call_later(
                LONGEST_WAIT_SECONDS, self.status.become, ConsumptionState.CONSUMING
            )
            try:
                messages = await _unless(stop, queue.receive(BATCH))
            finally:
                emptied.cancel()
            if messages:
                await self._finish(queue, messages, stop)

    async def _finish(
        self, queue: BrokerQueue, messages: Sequence[BrokerMessage], stop: asyncio.Event
    ) -> None:
        """Handle messages until each is acknowledged, or `stop` is set."""
        left, tries, wait = list(messages), 0, FIRST_WAIT_SECONDS
        loop = asyncio.get_running_loop()
        held_until = loop.time() + HOLD_SECONDS
        while left and not stop.is_set():
            outcomes = await self._outcomes(left)
            while outcomes and not isinstance(outcomes[0], HeldBack):
                outcome = outcomes.pop(0)
                if isinstance(outcome, Dead) and outcome.event is not None and tries + 1 < TRIES:
                    tries += 1
                    outcomes = [HeldBack(outcome.reason)]
                    break
                await self._settle(queue, left.pop(0), outcome)
                tries, wait, held_until = 0, FIRST_WAIT_SECONDS, loop.time() + HOLD_SECONDS
                self.status.become(ConsumptionState.CONSUMING)
            if outcomes and isinstance(outcomes[0], HeldBack):
                self.status.become(ConsumptionState.WAITING, outcomes[0].reason)
                if loop.time() > held_until:
                    self._excuse([*left, *queue.buffered()])
                    raise HeldTooLong
                await _sleep(wait, stop)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    async def _outcomes(self, messages: Sequence[BrokerMessage]) -> list[MessageOutcome]:
        """Return the outcomes of messages, up to the first that must wait."""
        first = messages[0]
        if self._deliveries(first) > self._limit:
            return [Dead(f"it was delivered {first.deliveries} times and never finished")]
        fine = []
        for message in messages:
            if self._deliveries(message) > self._limit:
                break
            fine.append(message)
        # One that was delivered before may have ended its process: it is handled alone.
        group = fine[:1] if first.deliveries > 1 + TRIES else fine
        try:
            async with self._lend() as conn:
                return await handle(conn, self.binding, group)
        except MailqueueError as exc:  # the database is away: nothing is committed, or all is
            return [HeldBack(str(exc))]
        except Exception as exc:
            log.exception("bridge.failed", queue=self.binding.queue)
            if len(group) == 1:
                return [Dead(f"{type(exc).__name__}: {exc}")]
            return await self._outcomes(group[:1])

    async def _settle(
        self, queue: BrokerQueue, message: BrokerMessage, outcome: MessageOutcome
    ) -> None:
        reach("bridge.committed")
        if isinstance(outcome, Dead):
            await self._keep(message, outcome)
            reach("bridge.kept")
        failure = outcome.reason if isinstance(outcome, Dead) else None
        # Of repeated deliveries only those of the broker: the first may have ended before this.
        if isinstance(outcome, ConsumedEvent) and (
            not outcome.outcome.is_duplicate or message.deliveries > 1
        ):
            failure = outcome.failure
        if failure is not None:
            log.warning("bridge.dead_letter", queue=self.binding.queue, reason=failure)
            await queue.dead_letter(message, failure)
            reach("bridge.dead_lettered")
        await queue.acknowledge(message)
        self._excused.pop(_digest(message), None)
        self.status.received += 1

    async def _keep(self, message: BrokerMessage, dead: Dead) -> None:
        wait, is_bare = FIRST_WAIT_SECONDS, False
        while True:
            try:
                async with self._lend() as conn:
                    await letters.keep(conn, self.binding, message, dead)
                    return
            except MailqueueError as exc:
                self.status.become(ConsumptionState.WAITING, str(exc))
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
            except Exception as exc:
                log.exception("bridge.not_kept", queue=self.binding.queue)
                if is_bare:
                    return  # the copy in the broker is all there is
                is_bare, dead = True, Dead(f"{dead.reason}; without its properties: {exc}")
                message = BrokerMessage(message.tag, message.body, deliveries=message.deliveries)

    def _deliveries(self, message: BrokerMessage) -> int:
        if message.deliveries <= self._limit:
            return message.deliveries
        return message.deliveries - self._excused[_digest(message)]

    def _excuse(self, held: Sequence[BrokerMessage]) -> None:
        """Remember that messages are delivered once more because they were held."""
        if len(self._excused) > MAX_EXCUSED:
            self._excused.clear()
        self._excused.update(_digest(message) for message in held)


def _digest(message: BrokerMessage) -> bytes:
    return hashlib.sha256((message.message_id or "").encode() + b"\n" + message.body).digest()


async def _sleep(seconds: float, stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


async def _unless(
    stop: asyncio.Event, receiving: Coroutine[Any, Any, Sequence[BrokerMessage]]
) -> Sequence[BrokerMessage]:
    """Return what is received, or nothing once `stop` is set."""
    received = asyncio.create_task(receiving)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({received, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return received.result() if received.done() else ()
    finally:
        received.cancel()
        stopping.cancel()
