"""The handler of queue `publishing`: publish the next messages of an outbox, in order.

One worker has the lease of an outbox. Messages are published before they are noted as published:
those of a worker that is killed in between are published again, with the same ids.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import takewhile
from uuid import UUID

from mailqueue.core.outcome import Again, Outcome, Retry
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import publishing as sql
from mailqueue.ports.publisher import OutgoingMessage, Publisher, PublishResult
from mailqueue.publishing import store
from mailqueue.publishing.model import ClaimedOutbox, OutboxHorizon, OutboxMessage, Progress
from mailqueue.publishing.webhook import WebhookPublisher
from mailqueue.queue.handler import Call, Handler

BATCH_MESSAGES = 200
"""Messages of an outbox that are read at a time."""
BATCH_SECONDS = 10.0
"""Time after which what was published of a batch is noted; shorter than a lease."""
WRITERS_WAIT = timedelta(milliseconds=100)
"""Wait while a transaction is open that may commit an earlier message."""
IDLE_WAIT = timedelta(days=1)
"""Wait of an outbox without messages; `wake_outboxes` ends it."""
PROGRESS_WAIT = timedelta(seconds=1)
"""Wait after a failure behind messages that were published."""
NOW = timedelta(0)


class PublishingHandler(Handler[ClaimedOutbox, Progress]):
    """Publishes messages; what was published is noted in the transaction that settles its row."""

    row = ClaimedOutbox
    claims_by = sql.CLAIM_PUBLISHING

    def __init__(
        self, webhooks: WebhookPublisher, others: Mapping[str, Publisher] | None = None
    ) -> None:
        """Prepare; `others` are publishers by the name of their transport."""
        self._webhooks = webhooks
        self._publishers: dict[str, Publisher] = {"webhook": webhooks, **(others or {})}

    async def load(self, conn: Conn, rows: Sequence[ClaimedOutbox]) -> Sequence[ClaimedOutbox]:
        limits = {one.id: one for one in await store.extend_horizons(conn, rows)}
        revisions = {UUID(one.target): one.revision for one in limits.values() if one.revision}
        await self._webhooks.refresh(conn, revisions)
        ready = [one for one in limits.values() if not one.is_waiting]
        found = defaultdict[UUID, list[OutboxMessage]](list)
        for message in await store.read_messages(conn, ready, limit=BATCH_MESSAGES):
            found[message.outbox_id].append(message)
        return [
            row._replace(limits=limits[row.id], messages=found[row.id])
            for row in rows
            if row.id in limits
        ]

    async def handle(self, row: ClaimedOutbox) -> Outcome | Progress:
        limits = row.limits
        if limits is None or limits.is_waiting:
            return Again(WRITERS_WAIT)
        lively = [message for message in row.messages if not message.is_expired]
        result = PublishResult(0)
        if lively:
            if limits.transport == "webhook" and limits.revision is None:
                return Retry("its webhook is disabled or was removed")
            publisher = self._publishers.get(limits.transport)
            if publisher is None:
                return Retry(f"this worker has no transport {limits.transport}")
            until = asyncio.get_running_loop().time() + BATCH_SECONDS
            outgoing = [_outgoing(limits, message) for message in lively]
            result = await publisher.publish(limits.target, outgoing, until=until)
        return _progress(row, limits, lively, result)

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedOutbox, Progress]]
    ) -> Sequence[Outcome]:
        await store.advance(conn, [(row.id, progress) for row, progress in done])
        return [Again(progress.wait, reason=progress.error) for _, progress in done]

    async def commit_lost(self, conn: Conn, done: Sequence[tuple[ClaimedOutbox, Progress]]) -> None:
        """Note what was published under a claim that was lost, so that it is not repeated."""
        await store.advance(conn, [(row.id, progress) for row, progress in done])

    async def rest(self, call: Call) -> None:  # noqa: ARG002
        for publisher in self._publishers.values():
            publisher.rest()

    async def close(self) -> None:
        for publisher in self._publishers.values():
            publisher.close()


def _progress(
    row: ClaimedOutbox,
    limits: OutboxHorizon,
    lively: Sequence[OutboxMessage],
    result: PublishResult,
) -> Outcome | Progress:
    """Return what to note of a batch: messages up to the first that was not confirmed."""
    confirmed = [message.sequence_number for message in lively[: result.confirmed]]
    is_whole = len(confirmed) == len(lively)
    if not is_whole:
        first = lively[result.confirmed].sequence_number
        passed = list(takewhile(lambda one: one.sequence_number < first, row.messages))
    else:
        passed = list(row.messages)
    expired = [message.sequence_number for message in passed if message.is_expired]
    if not passed and not is_whole:
        reason = result.error or "the time was over before the first message"
        return Retry(reason, result.wait)
    if not is_whole:
        wait = max(PROGRESS_WAIT, result.wait or NOW) if result.error else NOW
        return Progress(passed[-1].sequence_number, confirmed, expired, wait, result.error)
    if len(row.messages) >= BATCH_MESSAGES:
        return Progress(row.messages[-1].sequence_number, confirmed, expired, NOW)
    return Progress(limits.horizon, confirmed, expired, IDLE_WAIT)


def _outgoing(limits: OutboxHorizon, message: OutboxMessage) -> OutgoingMessage:
    fields = message._asdict()
    del fields["outbox_id"], fields["is_expired"]
    return OutgoingMessage(project=limits.project, outbox=limits.outbox, **fields)
