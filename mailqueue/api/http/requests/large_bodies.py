"""Limits of large requests: memory and CPU time of the process, and bytes per key.

Requests of up to LARGE_BYTES, which nearly all are, are not limited here.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar
from uuid import UUID, uuid5
from weakref import WeakValueDictionary

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Scope

from mailqueue.core.errors import TooManyRequests
from mailqueue.projects.model import Caller
from mailqueue.projects.rate_limit.limiter import WINDOW_SECONDS, RateLimiter, RateLimitExceeded

LARGE_BYTES = 256 * 1024
PROJECT_BYTES = 64 * 1024 * 1024
"""Maximum bytes of large requests that one process holds for one project; further ones wait."""
PROCESS_BYTES = 256 * 1024 * 1024
"""Maximum bytes of large requests that one process holds for all projects; then 503."""
BYTES_PER_REQUEST = 1024 * 1024
"""Bytes of large requests per second allowed for each request per second of the rate limit."""
MAX_AT_ONCE = 64 * 1024 * 1024
"""Minimum size of a bucket in bytes: more than the largest request."""
UNIT_BYTES = 64 * 1024
"""Unit in bytes in which the limits count."""
_BYTES = "bytes"  # suffix of the bucket's id
_SCOPE = "mailqueue.bodies"
T = TypeVar("T")


@dataclass(slots=True)
class _Share:
    """Bytes held by the large requests of one project, and the requests that wait."""

    held: int = 0
    waiting: deque[tuple[int, asyncio.Future[None]]] = field(default_factory=deque)


class Bodies:
    """The limits of large requests in one process."""

    def __init__(self, allowance: RateLimiter) -> None:
        self._allowance = allowance
        self._shares: dict[UUID, _Share] = {}
        self._received = 0
        self._turn = asyncio.Lock()
        self._turns: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def _let_in(self, caller: Caller, size: int) -> None:
        await self._count(caller, size)
        share = self._shares.setdefault(caller.project_id, _Share())
        if not share.waiting and _fits(share, size):
            share.held += size
            return
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        share.waiting.append((size, room))
        try:
            await room
        except asyncio.CancelledError:
            if room.cancelled():  # it is skipped when its turn comes
                self._wake(caller.project_id)
            else:  # room was made at the same moment
                self._leave(caller.project_id, size)
            raise

    async def _count(self, caller: Caller, size: int) -> None:
        """Count bytes against the limits of a key and its project.

        Raises:
            TooManyRequests: a limit is exceeded; says when to retry.
        """
        of_project = caller.project_requests_per_second
        for whose, rate, what in (
            (caller.project_id, of_project, "all keys of this project together"),
            (caller.id, caller.requests_per_second, "this key"),
        ):
            if rate is None:
                continue
            per_second = rate * BYTES_PER_REQUEST / UNIT_BYTES
            try:
                await self._allowance.take(
                    uuid5(whose, _BYTES),
                    per_second,
                    what=what,
                    count=-(-size // UNIT_BYTES),
                    least=MAX_AT_ONCE // UNIT_BYTES,
                )
            except RateLimitExceeded as exc:
                most = exc.bucket.limit * UNIT_BYTES // (1024 * 1024)
                raise TooManyRequests(
                    f"{what} may send {most} MiB of large requests in {WINDOW_SECONDS} s",
                    exc.retry_after,
                ) from None

    def _leave(self, project_id: UUID, size: int) -> None:
        self._shares[project_id].held -= size
        self._wake(project_id)

    def _wake(self, project_id: UUID) -> None:
        share = self._shares.get(project_id, _Share())
        while share.waiting and (share.waiting[0][1].done() or _fits(share, share.waiting[0][0])):
            size, room = share.waiting.popleft()
            if not room.done():
                share.held += size
                room.set_result(None)
        if not share.held and not share.waiting:
            self._shares.pop(project_id, None)

    def _receive(self, size: int) -> None:
        if self._received + size > PROCESS_BYTES:
            why = "too many large requests are being read, try again"
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, why, {"Retry-After": "1"})
        self._received += size

    async def _in_turn(self, project_id: UUID, work: Callable[[], T]) -> T:
        """Run work in a thread, one at a time; per project at most one request waits."""
        turn = self._turns.setdefault(project_id, asyncio.Lock())
        async with turn, self._turn:
            return await asyncio.to_thread(work)


def _fits(share: _Share, size: int) -> bool:
    return not share.held or share.held + size <= PROJECT_BYTES


class _Held:
    """The part of the limits that one request holds."""

    __slots__ = ("_bodies", "_caller", "_expected", "_received")

    def __init__(self, bodies: Bodies, caller: Caller) -> None:
        self._bodies = bodies
        self._caller = caller
        self._expected = self._received = 0

    async def expect(self, size: int) -> None:
        if not self._expected:
            await self._bodies._let_in(self._caller, size)
            self._expected = size

    def receive(self, size: int) -> None:
        if self._expected:
            self._bodies._receive(size)
            self._received += size

    def release(self) -> None:
        if self._expected:
            self._bodies._received -= self._received
            self._bodies._leave(self._caller.project_id, self._expected)
            self._expected = self._received = 0

    async def in_turn(self, work: Callable[[], T]) -> T:
        return await self._bodies._in_turn(self._caller.project_id, work)


def admit(scope: Scope, bodies: Bodies, caller: Caller) -> None:
    """Count the body of a request for this caller."""
    scope[_SCOPE] = _Held(bodies, caller)


def release(scope: Scope) -> None:
    """Release what a request held, after its response."""
    held: _Held | None = scope.get(_SCOPE)
    if held is not None:
        held.release()


async def expect(scope: Scope, size: int) -> None:
    """Wait until a body of `size` bytes fits; return at once for a small one.

    Raises:
        TooManyRequests: the key or project has exceeded its limit of bytes.
    """
    held: _Held | None = scope.get(_SCOPE)
    if held is not None and size > LARGE_BYTES:
        await held.expect(size)


def receive(scope: Scope, size: int) -> None:
    """Count received bytes.

    Raises:
        HTTPException: 503, this process holds too many bytes of large requests.
    """
    held: _Held | None = scope.get(_SCOPE)
    if held is not None:
        held.receive(size)


async def in_turn(request: Request, work: Callable[[], T], *, is_large: bool) -> T:
    """Run work: for a large request in a thread, after that of other requests."""
    if not is_large:
        return work()
    held: _Held | None = request.scope.get(_SCOPE)
    return await (asyncio.to_thread(work) if held is None else held.in_turn(work))
