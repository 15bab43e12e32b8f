"""Reads what providers told and records it: claims, reads, records and settles in one commit."""

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
from mailqueue.inbound.model import Claimed, Settled, State
from mailqueue.inbound.processing import Reading, failing, read, reading_of, request_of, settled
from mailqueue.ports.inbound import Provider
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.keyring import Keyring

BATCH = 100
BOUNCES = "smtp"
"""What bounce mail is kept under, whoever received it."""
LEASE = timedelta(minutes=5)
MOST_EVENTS = 500
"""Events that are recorded in one statement, and together."""
QUICK_SECONDS, IDLE_SECONDS = 0.05, 2.0
"""Nobody rings: with nothing to do it looks again after the one, ever later up to the other."""
AGAIN_SECONDS = 5.0

Confirm = Callable[[str], Awaitable[bytes | None]]
"""Fetch a URL once: None where that is refused. Raises Unavailable where nobody answers."""
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Tools:
    """What the worker needs from outside."""

    providers: Mapping[str, Provider]
    confirm: Confirm
    keyring: Keyring | None = None  # opens return paths; None: bounce mail is for others to read


class InboundWorker:
    """Processes until told to stop. Leases decide who has a row: it registers nowhere."""

    def __init__(self, database: DatabaseSettings, tools: Tools) -> None:
        self._link = Link(database, "mailqueue/inbound")
        self._tools = tools

    async def run(self, stop: asyncio.Event) -> None:
        """Process until told to stop; what is claimed then is finished first."""
        pause = QUICK_SECONDS
        try:
            while not stop.is_set():
                working = asyncio.create_task(self.turn(), name="inbound-turn")
                count = await _unless_stopped(working, stop)
                if count == BATCH:
                    continue
                pause = QUICK_SECONDS if count else min(IDLE_SECONDS, pause * 1.5)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await stop.wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """Let the connection go."""
        await self._link.close()

    async def turn(self) -> int:
        """Claim once and see to what was claimed; return how many requests."""
        claims = await self._link.call(lambda conn: store.claim(conn, limit=BATCH, lease=LEASE))
        reach("inbound.claimed")
        found = [await self._read(claim) for claim in claims]
        ended = [one for one in found if isinstance(one, Settled)]
        if ended:
            await self._link.call(lambda conn: store.settle(conn, ended))
        for group in _groups([one for one in found if isinstance(one, Reading)]):
            await self._record(group)
        return len(claims)

    async def _read(self, claim: Claimed) -> Reading | Settled:
        if claim.provider == BOUNCES and self._tools.keyring is not None:
            return await self._bounced(claim, self._tools.keyring)
        provider = self._tools.providers.get(claim.provider)
        if provider is None or claim.provider == BOUNCES:
            return failing(claim, f"nobody here can read what {claim.provider} tells")
        if claim.confirm_url is not None:
            refused = await self._confirmed(claim, claim.confirm_url)
            if refused is not None:
                return refused
        try:
            return await asyncio.to_thread(read, claim, provider)
        except Exception as exc:  # whatever is wrong with it: others go on
            log.exception("inbound.unreadable", request=str(claim.id), provider=claim.provider)
            return failing(claim, f"cannot be read: {type(exc).__name__}: {exc}")

    async def _bounced(self, claim: Claimed, keyring: Keyring) -> Reading | Settled:
        try:
            told = await self._link.call(
                lambda conn: bounce_events(
                    conn,
                    keyring,
                    request_of(claim),
                    project_id=claim.project_id,
                    now=datetime.now(UTC),
                )
            )
        except Exception as exc:  # whatever is wrong with it: others go on
            log.exception("inbound.unreadable", request=str(claim.id), provider=claim.provider)
            return failing(claim, f"cannot be read: {type(exc).__name__}: {exc}")
        return reading_of(claim, claim.provider, told)

    async def _confirmed(self, claim: Claimed, url: str) -> Settled | None:
        try:
            if await self._tools.confirm(url) is not None:
                log.info("inbound.confirmed", provider=claim.provider, request=str(claim.id))
                return None
        except Unavailable as exc:
            return failing(claim, f"it could not be confirmed: {exc}")
        why = "its confirmation was refused"
        return Settled(claim.id, claim.claim_no, State.FAILED, error=why)

    async def _record(self, group: Sequence[Reading]) -> None:
        """Record what a group tells; where that cannot be, find out with whom it lies."""
        try:
            await self._link.call(lambda conn: _recorded(conn, group))
        except Exception as exc:  # of the data: the link comes back from all that is not
            if len(group) > 1:
                for one in group:
                    await self._record([one])
                return
            log.exception("inbound.not_recorded", request=str(group[0].claim.id))
            ending = failing(group[0].claim, f"cannot be recorded: {type(exc).__name__}: {exc}")
            await self._link.call(lambda conn: store.settle(conn, [ending]))


async def _recorded(conn: Conn, group: Sequence[Reading]) -> None:
    async with conn.transaction():
        ours = await store.hold(conn, [one.claim for one in group])
        if len(ours) < len(group):
            # Another worker has it since, or this was committed and we did not hear of it.
            log.warning("inbound.lost", count=len(group) - len(ours))
            group = [one for one in group if one.claim.id in ours]
        events = [event for one in group for _, event in one.events]
        results = list[Result]()
        for start in range(0, len(events), MOST_EVENTS):
            results += await recording.record(conn, events[start : start + MOST_EVENTS])
        endings, at = list[Settled](), 0
        for one in group:
            endings.append(settled(one, results[at : at + len(one.events)]))
            at += len(one.events)
        await store.settle(conn, endings)
    reach("inbound.recorded")


def _groups(readings: Sequence[Reading]) -> list[list[Reading]]:
    groups, size = list[list[Reading]](), 0
    for one in readings:
        if not groups or size + len(one.events) > MOST_EVENTS:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += len(one.events)
    return groups


async def _unless_stopped(working: asyncio.Task[int], stop: asyncio.Event) -> int:
    """Wait for the work; once told to stop, for what is under way, unless the database is away."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not working.done():
        await asyncio.wait((working,), timeout=AGAIN_SECONDS)
        working.cancel()
    (found,) = await asyncio.gather(working, return_exceptions=True)
    if isinstance(found, asyncio.CancelledError):
        return 0
    if isinstance(found, BaseException):
        raise found
    return found


@asynccontextmanager
async def keeping_inbound(
    database: DatabaseSettings, make_tools: Callable[[], Tools]
) -> AsyncIterator[None]:
    """Run a worker beside the block; one that fails begins again after a while."""
    stop = asyncio.Event()
    task = asyncio.create_task(_keep(database, make_tools, stop), name="inbound")
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)


async def _keep(
    database: DatabaseSettings, make_tools: Callable[[], Tools], stop: asyncio.Event
) -> None:
    while not stop.is_set():
        try:
            await InboundWorker(database, make_tools()).run(stop)
        except Exception:  # whatever it is, it is in the log, and the rest of us goes on
            log.exception("inbound.failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_SECONDS):
                    await stop.wait()
