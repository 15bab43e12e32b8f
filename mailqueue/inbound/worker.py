"""The inbound worker: claim requests of providers, record their events, settle the requests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.events import recording
from mailqueue.events.model import Result
from mailqueue.inbound import store
from mailqueue.inbound.bounces.events import bounce_events
from mailqueue.inbound.model import ClaimedRequest, RequestState, SettledRequest
from mailqueue.inbound.processing import PendingEvents, failing, pending_events, settled
from mailqueue.ports.inbound import InboundRequest, Provider
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.keyring import Keyring

BATCH = 100
BOUNCES = "smtp"
"""The provider name of bounce mail, whichever server received it."""
LEASE = timedelta(minutes=5)
MAX_EVENTS = 500
"""Events that are recorded in one statement, and in one commit."""
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.05, 2.0
"""Bounds of the poll interval, which grows while nothing is due; no NOTIFY is sent."""
RETRY_SECONDS = 5.0
"""Wait before a failed worker starts again, and for a running turn once told to stop."""

Confirm = Callable[[str], Awaitable[bytes | None]]
"""Fetch a URL once; None when it is refused. Raises Unavailable when there is no answer."""
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class InboundTools:
    """The adapters a worker uses."""

    providers: Mapping[str, Provider]
    confirm: Confirm
    keyring: Keyring | None = None  # opens return paths; None: this worker reads no bounce mail


class InboundWorker:
    """Processes requests until told to stop; leases say whose a row is, so it is not registered."""

    def __init__(self, database: DatabaseSettings, tools: InboundTools) -> None:
        self._link = Link(database, "mailqueue/inbound")
        self._tools = tools

    async def run(self, stop: asyncio.Event) -> None:
        """Process until `stop` is set; what was claimed by then is finished first."""
        pause = MIN_POLL_SECONDS
        try:
            while not stop.is_set():
                working = asyncio.create_task(self.turn(), name="inbound-turn")
                count = await _unless_stopped(working, stop)
                if count == BATCH:
                    continue
                pause = MIN_POLL_SECONDS if count else min(MAX_POLL_SECONDS, pause * 1.5)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await stop.wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._link.close()

    async def turn(self) -> int:
        """Claim once, and record and settle what was claimed; return the number of requests."""
        claims = await self._link.call(lambda conn: store.claim(conn, limit=BATCH, lease=LEASE))
        reach("inbound.claimed")
        found = [await self._read(claim) for claim in claims]
        ended = [one for one in found if isinstance(one, SettledRequest)]
        if ended:
            await self._link.call(lambda conn: store.settle(conn, ended))
        for group in _groups([one for one in found if isinstance(one, PendingEvents)]):
            await self._record(group)
        return len(claims)

    async def _read(self, claim: ClaimedRequest) -> PendingEvents | SettledRequest:
        request = InboundRequest("POST", claim.headers, claim.query, claim.body or b"")
        if claim.provider == BOUNCES and self._tools.keyring is not None:
            return await self._bounced(claim, request, self._tools.keyring)
        provider = self._tools.providers.get(claim.provider)
        if provider is None or claim.provider == BOUNCES:
            return failing(claim, f"no adapter for the events of {claim.provider}")
        if claim.confirm_url is not None:
            refused = await self._confirmed(claim, claim.confirm_url)
            if refused is not None:
                return refused
        try:
            return await asyncio.to_thread(
                lambda: pending_events(claim, provider.name, provider.events(request))
            )
        except Exception as exc:  # of this request alone: the others go on
            log.exception("inbound.unreadable", request=str(claim.id), provider=claim.provider)
            return failing(claim, f"cannot be read: {type(exc).__name__}: {exc}")

    async def _bounced(
        self, claim: ClaimedRequest, request: InboundRequest, keyring: Keyring
    ) -> PendingEvents | SettledRequest:
        try:
            found = await self._link.call(
                lambda conn: bounce_events(
                    conn,
                    keyring,
                    request,
                    project_id=claim.project_id,
                    now=datetime.now(UTC),
                )
            )
        except Exception as exc:  # of this request alone: the others go on
            log.exception("inbound.unreadable", request=str(claim.id), provider=claim.provider)
            return failing(claim, f"cannot be read: {type(exc).__name__}: {exc}")
        return pending_events(claim, claim.provider, found)

    async def _confirmed(self, claim: ClaimedRequest, url: str) -> SettledRequest | None:
        try:
            if await self._tools.confirm(url) is not None:
                log.info("inbound.confirmed", provider=claim.provider, request=str(claim.id))
                return None
        except Unavailable as exc:
            return failing(claim, f"the subscription could not be confirmed: {exc}")
        why = "the confirmation of the subscription was refused"
        return SettledRequest(claim.id, claim.claim_no, RequestState.FAILED, error=why)

    async def _record(self, group: Sequence[PendingEvents]) -> None:
        """Record the events of a group; if that fails, those of each request alone."""
        try:
            await self._link.call(lambda conn: _recorded(conn, group))
        except Exception as exc:  # an error of the data: the link retries all others
            if len(group) > 1:
                for one in group:
                    await self._record([one])
                return
            log.exception("inbound.not_recorded", request=str(group[0].claim.id))
            ending = failing(group[0].claim, f"cannot be recorded: {type(exc).__name__}: {exc}")
            await self._link.call(lambda conn: store.settle(conn, [ending]))


async def _recorded(conn: Conn, group: Sequence[PendingEvents]) -> None:
    async with conn.transaction():
        ours = await store.hold(conn, [one.claim for one in group])
        if len(ours) < len(group):
            # Another worker has claimed it since, or our commit was not acknowledged.
            log.warning("inbound.lost", count=len(group) - len(ours))
            group = [one for one in group if one.claim.id in ours]
        events = [event for one in group for _, event in one.events]
        results = list[Result]()
        for start in range(0, len(events), MAX_EVENTS):
            results += await recording.record(conn, events[start : start + MAX_EVENTS])
        endings, at = list[SettledRequest](), 0
        for one in group:
            endings.append(settled(one, results[at : at + len(one.events)]))
            at += len(one.events)
        await store.settle(conn, endings)
    reach("inbound.recorded")


def _groups(readings: Sequence[PendingEvents]) -> list[list[PendingEvents]]:
    groups, size = list[list[PendingEvents]](), 0
    for one in readings:
        if not groups or size + len(one.events) > MAX_EVENTS:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += len(one.events)
    return groups


async def _unless_stopped(working: asyncio.Task[int], stop: asyncio.Event) -> int:
    """Return the result of a turn; once told to stop, wait for it RETRY_SECONDS at most."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not working.done():
        await asyncio.wait((working,), timeout=RETRY_SECONDS)
        working.cancel()
    (found,) = await asyncio.gather(working, return_exceptions=True)
    if isinstance(found, asyncio.CancelledError):
        return 0
    if isinstance(found, BaseException):
        raise found
    return found


@asynccontextmanager
async def keeping_inbound(
    database: DatabaseSettings, make_tools: Callable[[], InboundTools]
) -> AsyncIterator[None]:
    """Run a worker beside the block; one that fails starts again after RETRY_SECONDS."""
    stop = asyncio.Event()
    task = asyncio.create_task(_keep(database, make_tools, stop), name="inbound")
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)


async def _keep(
    database: DatabaseSettings, make_tools: Callable[[], InboundTools], stop: asyncio.Event
) -> None:
    while not stop.is_set():
        try:
            await InboundWorker(database, make_tools()).run(stop)
        except Exception:  # it is logged; the rest of the process goes on
            log.exception("inbound.failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await stop.wait()
