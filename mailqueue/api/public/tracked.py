"""Decides which opens and clicks are recorded in one commit: all that wait, or the only one.

Nobody is answered before what he did is committed, so that nothing that was answered is ever lost.
Where the database is away there is no answer but to come again.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.events.model import Event, Type
from mailqueue.events.recording import record
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.clicks import Click, Destinations, judged
from mailqueue.tracking.machines import Machine
from mailqueue.tracking.tokens import Kind, Token

MOST_TOGETHER = 500
MOST_COMMITS = 2
"""Commits at once: another is begun only for a full group, so that groups grow first."""
MOST_WAITING = 20_000
"""More are told to come again: they would wait longer than a browser does."""
MOST_A_SECOND = 5
"""Of one token in one process; what is more is answered and not counted."""

log = get_logger(__name__)


@dataclass(eq=False, slots=True)
class Asked:
    """A request that a token opened; the answer is where to go, None for who stays."""

    project_id: UUID
    token: Token
    machine: Machine | None
    kept: dict[str, Any]
    answer: asyncio.Future[str | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def click(self) -> Click:
        return Click(self.project_id, self.token.email_id, self.token.link, self.machine)


class NowhereToGo(Exception):
    """Nothing is known of where the link leads."""


class Repeats:
    """Knows who asks for the same again and again: he is answered, and counted a few times."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._second = 0
        self._counts: dict[str, int] = {}

    def is_too_often(self, text: str) -> bool:
        """Return whether a token came more often in this second than anybody needs."""
        second = int(self._now())
        if second != self._second:
            self._second = second
            self._counts = {}
        count = self._counts[text] = self._counts.get(text, 0) + 1
        return count > MOST_A_SECOND


class Recorder:
    """Records opens and clicks, together where several wait."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._destinations = Destinations()
        self._waiting: list[Asked] = []
        self._workers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def record(self, asked: Asked) -> str | None:
        """Record an open or a click; return where a link leads.

        Raises:
            NowhereToGo: the link is not known, and nothing is recorded.
            Unavailable: it could not be recorded now.
        """
        if len(self._waiting) >= MOST_WAITING:
            raise Unavailable("too many opens and clicks wait to be recorded")
        self._waiting.append(asked)
        if self._workers < min(MOST_COMMITS, 1 + len(self._waiting) // MOST_TOGETHER):
            self._workers += 1
            task = asyncio.create_task(self._work(), name="tracked")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await asked.answer

    async def destination(self, asked: Asked) -> str:
        """Return where a link leads, and record nothing.

        Raises:
            NowhereToGo: the link is not known.
        """
        url = self._destinations.held(asked.click)
        if url is None:
            async with self._runtime.transaction(None, by="tracking") as conn:
                (url,) = await self._destinations.of(conn, [asked.click])
        if url is None:
            raise NowhereToGo
        return url

    async def _work(self) -> None:
        try:
            while self._waiting:
                group = self._waiting[:MOST_TOGETHER]
                del self._waiting[:MOST_TOGETHER]
                await self._answered(group)
        finally:
            self._workers -= 1  # in the step that found nobody waiting: who comes next begins anew

    async def _answered(self, group: list[Asked]) -> None:
        """Answer all; what is wrong with one of them is no other's fault."""
        try:
            fault = await self._tried(group)
            for asked in group if fault is not None else ():
                if len(group) > 1 and not isinstance(fault, Unavailable):
                    fault = await self._tried([asked])
                if fault is not None and not asked.answer.done():
                    asked.answer.set_exception(fault)
        finally:
            for asked in group:
                asked.answer.cancel()  # nothing where it was answered

    async def _tried(self, group: list[Asked]) -> Exception | None:
        (fault,) = await asyncio.gather(self._record(group), return_exceptions=True)
        if fault is None or isinstance(fault, Exception):
            return fault
        raise fault

    async def _record(self, group: list[Asked]) -> None:
        async with self._runtime.transaction(None, by="tracking") as conn:
            leads = await self._leads(conn, group)
            clicks = [asked for asked, url in leads if url is not None]
            verdicts = await judged(conn, [asked.click for asked in clicks])
            machines = dict(zip(map(id, clicks), verdicts, strict=True))
            known = [
                (asked, url)
                for asked, url in leads
                if url is not None or asked.token.kind is Kind.OPEN
            ]
            events = [
                _event(asked, url, machines.get(id(asked), asked.machine)) for asked, url in known
            ]
            await record(conn, events)
        for asked, url in leads:  # only now: the commit is on the disk
            if asked.answer.done():  # he went away
                continue
            if url is None and asked.token.kind is not Kind.OPEN:
                asked.answer.set_exception(NowhereToGo())
            else:
                asked.answer.set_result(url)

    async def _leads(self, conn: Conn, group: list[Asked]) -> list[tuple[Asked, str | None]]:
        clicks = [asked for asked in group if asked.token.kind is Kind.CLICK]
        found = await self._destinations.of(conn, [asked.click for asked in clicks])
        urls = dict(zip(map(id, clicks), found, strict=True))
        return [(asked, urls.get(id(asked))) for asked in group]


def _event(asked: Asked, url: str | None, machine: Machine | None) -> Event:
    data = dict(asked.kept)
    if machine is not None:
        data |= {"is_machine": True, "machine": str(machine)}
    if url is not None:
        data |= {"url": url[:2000], "link": asked.token.link.hex()}
    kind = Type.OPENED if asked.token.kind is Kind.OPEN else Type.CLICKED
    return Event("tracking", kind, email_id=asked.token.email_id, data=data)
