"""Reads what changes on open pages: once for all pages of a process, on one connection."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import UUID

from mailqueue.admin.users.model import Right, SessionAccess
from mailqueue.admin.users.recheck import recheck
from mailqueue.core.errors import NotFound, TooManyRequests
from mailqueue.db.fetch import Conn, Lend
from mailqueue.db.link import Link
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

APPLICATION = "mailqueue/live"
INTERVAL_SECONDS = 2.0
"""Seconds between two reads of a view, at least."""
MAX_READS_PER_SECOND = 10
"""Reads of all watched views together; with more views each of them is read less often."""
RECHECK_SECONDS = 5.0
"""Seconds between two checks that the users of open pages may still see them."""
KEPT_SECONDS = 60.0
"""How long the result of a view that no open page watches stays in memory."""
MAX_STREAMS = 500
"""Streams of one process; further pages ask for changes instead."""
MAX_STREAMS_OF_USER = 20

LiveParts = Mapping[str, str]
"""HTML by the id of the element that it belongs into."""
Load = Callable[[Conn], Awaitable[LiveParts]]
Key = tuple[Hashable, ...]
"""Name of a view, its project, and what else it depends on."""
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user of an open page, and what the user needs to see it."""

    session_hash: bytes
    user_id: UUID
    right: Right
    project: str | None
    """None: a page about all projects."""
    rights: frozenset[Right] | None = None
    """The rights that the parts of the page were rendered for; None: they depend on none."""

    def may_go_on(self, access: SessionAccess | None) -> bool:
        """Return whether the user, who now has this access, still sees the same page."""
        if access is None or not access.allows(self.right, of_project=self.project is not None):
            return False
        return self.rights is None or self.rights == access.rights


