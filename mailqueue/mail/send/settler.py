"""Settles emails and marks those that are sent next, in one commit.

An email holds a slot from its mark until its outcome is durable, so the number of slots bounds the
emails of unknown outcome when the process dies. The commit that frees slots fills them again.
"""

import asyncio
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.link import Link
from mailqueue.mail.model import ClaimedEmail, Ending, Marks, SendOutcome
from mailqueue.mail.send import counting
from mailqueue.mail.send.begun import BegunEmails
from mailqueue.mail.send.concurrency import AccountSlots, Mail, Slots
from mailqueue.mail.send.correlated import CorrelationLog
from mailqueue.mail.send.stages import StageClock
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.queue.settler import RETRY_SECONDS
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.metrics.memory import MEMORY

_Request = tuple[Sequence[ClaimedEmail], AccountSlots, "asyncio.Future[Marks]"]
MIN_LINGER_SECONDS, MAX_LINGER_SECONDS = 0.004, 0.05
"""Bounds of the wait for emails still in flight before a commit, which takes as long as the last
commit took. A commit costs as much as sending ten emails: on a busy machine or a slow disk larger
groups are cheaper. While nothing waits for slots the upper bound applies."""

PREMARK_SECONDS = 0.05
"""Age at which a mark made in a claim is made again: the last check must be recent."""

log = get_logger(__name__)


class PremarkedEmail(NamedTuple):
    """An email that was marked in its claim.

    Only one mark is written at a time for a worker: nothing else may be marked meanwhile.
    """

    mail: Mail
    marks: Marks
    at: float  # seconds of the event loop's clock


class EmailSettler:
    """The writer of one worker process; one task writes all outcomes and marks."""

    def __init__(
        self,
        link: Link,
        slots: Slots,
        *,
        worker: int,
        batch: int,
        wake: Callable[[], None],
        begun: BegunEmails | None = None,
        stages: StageClock | None = None,
    ) -> None:
        """Prepare; `wake` is called when an email that went back to the queue is due at once."""
        self._link = link
        self._slots = slots
        self._worker = worker
        self._batch = batch
        self._wake = wake
        self.begun = begun or BegunEmails()
        self.correlated = CorrelationLog()
        self.stages = stages
        self._open: dict[Mail, AccountSlots] = {}  # marked emails, and whose slots they hold
        self._on_wire = 0  # marked emails without an outcome
        self.outcomes: deque[SendOutcome] = deque()  # to be written
        self._requests: list[_Request] = []
        self.premarked: PremarkedEmail | None = None
        self.marks = 0  # acknowledged commits that marked emails
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = 0.0  # when the timer expires
        self._linger = MIN_LINGER_SECONDS
        slots.on_waiting = self._write_soon
        self.has_written = asyncio.Event()  # to be cleared by a task that waits for it
        self.is_idle = asyncio.Event()  # nothing is written, and no outcome waits to be
        self.is_idle.set()

    def settle(self, outcome: SendOutcome) -> None:
        """Queue an outcome to be written."""
        if self.stages is not None:
            outcome = self.stages.answered(outcome)
        self.outcomes.append(outcome)
        self.begun.end(outcome.id, outcome.claim_no)
        self.correlated.answered(outcome)
        self.is_idle.clear()
        if (outcome.id, outcome.claim_no) in self._open:
            self._on_wire -= 1
        MEMORY.numbers[counting.RESULTS[outcome.log]] += 1
        if (took_ms := outcome.response_ms) is not None:
            bucket = bisect_left(counting.BOUNDS_MS, took_ms)
            MEMORY.numbers[counting.DURATION + bucket] += 1
            MEMORY.numbers[counting.DURATION_SUM] += took_ms / 1000
        self._schedule()

    def mark(
        self, emails: Sequence[ClaimedEmail], account: AccountSlots
    ) -> "asyncio.Future[Marks]":
        """Mark emails that hold slots; one that may not be sent keeps its slot until settled."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Marks] = loop.create_future()
        premarked, self.premarked = self.premarked, None  # other marks replace it
        if premarked is not None and len(emails) == 1:
            mail = (emails[0].id, emails[0].claim_no)
            is_quiet = self.is_idle.is_set() and not self._open and not self._requests
            is_recent = loop.time() - premarked.at < PREMARK_SECONDS
            if premarked.mail == mail and is_quiet and is_recent:
                self._open[mail] = account
                self._on_wire += 1
                done.set_result(premarked.marks)
                return done
        self._requests.append((emails, account, done))
        self._schedule()
        return done

    def forget(self, email_id: UUID, claim_no: int) -> None:
        """Free the slot of a marked email that is no longer this worker's."""
        self.begun.end(email_id, claim_no)
        self.correlated.forget(email_id, claim_no)
        if self.stages is not None:
            self.stages.forget(email_id, claim_no)
        account = self._open.pop((email_id, claim_no), None)
        if account is not None:
            self._on_wire -= 1
            self._slots.release([((email_id, claim_no), account)])

    async def run(self) -> None:
        """Write until cancelled: outcomes, and the marks of the emails that are sent next."""
        loop = asyncio.get_running_loop()
        while True:
            await self._due.wait()
            self.is_idle.clear()
            count = min(self._batch, len(self.outcomes))
            outcomes = [self.outcomes.popleft() for _ in range(count)]
            mails = [(one.id, one.claim_no) for one in outcomes]
            self._slots.release(
                [(mail, self._open.pop(mail)) for mail in mails if mail in self._open]
            )
            for _ in range(2):  # connections that wait for these slots ask for marks and join
                await asyncio.sleep(0)
            self._due.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            opened = list(self._open)
            requests, self._requests = self._requests, []
            new = [email for emails, _, _ in requests for email in emails]
            for emails, account, _ in requests:
                self._open.update({(email.id, email.claim_no): account for email in emails})
            self._on_wire += len(new)
            reach("settle.begun")
            begun = loop.time()
            written = await self._link.call_with_retries(
                partial(
                    settle_and_mark, worker=self._worker, settled=outcomes, new=new, opened=opened
                ),
                seconds=RETRY_SECONDS,
            )
            self.marks += bool(new) and not written.marks.are_lost
            reach("settle.committed")
            took = loop.time() - begun
            self._linger = min(max(took, MIN_LINGER_SECONDS), MAX_LINGER_SECONDS)
            MEMORY.numbers[counting.COMMITS] += 1
            MEMORY.numbers[counting.COMMIT_SECONDS] += took
            for _, _, done in requests:
                if not done.done():
                    done.set_result(written.marks)
            if written.moved_on:
                count = len(written.moved_on)
                log.warning("outcomes.refused", count=count, reason="the claims had moved on")
            log.debug("batch.settled", count=len(outcomes), waiting=len(self.outcomes))
            self.has_written.set()
            if any(one.ending is Ending.DEFER and one.wait is None for one in outcomes):
                self._wake()
            if not self.outcomes:
                self.is_idle.set()
            if self.outcomes or self._requests:
                self._schedule()

    def _schedule(self) -> None:
        """Write now if nothing more can join, else soon."""
        # A commit does not wait for servers that do not reply.
        if self._on_wire <= self._slots.stalled_count or len(self.outcomes) >= self._batch:
            self._due.set()
        else:
            is_wanted = self._requests or self._slots.waiters
            self._write_within(self._linger if is_wanted else MAX_LINGER_SECONDS)

    def _write_soon(self) -> None:
        """Write the outcomes there are: a connection waits for the slots they free."""
        if self.outcomes:
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
