"""The handler of queue `inbound`: read a request of a provider, record its events."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from mailqueue.core.errors import Unavailable
from mailqueue.core.outcome import Failed, Outcome, Retry
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.events import recording
from mailqueue.events.model import RecordResult, Type
from mailqueue.inbound.bounces.events import bounce_events
from mailqueue.inbound.model import ClaimedRequest
from mailqueue.inbound.processing import PendingEvents, is_bypassing, outcome_of, pending_events
from mailqueue.ports.inbound import BadEvent, InboundProvider, InboundRequest, ProviderEvent
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.origins import OriginFinder

BOUNCES = "smtp"
"""The provider name of bounce mail, whichever server received it."""
MAX_EVENTS = 500
"""Events that are recorded in one statement."""
_VISITS = (Type.OPENED, Type.CLICKED)

Confirm = Callable[[str], Awaitable[bytes | None]]
"""Fetch a URL once; None when it is refused. Raises Unavailable when there is no answer."""
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class InboundTools:
    """The adapters that the handler uses."""

    providers: Mapping[str, InboundProvider]
    confirm: Confirm
    keyring: Keyring | None = None  # opens return paths; None: bounce mail is left to others
    origins: OriginFinder | None = None  # of opens and clicks; None: they have none


class InboundHandler(Handler[ClaimedRequest, PendingEvents]):
    """Reads requests; their events are recorded in the transaction that settles them."""

    row = ClaimedRequest

    def __init__(self, database: DatabaseSettings, tools: InboundTools) -> None:
        self._link = Link(database, "mailqueue/inbound-read")
        self._tools = tools

    async def handle(self, row: ClaimedRequest) -> Outcome | PendingEvents:
        request = InboundRequest("POST", row.headers, row.query, row.body or b"")
        origins = self._tools.origins
        if row.provider == BOUNCES and self._tools.keyring is not None:
            return await self._bounced(row, request, self._tools.keyring)
        provider = self._tools.providers.get(row.provider)
        if provider is None or row.provider == BOUNCES:
            return Retry(f"no adapter here reads the events of {row.provider}")
        if row.confirm_url is not None:
            refused = await self._confirmed(row, row.confirm_url)
            if refused is not None:
                return refused
        try:
            found = await asyncio.to_thread(lambda: provider.events(request))
            if origins is not None and any(getattr(one, "type", None) in _VISITS for one in found):
                found = await asyncio.to_thread(with_origins, origins, found)
        except Exception as exc:
            log.exception("inbound.unreadable", request=str(row.id), provider=row.provider)
            return Retry(f"cannot be read: {type(exc).__name__}: {exc}")
        return pending_events(row, provider.name, found)

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedRequest, PendingEvents]]
    ) -> list[Outcome]:
        events = [event for _, work in done for _, event in work.events]
        results = list[RecordResult]()
        for start in range(0, len(events), MAX_EVENTS):
            results += await recording.record(conn, events[start : start + MAX_EVENTS])
        outcomes, at = list[Outcome](), 0
        for _, work in done:
            outcomes.append(outcome_of(work, results[at : at + len(work.events)]))
            at += len(work.events)
        return outcomes

    async def close(self) -> None:
        await self._link.close()

    async def _bounced(
        self, row: ClaimedRequest, request: InboundRequest, keyring: Keyring
    ) -> Outcome | PendingEvents:
        try:
            found = await self._link.call(
                lambda conn: bounce_events(
                    conn,
                    keyring,
                    request,
                    project_id=row.project_id,
                    now=datetime.now(UTC),
                    is_bypassing=is_bypassing(row),
                )
            )
        except Exception as exc:
            log.exception("inbound.unreadable", request=str(row.id), provider=row.provider)
            return Retry(f"cannot be read: {type(exc).__name__}: {exc}")
        return pending_events(row, row.provider, [_sourced(row, one) for one in found])

    async def _confirmed(self, row: ClaimedRequest, url: str) -> Outcome | None:
        try:
            if await self._tools.confirm(url) is not None:
                log.info("inbound.confirmed", provider=row.provider, request=str(row.id))
                return None
        except Unavailable as exc:
            return Retry(f"the subscription could not be confirmed: {exc}")
        return Failed("the confirmation of the subscription was refused")


def _sourced(row: ClaimedRequest, event: ProviderEvent | BadEvent) -> ProviderEvent | BadEvent:
    """Return an event that names the bounce mail that reported it."""
    if isinstance(event, BadEvent) or event.type is None:
        return event
    return replace(event, data={**event.data, "request": str(row.id)})


def with_origins(
    origins: OriginFinder, events: Sequence[ProviderEvent | BadEvent]
) -> list[ProviderEvent | BadEvent]:
    """Return events, of which opens and clicks by people have their origin in their data."""
    return [
        replace(one, data={**one.data, **origins.of(one.data)})
        if isinstance(one, ProviderEvent) and one.type in _VISITS and not one.data.get("is_machine")
        else one
        for one in events
    ]
