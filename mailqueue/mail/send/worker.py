"""One send worker process. The path of an email through it:

claim     `Claims.take` takes due emails, with their contents    claims.py
load      `LoadingTurns` renders templates, injects tracking    load.py, turns.py
dispatch  `EmailDispatcher.dispatch`, to senders of accounts    dispatcher.py, account_sender.py
build     `build_attempts` builds and signs the messages        prepare.py, ../message/build.py
mark      `EmailSettler.mark`, the last check before sending    settler.py
send      `hand_over` sends them over SMTP or by an API         hand_over.py
settle    `outcome_of`, then `EmailSettler.settle`              outcomes.py, settler.py
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.message.attachments import AttachmentLoader
from mailqueue.mail.message.build import SkeletonCache
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.mail.send.account_health import AccountHealth
from mailqueue.mail.send.begun import QUEUE, BegunEmails
from mailqueue.mail.send.claims import Claims
from mailqueue.mail.send.concurrency import Slots
from mailqueue.mail.send.context import SendAccount, SendContext, SendWorkerSettings
from mailqueue.mail.send.dispatcher import EmailDispatcher
from mailqueue.mail.send.large import LargeBuilds
from mailqueue.mail.send.load import EmailLoader
from mailqueue.mail.send.partitions import keep_partitions_forever
from mailqueue.mail.send.reads import SendReads
from mailqueue.mail.send.settler import EmailSettler, PremarkedEmail
from mailqueue.mail.send.stages import StageClock
from mailqueue.mail.send.stall_detector import ActiveClock
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue.heartbeat import Heartbeat
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.settler import MAX_UNSETTLED
from mailqueue.queue.tasks import cancelled
from mailqueue.queue.wakeup import Wakeup
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.metrics.declared import CLAIMED_ROWS, CLAIMS
from mailqueue.telemetry.metrics.memory import MEMORY

LEASE = timedelta(minutes=30)

MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.002, 0.1
"""Wait before the next claim while other workers hold all lanes with mail; it doubles."""

ROOM_POLL_SECONDS = 0.05
"""Poll interval while memory is full: emails of a stalled server stop counting without an event."""

SKIP_POLL_SECONDS = 0.25
"""Poll interval while accounts are skipped; a recovering server sends no NOTIFY."""

MAX_MISSED_CLAIMS = 5
"""Claims without an email after which the process for emails that are sent alone ends."""

LATE_REPLY_SECONDS = 1.0
"""Time in which a worker declared lost still receives replies: they tell what was sent."""

log = get_logger(__name__)


class SendWorker:
    """One worker, from its registration to its end: claims, sends and settles emails."""

    def __init__(
        self,
        database: DatabaseSettings,
        settings: SendWorkerSettings,
        *,
        launch_id: UUID,
        in_progress: InProgress | None = None,
        read_account: Callable[[Conn, int], Awaitable[SendAccount]],
        storage: AttachmentStorage | None = None,
        tracking: EmailTracking | None = None,
        stages: StageClock | None = None,
    ) -> None:
        self._settings = settings
        self._database = database
        # A connection may lead to a database that was restored: what this worker has seen is
        # compared before its next claim.
        claim = Link(database, "mailqueue/claim", greeting=self._greet)
        names = ("write", "beat", "account_health", "partitions")
        self._links = {"claim": claim} | {
            name: Link(database, f"mailqueue/{name}") for name in names
        }
        self._heartbeat = Heartbeat(
            self._links["beat"], kind="send", launch_id=launch_id, in_progress=in_progress
        )
        self._begun = BegunEmails(in_progress)
        self._stages = stages
        self._account_health = AccountHealth(self._links["account_health"])
        self._reads = SendReads(
            self._links["claim"], read_account=read_account, storage=storage or AttachmentStorage()
        )
        self._loader = EmailLoader(self._links["claim"], tracking or EmailTracking(), self._begun)

    async def run(self, stop: asyncio.Event) -> bool:
        """Send until `stop` is set; return False if this worker was declared lost.

        Known outcomes are written before this returns, unless the database is unavailable for
        longer than the drain may last.
        """
        if not await self._heartbeat.start(stop):
            return True
        reach("worker.registered")
        worker = self._heartbeat.worker_id
        self._wakeup = Wakeup(self._database, self._links["claim"], queue=QUEUE, worker=worker)
        self._slots = Slots(self._settings.in_flight)
        self._settler = EmailSettler(
            self._links["write"],
            self._slots,
            worker=worker,
            batch=self._settings.batch,
            wake=self._wakeup.wake,
            begun=self._begun,
            stages=self._stages,
        )
        self._heartbeat.marks = lambda: self._settler.marks
        self._dispatcher = EmailDispatcher(
            self._send_context(),
            self._reads.account,
            read_tags=self._reads.tags,
            loader=self._loader,
        )
        log.info("worker.started", worker=worker)
        endless = [
            asyncio.create_task(endless, name=name)
            for name, endless in (
                ("write", self._settler.run()),
                ("account_health", self._account_health.run()),
                ("check_stalls", self._dispatcher.check_stalls_forever()),
                ("pace", self._dispatcher.pacing.release_forever()),
                ("load", self._dispatcher.turns.take_forever()),
                ("partitions", keep_partitions_forever(self._links["partitions"])),
                ("listen", self._wakeup.listen_forever()),
                ("beat", self._heartbeat.beat_forever()),
            )
        ]
        claim = self._send_alone if self._settings.is_alone else self._claim_forever
        claiming = asyncio.create_task(claim(), name="claim")
        stopping = asyncio.create_task(stop.wait(), name="stop")
        try:
            ended, _ = await asyncio.wait(
                (stopping, claiming, *endless), return_when=asyncio.FIRST_COMPLETED
            )
            await cancelled(claiming)
            writing = endless[0]
            await self._drain(writing)
            for task in (*ended, writing):
                if task.done():
                    task.result()  # an error of this program ends the process
        finally:
            await cancelled(stopping, claiming, *endless)
            self._begun.end_all()
            for link in self._links.values():
                await link.close()
        return not self._heartbeat.is_lost

    def _send_context(self) -> SendContext:
        return SendContext(
            slots=self._slots,
            settler=self._settler,
            skeleton_cache=SkeletonCache(),
            large_builds=LargeBuilds(),
            attachments=AttachmentLoader(self._reads.files),
            may_finish=self._heartbeat.is_alive,
            account_answered=self._account_health.account_answered,
            account_failed=self._account_health.account_failed,
            email_failed=self._account_health.email_failed,
            clock=ActiveClock(),
            is_alone=self._settings.is_alone,
        )

    async def _greet(self, conn: Conn) -> None:
        if self._heartbeat.worker_id:
            with suppress(LeaseLost):  # the next claim says so as well
                await self._heartbeat.beat_on(conn)

    async def _claim_forever(self) -> None:
        """Claim, load and dispatch until cancelled, or until this worker is declared lost."""
        link, settler, batch = self._links["claim"], self._settler, self._settings.batch
        claims = Claims(self._heartbeat.worker_id, limit=batch, lease=LEASE)
        blocked = 0  # claims in a row that got nothing because others held the lanes
        while True:
            # While about one batch is in memory, or too many outcomes are unwritten.
            while (
                len(settler.outcomes) > MAX_UNSETTLED
                or self._dispatcher.waiting().emails > batch // 2
            ):
                await self._wait_for_outcomes()
            gathered = await link.call(claims_store.gather_lanes)
            reach("gather.committed")
            waiting = self._dispatcher.waiting()
            avoid = waiting.stalled_accounts
            try:
                # Marked only if no other email could be marked before the claim has returned.
                taken = await link.call(partial(claims.take, avoid=avoid, may_mark=waiting.is_idle))
            except LeaseLost:
                self._heartbeat.is_lost = True
                return
            MEMORY.record(CLAIMS, 1, QUEUE)
            if taken.emails:
                MEMORY.record(CLAIMED_ROWS, len(taken.emails), QUEUE)
                reach("claim.committed")
                settler.correlated.claimed(taken.emails)
                if self._stages is not None:
                    self._stages.claimed(taken.emails)
                if taken.marks is not None:
                    mail = (taken.emails[0].id, taken.emails[0].claim_no)
                    now = asyncio.get_running_loop().time()
                    settler.premarked = PremarkedEmail(mail, taken.marks, now)
                    settler.marks += 1
                ready, made = await self._loader.read(taken)
                if made:
                    self._dispatcher.turns.add(made, taken.send_at, taken.claimed_at)
                if ready:
                    await self._dispatcher.dispatch(ready, taken.send_at, taken.claimed_at)
                blocked = 0
            is_left = taken.is_left or not 0 <= gathered.woken < claims_store.MAX_SIGNALS
            if len(taken.emails) >= batch // 2:
                await self._wakeup.unpark()
            elif is_left and not taken.emails:
                # Others hold the lanes for milliseconds and send no NOTIFY when they release them.
                await asyncio.sleep(min(MIN_PAUSE_SECONDS * 2**blocked, MAX_PAUSE_SECONDS))
                blocked = min(blocked + 1, 10)
            elif not is_left and self._wakeup.is_parked:
                # Mail that was committed after the lanes were gathered has sent a NOTIFY.
                waits = (taken.next_wake, SKIP_POLL_SECONDS if avoid else None)
                await self._wakeup.wait(min((s for s in waits if s is not None), default=None))
            elif not taken.emails:
                await self._wakeup.park()  # and look once more before waiting

    async def _send_alone(self) -> None:
        """Send the emails whose worker stopped before, one after another, until none is due."""
        claims = Claims(self._heartbeat.worker_id, limit=1, lease=LEASE)
        missed = 0  # claims in a row that found none
        while missed < MAX_MISSED_CLAIMS:
            try:
                taken = await self._links["claim"].call(claims.take_suspect)
            except LeaseLost:
                self._heartbeat.is_lost = True
                return
            if not taken.emails:  # none is due, or other claims hold its lane for milliseconds
                missed += 1
                await asyncio.sleep(MAX_PAUSE_SECONDS)
                continue
            missed = 0
            self._settler.correlated.claimed(taken.emails)
            if self._stages is not None:
                self._stages.claimed(taken.emails)
            mails = await self._loader.load(taken)
            await self._dispatcher.dispatch(mails, taken.send_at, taken.claimed_at)
            while not self._dispatcher.waiting().is_idle:  # until its outcome is written
                await self._wait_for_outcomes()

    async def _wait_for_outcomes(self) -> None:
        self._settler.has_written.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(ROOM_POLL_SECONDS):  # wait_for may swallow a cancel
                await self._settler.has_written.wait()

    async def _drain(self, writing: asyncio.Task[None]) -> None:
        """Finish and settle the emails in flight and return the others to the queue."""
        self._heartbeat.is_stopping = True
        reach("drain.begun")
        if self._heartbeat.is_lost:
            log.warning("worker.lost", worker=self._heartbeat.worker_id)
            reach("lease.lost")
            await self._dispatcher.abandon(within=LATE_REPLY_SECONDS)
        closing = asyncio.create_task(self._closed(), name="close")
        limit = self._settings.drain.total_seconds()
        try:
            either = asyncio.FIRST_COMPLETED
            await asyncio.wait((closing, writing), timeout=limit, return_when=either)
        finally:  # the limit has passed, or the writer has ended
            if not closing.done():
                await cancelled(closing)
        if closing.cancelled():
            unwritten = len(self._settler.outcomes)
            log.error("worker.cut_off", worker=self._heartbeat.worker_id, unwritten=unwritten)
            return
        closing.result()
        log.info("worker.stopped", worker=self._heartbeat.worker_id)

    async def _closed(self) -> None:
        await self._dispatcher.close()
        await self._settler.is_idle.wait()
        reach("drain.written")
        if not self._heartbeat.is_lost:
            await self._heartbeat.stop()
            reach("leave.committed")
