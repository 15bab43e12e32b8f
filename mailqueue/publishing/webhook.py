"""Publishes messages to webhooks: signed POSTs of CloudEvents, one after another."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.ports.publisher import OutgoingMessage, PublishResult
from mailqueue.ports.webhook import Poster
from mailqueue.publishing.cloudevents import CONTENT_TYPE, event_of
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks.call import call_endpoint
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.model import CallOutcome
from mailqueue.webhooks.targets import EndpointTargets


class WebhookPublisher:
    """A Publisher whose targets are ids of webhooks."""

    def __init__(self, poster: Poster, read_master: Callable[[], MasterKey | None]) -> None:
        self._poster = poster
        self._targets = EndpointTargets(read_master)

    async def refresh(self, conn: Conn, revisions: Mapping[UUID, int]) -> None:
        """Read the URLs and keys of webhooks whose revision is another."""
        await self._targets.refresh(conn, revisions)

    async def publish(
        self, target: str, messages: Sequence[OutgoingMessage], *, until: float
    ) -> PublishResult:
        """Call the endpoint for each message, until one is not accepted."""
        endpoint = self._targets.get(UUID(target))
        if endpoint is None:
            return PublishResult(0, "its webhook was removed")
        if endpoint.fault is not None:
            return PublishResult(0, endpoint.fault, endpoint.wait)
        if endpoint.form.name is not FormatName.MAILQUEUE:
            why = f"its webhook has format {endpoint.form.name}, which has no messages"
            return PublishResult(0, why)
        loop = asyncio.get_running_loop()
        for confirmed, message in enumerate(messages):
            now = loop.time()
            if now >= until:
                return PublishResult(confirmed)
            result = await call_endpoint(
                self._poster,
                endpoint.url,
                event_id=message.message_id,
                body=event_of(message),
                keys=[key for key, key_until in endpoint.keys if key_until > now],
                form=endpoint.form,
                content_type=CONTENT_TYPE,
            )
            if result.outcome is not CallOutcome.DELIVERED:
                reason = f"message {message.message_id}: {result.error}"
                return PublishResult(confirmed, reason, result.wait)
            reach("publishing.confirmed")
        return PublishResult(len(messages))

    def rest(self) -> None:
        """Close idle connections, and forget endpoints that no outbox needs."""
        self._poster.rest()
        self._targets.forget_old()

    def close(self) -> None:
        """Close connections."""
        self._poster.close()
