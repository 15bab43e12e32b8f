"""Writes what became of mail, and which mail is handed over next, in one commit.

A mail holds one of the slots from its mark until its outcome is durable: no more than that many
can have an unknown fate when the process dies. The commit that empties slots fills them again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.link import Link
from mailqueue.mail.model import ClaimedEmail, Marks, Settlement
from mailqueue.mail.send.concurrency import Mail, Share, Slots
from mailqueue.mail.send.store.outcomes import write_down
from mailqueue.telemetry.log import get_logger

_Request = tuple[Sequence[ClaimedEmail], Share, "asyncio.Future[Marks]"]
LINGER_SECONDS, LONGEST_LINGER_SECONDS = 0.004, 0.05
"""A commit costs as much as sending ten mails. For those still on the wire it waits as long as the
last one took, within these bounds: on a busy machine or a slow disk larger groups are cheaper.
While nobody waits for slots there is no hurry."""

PATIENCE_SECONDS = 30.0
"""The database may refuse to write though it is there, as while somebody changes a table by hand.
Giving up would leave known outcomes unknown."""

log = get_logger(__name__)


class Scribe:
    """The record of one worker process, kept by one task."""

    def __init__(
        self,
        link: Link,
        slots: Slots,
        *,
        worker: int,
        most: int,
        written: Callable[[Sequence[Settlement]], None],
    ) -> None:
        """Prepare; `written` is told which outcomes each commit made durable."""
        self._link = link
        self._slots = slots
        self._worker = worker
        self._most = most
        self._written = written
        self._open: dict[Mail, Share] = {}  # marked mail, and whose slot it has
        self._on_wire = 0  # marked mail without an outcome
        self._outcomes: deque[Settlement] = deque()
        self._requests: list[_Request] = []
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = 0.0  # when the timer rings
        self._linger = LINGER_SECONDS
        slots.wanted = self._hurry
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def __len__(self) -> int:
        return len(self._outcomes)

    def settle(self, outcome: Settlement) -> None:
        """Have an outcome written soon."""
        self._outcomes.append(outcome)
        self._is_idle.clear()
        if (outcome.id, outcome.claim_no) in self._open:
            self._on_wire -= 1
        self._consider()

    def mark(self, emails: Sequence[ClaimedEmail], share: Share) -> "asyncio.Future[Marks]":
        """Mark mails that hold slots; those that may not go keep theirs until they are settled."""
        done: asyncio.Future[Marks] = asyncio.get_running_loop().create_future()
        self._requests.append((emails, share, done))
        self._consider()
        return done

    def forget(self, email_id: UUID, claim_no: int) -> None:
        """Free the slot of a marked mail that is no longer ours."""
        if (email_id, claim_no) in self._open:
            self._on_wire -= 1
            self._free([(email_id, claim_no)])

    async def drained(self) -> None:
        """Wait until every outcome is written."""
        await self._is_idle.wait()

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._due.wait()
            await self._write()
            if not self._outcomes:
                self._is_idle.set()
            if self._outcomes or self._requests:
                self._consider()

    def _consider(self) -> None:
        """Write now if nothing more can join, else soon."""
        # Nobody waits for a server that says nothing.
        if self._on_wire <= self._slots.count_silent or len(self._outcomes) >= self._most:
            self._due.set()
        else:
            is_wanted = self._requests or self._slots.are_wanted
            self._write_within(self._linger if is_wanted else LONGEST_LINGER_SECONDS)

    def _hurry(self) -> None:
        """Somebody waits for slots: what ended frees some once it is written."""
        if self._outcomes:
            self._write_within(self._linger)

    def _write_within(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds
        if self._timer is not None:
            if self._due_at <= at:
                return
            self._timer.cancel()
        self._due_at = at
        self._timer = loop.call_at(at, self._due.set)

    async def _write(self) -> None:
        outcomes = [self._outcomes.popleft() for _ in range(min(self._most, len(self._outcomes)))]
        self._free([(one.id, one.claim_no) for one in outcomes])
        for _ in range(2):  # who waits for these slots, or just ended, asks for marks and joins us
            await asyncio.sleep(0)
        self._rest()
        requests, self._requests = self._requests, []
        new = [email for emails, _, _ in requests for email in emails]
        opened = list(self._open)
        for emails, share, _ in requests:
            self._open.update({(email.id, email.claim_no): share for email in emails})
        self._on_wire += len(new)
        reach("settle.begun")
        begun = asyncio.get_running_loop().time()
        written = await self._link.insist(
            lambda conn: write_down(conn, self._worker, settled=outcomes, new=new, opened=opened),
            seconds=PATIENCE_SECONDS,
        )
        reach("settle.committed")
        took = asyncio.get_running_loop().time() - begun
        self._linger = min(max(took, LINGER_SECONDS), LONGEST_LINGER_SECONDS)
        for _, _, done in requests:
            if not done.done():
                done.set_result(written.marks)
        if written.moved_on:
            count = len(written.moved_on)
            log.warning("outcomes.refused", count=count, reason="the claims had moved on")
        self._written(outcomes)

    def _rest(self) -> None:
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _free(self, mails: Sequence[Mail]) -> None:
        marked = [mail for mail in mails if mail in self._open]
        self._slots.end([(mail, self._open.pop(mail)) for mail in marked])
