"""Record opens and clicks: those that arrive together share a commit.

A request is answered after the commit, so that no recorded open or click is lost. While the
database is unavailable the response is 503.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.api.http.runtime import Runtime
from mailqueue.db.fetch import Conn
from mailqueue.db.group_commit import GroupCommit, GroupLimits, Waiter
from mailqueue.events.model import ReportedEvent, Type
from mailqueue.events.recording import record
from mailqueue.tracking.clicks import Click, Destinations, judged
from mailqueue.tracking.machines import Machine, Proxy
from mailqueue.tracking.origins import OriginFinder
from mailqueue.tracking.tokens import Token, TokenKind

GROUP_LIMITS = GroupLimits(rows=500, commits=2, waiting=20_000)
"""Limits of the waiting requests; beyond them the response is 503, as browsers would not wait
longer.
"""
MAX_COUNTED_PER_SECOND = 5
"""Most events of one token per second in one process; further requests are answered, not
recorded.
"""


@dataclass(eq=False, slots=True)
class TrackedRequest:
    """A request whose token is valid."""

    project_id: UUID
    token: Token
    machine: Machine | None
    proxy: Proxy | None
    kept: dict[str, Any]

    @property
    def click(self) -> Click:
        return Click(self.project_id, self.token.email_id, self.token.link, self.machine)


class NowhereToGo(Exception):
    """The destination of the link is unknown."""


class Repeats:
    """Counts repeated requests of a token in the current second."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._second = 0
        self._counts: dict[str, int] = {}

    def is_too_often(self, text: str) -> bool:
        """Return whether a token exceeded MAX_COUNTED_PER_SECOND in this second."""
        second = int(self._now())
        if second != self._second:
            self._second = second
            self._counts = {}
        count = self._counts[text] = self._counts.get(text, 0) + 1
        return count > MAX_COUNTED_PER_SECOND


class Recorder:
    """Records opens and clicks in shared commits."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._destinations = Destinations()
        self._origins = OriginFinder(runtime.settings.tracking.country_file)
        self._group = GroupCommit(self._record, name="tracking", limits=GROUP_LIMITS)

    async def record(self, visit: TrackedRequest) -> str | None:
        """Record an open or a click; return the destination of a link.

        Raises:
            NowhereToGo: the link is unknown, and nothing is recorded.
            Unavailable: it could not be recorded now.
        """
        if visit.machine is None:
            if not self._origins.is_loaded:
                await asyncio.to_thread(self._origins.load)
            visit.kept |= self._origins.of(visit.kept, proxy=visit.proxy)
        return await self._group.submit(visit)

    async def destination(self, visit: TrackedRequest) -> str:
        """Return the destination of a link without recording a click.

        Raises:
            NowhereToGo: the link is unknown.
        """
        url = self._destinations.held(visit.click)
        if url is None:
            async with self._runtime.transaction(None, by="tracking") as conn:
                (url,) = await self._destinations.of(conn, [visit.click])
        if url is None:
            raise NowhereToGo
        return url

    async def _record(self, group: Sequence[Waiter[TrackedRequest, str | None]]) -> None:
        async with self._runtime.transaction(None, by="tracking") as conn:
            leads = await self._leads(conn, [waiter.item for waiter in group])
            clicks = [asked for asked, url in leads if url is not None]
            verdicts = await judged(conn, [asked.click for asked in clicks])
            machines = dict(zip(map(id, clicks), verdicts, strict=True))
            known = [
                (asked, url)
                for asked, url in leads
                if url is not None or asked.token.kind is TokenKind.OPEN
            ]
            events = [
                _event(asked, url, machines.get(id(asked), asked.machine)) for asked, url in known
            ]
            await record(conn, events)
        for waiter, (asked, url) in zip(group, leads, strict=True):
            if url is None and asked.token.kind is not TokenKind.OPEN:
                waiter.fail(NowhereToGo())
            else:
                waiter.succeed(url)

    async def _leads(
        self, conn: Conn, group: Sequence[TrackedRequest]
    ) -> list[tuple[TrackedRequest, str | None]]:
        clicks = [asked for asked in group if asked.token.kind is TokenKind.CLICK]
        found = await self._destinations.of(conn, [asked.click for asked in clicks])
        urls = dict(zip(map(id, clicks), found, strict=True))
        return [(asked, urls.get(id(asked))) for asked in group]


def _event(visit: TrackedRequest, url: str | None, machine: Machine | None) -> ReportedEvent:
    data = dict(visit.kept)
    if machine is not None:
        data |= {"is_machine": True, "machine": str(machine)}
    if visit.proxy is not None:
        data["proxy"] = str(visit.proxy)
    if url is not None:
        data |= {"url": url[:2000], "link": visit.token.link.hex()}
    kind = Type.OPENED if visit.token.kind is TokenKind.OPEN else Type.CLICKED
    return ReportedEvent("tracking", kind, email_id=visit.token.email_id, data=data)
