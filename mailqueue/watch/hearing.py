"""Listens to inboxes by IMAP IDLE: each has one connection, of the process that has its lease.

What is heard makes the scan due and nothing else. A process renews all its leases by one statement.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import ConfigError, Locked, MailqueueError, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.ports.mailbox import HearingEnd, MailboxAccess, MailboxHearing
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch.scanning import access_of
from mailqueue.watch.store import hearing as store
from mailqueue.watch.store import work

MAX_CONNECTIONS = 500
"""Connections of a process."""
MAX_OF_PROJECT = 1000
MAX_OF_SERVER = 200
"""Connections of a project and to a server, of all processes together."""
LEASE = timedelta(seconds=90)
ROUND_SECONDS = 20.0
"""Time between two renewals of all leases, and looks for inboxes without a connection."""
WAKE_SECONDS = 2.0
MAX_WAKE_SECONDS = 32.0
"""Least time between two scans that what a server says makes due. It doubles while the server goes
on saying so, and is back at the first once the server was silent for as long."""
BROKEN_WAIT = timedelta(seconds=30)
"""Wait before another connection; it doubles with each that fails, up to 16 minutes."""
REFUSED_WAIT = timedelta(minutes=15)
UNSUPPORTED_WAIT = timedelta(days=1)
"""Wait after a refused login, and where a server has no IDLE: such an inbox is scanned by time."""

Lending = Callable[[], AbstractAsyncContextManager[Conn]]
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HearingTools:
    """What a listener uses."""

    hearing: MailboxHearing
    read_master: Callable[[], MasterKey | None]
    lend: Lending


class InboxListener:
    """The connections of one process."""

    def __init__(self, tools: HearingTools, *, room: int = MAX_CONNECTIONS) -> None:
        self.id = uuid4()
        self._tools = tools
        self._room = room
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._again = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop` is set; then give the leases back."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                with suppress(MailqueueError):  # the database is away: leases end by themselves
                    await self._round()
                looks = asyncio.create_task(asyncio.sleep(ROUND_SECONDS))
                await asyncio.wait({stopping, looks}, return_when=asyncio.FIRST_COMPLETED)
                looks.cancel()
        finally:
            stopping.cancel()
            await self._end(list(self._tasks))
            with suppress(MailqueueError):
                async with self._tools.lend() as conn:
                    await store.release(conn, self.id)

    async def _round(self) -> None:
        async with self._tools.lend() as conn:
            if self._tasks:
                await store.give_way(
                    conn,
                    self.id,
                    room=self._room,
                    of_project=MAX_OF_PROJECT,
                    of_server=MAX_OF_SERVER,
                )
                held = await store.keep(conn, self.id, list(self._tasks), lease=LEASE)
                await self._end([one for one in self._tasks if one not in held])
            taken = await store.take(
                conn,
                self.id,
                room=self._room - len(self._tasks),
                of_project=MAX_OF_PROJECT,
                of_server=MAX_OF_SERVER,
                lease=LEASE,
            )
        reach("idle.taken")
        for inbox_id in taken:
            task = asyncio.create_task(self._hear(inbox_id), name=f"idle {inbox_id}")
            self._tasks[inbox_id] = task
            task.add_done_callback(lambda _, one=inbox_id: self._forget(one))  # type: ignore[misc]

    def _forget(self, inbox_id: UUID) -> None:
        task = self._tasks.get(inbox_id)
        if task is not None and task.done():
            del self._tasks[inbox_id]
            if not task.cancelled() and task.exception() is not None:
                _log.error("idle.failed", inbox=str(inbox_id), reason=repr(task.exception()))

    async def _end(self, inboxes: Sequence[UUID]) -> None:
        ending = [self._tasks[one] for one in inboxes]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def _hear(self, inbox_id: UUID) -> None:
        """Listen to one inbox until its connection ends, and say when to try again."""
        try:
            access = await self._access_of(inbox_id)
        except (ConfigError, Locked, SealBroken) as exc:
            await self._note(inbox_id, HearingEnd(str(exc), is_refusal=True))
            return
        if access is None:
            return
        changed = asyncio.Event()

        async def ready() -> None:
            async with self._tools.lend() as conn:
                await store.note(conn, self.id, inbox_id, state="listening")
            changed.set()  # what arrived before

        waking = asyncio.create_task(self._wake(inbox_id, changed))
        try:
            end = await self._tools.hearing.hear(access, ready=ready, arrived=changed.set)
        except MailqueueError as exc:
            end = HearingEnd(str(exc))
        finally:
            waking.cancel()
        await self._note(inbox_id, end)

    async def _access_of(self, inbox_id: UUID) -> MailboxAccess | None:
        async with self._tools.lend() as conn:
            found = await work.read_mailboxes(conn, [inbox_id])
            if not found:
                return None
            return await access_of(conn, found[0], self._tools.read_master())

    async def _wake(self, inbox_id: UUID, changed: asyncio.Event) -> None:
        pause = WAKE_SECONDS
        while True:
            await changed.wait()
            changed.clear()
            is_scanning = False
            with suppress(MailqueueError):
                async with self._tools.lend() as conn:
                    is_scanning = await store.wake(conn, self.id, inbox_id) == "scanning"
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_WAKE_SECONDS) if changed.is_set() else WAKE_SECONDS
            if is_scanning:
                changed.set()  # what arrived may be behind what that scan has read

    async def _note(self, inbox_id: UUID, end: HearingEnd) -> None:
        state, wait = "waiting", BROKEN_WAIT
        if end.is_refusal:
            wait = REFUSED_WAIT
        if not end.has_idle:
            state, wait = "unsupported", UNSUPPORTED_WAIT
        with suppress(MailqueueError):
            async with self._tools.lend() as conn:
                await store.note(conn, self.id, inbox_id, state=state, error=end.reason, wait=wait)