@dataclass(eq=False, slots=True)
class PageWatch:
    """One open page: wakes when a part changes, or when the user may no longer see it."""

    viewer: Viewer
    view: "_View"
    is_over: bool = False
    _versions: dict[str, int] = field(default_factory=dict)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Make `changes` return."""
        self._woken.set()

    def end(self) -> None:
        """Make `changes` return for the last time."""
        self.is_over = True
        self._woken.set()

    async def changes(self, seconds: float) -> LiveParts:
        """Wait until parts change, at most so many seconds; return those that changed."""
        found = self._unseen()
        if not found and not self.is_over:
            try:
                async with asyncio.timeout(seconds):
                    await self._woken.wait()
            except TimeoutError:
                return {}
            found = self._unseen()
        self._woken.clear()
        return found

    def _unseen(self) -> LiveParts:
        versions = self.view.versions
        found = {name: self.view.parts[name] for name in versions if self._is_new(name)}
        self._versions.update(versions)
        return found

    def _is_new(self, name: str) -> bool:
        return self._versions.get(name) != self.view.versions[name]


@dataclass(eq=False, slots=True)
class _View:
    """What one view shows now, and the pages that watch it."""

    load: Load
    seconds: float
    parts: LiveParts = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    read_at: float = float("-inf")
    watches: set[PageWatch] = field(default_factory=set)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def is_due(self, now: float, views: int) -> bool:
        """Return whether it is time to read again, where so many views are watched."""
        wait = max(INTERVAL_SECONDS, self.seconds, views / MAX_READS_PER_SECOND)
        return now - self.read_at >= wait

    async def refresh(self, conn: Conn) -> None:
        """Read, and wake the pages if a part changed."""
        self.show(await self.load(conn))

    async def refresh_or_end(self, conn: Conn) -> None:
        """Refresh; end the watches if what the pages show was deleted."""
        try:
            await self.refresh(conn)
        except NotFound:
            for watch in self.watches:
                watch.end()

    def show(self, found: LiveParts) -> None:
        """Keep what was read now, and wake the pages if a part changed."""
        self.read_at = time.monotonic()
        changed = [name for name, html in found.items() if self.parts.get(name) != html]
        self.parts = found
        for name in changed:
            self.versions[name] = self.versions.get(name, 0) + 1
        if changed:
            for watch in self.watches:
                watch.wake()


class LiveReader:
    """Reads each watched view in turn, whatever the number of pages that watch it.

    It has a connection only while a page is open.
    """

    def __init__(self, database: DatabaseSettings) -> None:
        self._link = Link(database, APPLICATION)
        self._views: dict[Key, _View] = {}
        self._task: asyncio.Task[None] | None = None
        self._left = asyncio.Event()
        self._fault: type[Exception] | None = None  # the last error's, which is logged once
        self.streams = 0
        """Number of open pages."""

    async def current(self, key: Key, load: Load, lend: Lend, seconds: float = 0) -> LiveParts:
        """Return the parts of a view as read last, or now if that is some time ago.

        `seconds` is the least time between two reads, where INTERVAL_SECONDS is too short.
        """
        view = self._view(key, load, seconds)
        async with view.turn:
            if view.is_due(time.monotonic(), self._watched()):
                async with lend() as conn:
                    await view.refresh(conn)
        return view.parts

    def check_room(self, viewer: Viewer) -> None:
        """Raise TooManyRequests if another stream would be one too many."""
        own = sum(watch.viewer.user_id == viewer.user_id for watch in self._watches())
        if self.streams >= MAX_STREAMS or own >= MAX_STREAMS_OF_USER:
            raise TooManyRequests("too many pages are open", timedelta(seconds=10))

    def show(self, key: Key, parts: LiveParts) -> None:
        """Show open pages of a view what was just read for another page."""
        if (view := self._views.get(key)) is not None:
            view.show(parts)

    def watch(self, key: Key, load: Load, viewer: Viewer, seconds: float = 0) -> PageWatch:
        """Begin to watch a view, which is read each so many seconds; `leave` ends it."""
        view = self._view(key, load, seconds)
        made = PageWatch(viewer, view)
        view.watches.add(made)
        self.streams += 1
        self._left.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="live")
        return made

    def leave(self, watch: PageWatch) -> None:
        """End a watch."""
        watch.view.watches.discard(watch)
        self.streams -= 1
        if self.streams == 0:
            self._left.set()

    async def ended(self) -> None:
        """Wait until the connection is closed, which it is when the last page has left."""
        if self._task is not None:
            await self._task

    def _view(self, key: Key, load: Load, seconds: float) -> _View:
        oldest = time.monotonic() - KEPT_SECONDS
        for other, view in list(self._views.items()):
            if not view.watches and view.read_at < oldest and not view.turn.locked():
                del self._views[other]
        return self._views.setdefault(key, _View(load, seconds))

    def _watched(self) -> int:
        return sum(bool(view.watches) for view in self._views.values())

    def _watches(self) -> list[PageWatch]:
        return [watch for view in self._views.values() for watch in view.watches]

    async def _run(self) -> None:
        checked_at = time.monotonic()
        while True:
            while self.streams:
                for view in [each for each in self._views.values() if each.watches]:
                    await self._try(partial(self._refreshed, view))
                if time.monotonic() - checked_at >= RECHECK_SECONDS:
                    if not await self._try(lambda: self._link.call(self._recheck)):
                        self._end_all()
                    checked_at = time.monotonic()
                await self._pause(INTERVAL_SECONDS)
            await self._link.close()
            if not self.streams:
                return

    async def _refreshed(self, view: _View) -> None:
        async with view.turn:
            if view.is_due(time.monotonic(), self._watched()):
                await self._link.call(view.refresh_or_end)

    async def _try(self, step: Callable[[], Awaitable[None]]) -> bool:
        """Take a step; return False if it failed. An error like the one before is not logged."""
        try:
            await step()
        except Exception as exc:
            if self._fault is not type(exc):
                log.exception("live.failed")
            self._fault = type(exc)
            return False
        return True

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._left.wait()
        except TimeoutError:
            return

    async def _recheck(self, conn: Conn) -> None:
        """End the watches of users who may no longer see the page."""
        watches = self._watches()
        asked = [(each.viewer.session_hash, each.viewer.project) for each in watches]
        found = await recheck(conn, asked)
        for watch, access in zip(watches, found, strict=True):
            if not watch.viewer.may_go_on(access):
                watch.end()

    def _end_all(self) -> None:
        """End all watches: without a check none may go on."""
        for watch in self._watches():
            watch.end()
