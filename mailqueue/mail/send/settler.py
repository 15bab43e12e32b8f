"""Settles emails and marks those that are sent next, in one commit.

An email holds a slot from its mark until its outcome is durable, so the number of slots bounds the
emails of unknown outcome when the process dies. The commit that frees slots fills them again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.link import Link
from mailqueue.mail.model import ClaimedEmail, Marks, SendOutcome
from mailqueue.mail.send.begun import BegunEmails
from mailqueue.mail.send.concurrency import AccountSlots, Mail, Slots
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.queue.settler import RETRY_SECONDS
from mailqueue.telemetry.log import get_logger

_Request = tuple[Sequence[ClaimedEmail], AccountSlots, "asyncio.Future[Marks]"]
MIN_LINGER_SECONDS, MAX_LINGER_SECONDS = 0.004, 0.05
"""Bounds of the wait for emails still in flight before a commit, which takes as long as the last
commit took. A commit costs as much as sending ten emails: on a busy machine or a slow disk larger
groups are cheaper. While nothing waits for slots the upper bound applies."""

PREMARK_SECONDS = 0.05
"""Age at which a mark made in a claim is made again: the last check must be recent."""

log = get_logger(__name__)


class EmailSettler:
    """The writer of one worker process; one task writes all outcomes and marks."""

    def __init__(
        self,
        link: Link,
        slots: Slots,
        *,
        worker: int,
        batch: int,
        written: Callable[[Sequence[SendOutcome]], None],
        begun: BegunEmails | None = None,
    ) -> None:
        """Prepare; `written` is called with the outcomes that each commit made durable."""
        self._link = link
        self._slots = slots
        self._worker = worker
        self._batch = batch
        self._written = written
        self.begun = begun or BegunEmails()
        self._open: dict[Mail, AccountSlots] = {}  # marked emails, and whose slots they hold
        self._on_wire = 0  # marked emails without an outcome
        self._outcomes: deque[SendOutcome] = deque()
        self._requests: list[_Request] = []
        self._premarked: tuple[Mail, Marks, float] | None = None  # in a claim, at that loop time
        self._is_writing = False
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = 0.0  # when the timer expires
        self._linger = MIN_LINGER_SECONDS
        slots.on_waiting = self._write_soon
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def __len__(self) -> int:
        return len(self._outcomes)

    def settle(self, outcome: SendOutcome) -> None:
        """Queue an outcome to be written."""
        self._outcomes.append(outcome)
        self.begun.end(outcome.id, outcome.claim_no)
        self._is_idle.clear()
        if (outcome.id, outcome.claim_no) in self._open:
            self._on_wire -= 1
        self._schedule()

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing is marked, and nothing is or waits to be written."""
        is_written = self._is_idle.is_set() and not self._is_writing
        return is_written and not self._open and not self._requests

    def premarked(self, email: ClaimedEmail, marks: Marks) -> None:
        """Keep the mark that a claim has made, until its email asks for it or others are marked.

        Only one mark is written at a time for a worker: nothing else may be marked meanwhile.
        """
        now = asyncio.get_running_loop().time()
        self._premarked = ((email.id, email.claim_no), marks, now)

    def mark(
        self, emails: Sequence[ClaimedEmail], account: AccountSlots
    ) -> "asyncio.Future[Marks]":
        """Mark emails that hold slots; one that may not be sent keeps its slot until settled."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Marks] = loop.create_future()
        premarked, self._premarked = self._premarked, None
        if premarked is not None and len(emails) == 1:
            mail, marks, at = premarked
            is_same = mail == (emails[0].id, emails[0].claim_no)
            if is_same and self.is_quiet and loop.time() - at < PREMARK_SECONDS:
                self._open[mail] = account
                self._on_wire += 1
                done.set_result(marks)
                return done
        self._requests.append((emails, account, done))
        self._schedule()
        return done

    def forget(self, email_id: UUID, claim_no: int) -> None:
        """Free the slot of a marked email that is no longer this worker's."""
        self.begun.end(email_id, claim_no)
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
                self._schedule()

    def _schedule(self) -> None:
        """Write now if nothing more can join, else soon."""
        # A commit does not wait for servers that do not reply.
        if self._on_wire <= self._slots.stalled_count or len(self._outcomes) >= self._batch:
            self._due.set()
        else:
            is_wanted = self._requests or self._slots.has_waiters
            self._write_within(self._linger if is_wanted else MAX_LINGER_SECONDS)

    def _write_soon(self) -> None:
        """Write the outcomes there are: a connection waits for the slots they free."""
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
        outcomes = [self._outcomes.popleft() for _ in range(min(self._batch, len(self._outcomes)))]
        self._free([(one.id, one.claim_no) for one in outcomes])
        for _ in range(2):  # connections that wait for these slots ask for marks and join
            await asyncio.sleep(0)
        self._stop_timer()
        requests, self._requests = self._requests, []
        new = [email for emails, _, _ in requests for email in emails]
        opened = list(self._open)
        for emails, account, _ in requests:
            self._open.update({(email.id, email.claim_no): account for email in emails})
        self._on_wire += len(new)
        self._is_writing = True
        reach("settle.begun")
        begun = asyncio.get_running_loop().time()
        written = await self._link.insist(
            lambda conn: settle_and_mark(
                conn, self._worker, settled=outcomes, new=new, opened=opened
            ),
            seconds=RETRY_SECONDS,
        )
        self._is_writing = False
        reach("settle.committed")
        took = asyncio.get_running_loop().time() - begun
        self._linger = min(max(took, MIN_LINGER_SECONDS), MAX_LINGER_SECONDS)
        for _, _, done in requests:
            if not done.done():
                done.set_result(written.marks)
        if written.moved_on:
            count = len(written.moved_on)
            log.warning("outcomes.refused", count=count, reason="the claims had moved on")
        self._written(outcomes)

    def _stop_timer(self) -> None:
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _free(self, mails: Sequence[Mail]) -> None:
        marked = [mail for mail in mails if mail in self._open]
        self._slots.release([(mail, self._open.pop(mail)) for mail in marked])
