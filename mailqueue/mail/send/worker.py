"""One send worker: claims mail, hands it to the lines of its sender accounts, drains on stop."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.direct.queued import OwnServers, Ways
from mailqueue.mail.message.attachments import FileRef, Files, octets_of
from mailqueue.mail.message.build import Skeletons
from mailqueue.mail.message.file_storage import FileShelf
from mailqueue.mail.message.tracking import Dresses
from mailqueue.mail.model import Ending, FileFault, Settlement
from mailqueue.mail.send.account_health import Trouble
from mailqueue.mail.send.claims import Claims
from mailqueue.mail.send.concurrency import Slots
from mailqueue.mail.send.context import Account, Desk
from mailqueue.mail.send.dispatcher import Lines, load_parcels
from mailqueue.mail.send.partitions import keep_partitions_forever
from mailqueue.mail.send.settler import Scribe
from mailqueue.mail.send.stall_detector import Awake
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue.heartbeat import Lifeline
from mailqueue.queue.wakeup import Doorbell
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.templates.cache import Sheets

QUEUE = "email_queue"
LEASE = timedelta(minutes=30)
MOST_UNSETTLED = 2000
"""Outcomes that wait for the database; above it nothing new is claimed."""

FIRST_PAUSE_SECONDS, PAUSE_SECONDS = 0.002, 0.1
"""Before claiming again where others wake the lanes or hold all that have mail; it doubles."""

ROOM_SECONDS = 0.05
"""So soon it is seen that mail in memory waits for a silent server, and counts no more."""

AVOID_SECONDS = 0.25
"""So soon it is seen that a server answers again whose mail was avoided: nobody rings then."""

LEAVE_SECONDS = 5.0
LATE_ANSWER_SECONDS = 1.0
"""For a worker that was taken for lost: answers that wait to be read say what was sent."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CourierSettings:
    """How much one process takes on; `drain` bounds how long mail in flight is waited for."""

    in_flight: int = 64
    batch: int = 200
    drain: timedelta = timedelta(seconds=30)


class Courier:
    """One worker from being registered to being gone: claims, sends and settles."""

    def __init__(
        self,
        database: DatabaseSettings,
        settings: CourierSettings,
        *,
        launch_id: UUID,
        read_account: Callable[[Conn, int], Awaitable[Account]],
        shelf: FileShelf | None = None,
        ways: Ways | None = None,
        dresses: Dresses | None = None,
    ) -> None:
        self._settings = settings
        self._database = database
        names = ("claim", "write", "beat", "trouble", "partitions")
        self._links = {name: Link(database, f"mailqueue/{name}") for name in names}
        self._lifeline = Lifeline(self._links["beat"], kind="send", launch_id=launch_id)
        self._trouble = Trouble(self._links["trouble"])
        self._read_account = read_account
        self._shelf = shelf or FileShelf()
        self._ways = ways
        self._dresses = dresses or Dresses()
        self._room = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> bool:
        """Send until told to stop; False when others were told that this worker is gone.

        Whatever happens, outcomes already known are written before this returns, unless the
        database stays away for longer than the drain may last.
        """
        await self._lifeline.start()
        reach("worker.registered")
        worker = self._lifeline.worker_id
        self._slots = Slots(self._settings.in_flight)
        self._scribe = Scribe(
            self._links["write"],
            self._slots,
            worker=worker,
            most=self._settings.batch,
            written=self._written,
        )
        awake = Awake()
        self._lines = Lines(self._desk(awake), self._find_account, awake, read_tags=self._read_tags)
        self._bell = Doorbell(self._database, self._links["claim"], queue=QUEUE, worker=worker)
        log.info("worker.started", worker=worker)
        endless = [
            asyncio.create_task(endless, name=name)
            for name, endless in (
                ("write", self._scribe.run()),
                ("trouble", self._trouble.run()),
                ("relieve", self._lines.relieve_forever()),
                ("partitions", keep_partitions_forever(self._links["partitions"])),
                ("listen", self._bell.listen_forever()),
                ("beat", self._lifeline.beat_forever()),
            )
        ]
        claiming = asyncio.create_task(self._claim_forever(), name="claim")
        stopping = asyncio.create_task(stop.wait(), name="stop")
        own = asyncio.create_task(self._send_by_own_servers(stop), name="own")
        try:
            ended, _ = await asyncio.wait(
                (stopping, claiming, own, *endless), return_when=asyncio.FIRST_COMPLETED
            )
            await _cancelled(claiming)
            writing = endless[0]
            await self._drain(writing)
            if stop.is_set():
                await asyncio.wait((own,), timeout=self._settings.drain.total_seconds())
            for task in (*ended, writing):
                if task.done():
                    task.result()  # an error of ours ends the process
        finally:
            await _cancelled(stopping, claiming, own, *endless)
            for link in self._links.values():
                await link.close()
        return not self._lifeline.is_lost

    async def _send_by_own_servers(self, stop: asyncio.Event) -> None:
        if self._ways is None:
            await stop.wait()
            return
        files = Files(self._read_files)
        await OwnServers(
            self._links["partitions"], self._ways, Sheets(), files.fetched, dresses=self._dresses
        ).run(stop)

    async def _find_account(self, account_id: int) -> Account:
        return await self._links["claim"].call(lambda conn: self._read_account(conn, account_id))

    async def _read_tags(self, ids: Sequence[UUID]) -> dict[UUID, tuple[str, ...]]:
        found = await self._links["claim"].call(
            lambda conn: claims_store.read_tags(conn, list(ids))
        )
        return {one.id: tuple(one.tags) for one in found}

    async def _read_files(self, refs: Sequence[FileRef]) -> dict[UUID, bytes | FileFault]:
        ids, days = [ref.id for ref in refs], sorted({ref.on for ref in refs})
        stored = await self._links["claim"].call(
            lambda conn: claims_store.read_attachments(conn, ids, days=days)
        )
        return await octets_of(stored, self._shelf)

    def _desk(self, awake: Awake) -> Desk:
        return Desk(
            slots=self._slots,
            scribe=self._scribe,
            skeletons=Skeletons(),
            files=Files(self._read_files),
            may_finish=self._lifeline.is_alive,
            answered=self._trouble.answered,
            failed=self._trouble.failed,
            blamed=self._trouble.blamed,
            now=awake.seconds,
        )

    async def _claim_forever(self) -> None:
        """Claim until cancelled, or until told that this worker was declared lost."""
        try:
            await self._claim_while_known()
        except LeaseLost:
            self._lifeline.is_lost = True

    async def _claim_while_known(self) -> None:
        link, worker = self._links["claim"], self._lifeline.worker_id
        sheets = Sheets()
        claims = Claims(link, worker, limit=self._settings.batch, lease=LEASE)
        passed_over = 0  # claims in a row
        while True:
            await self._room_is_there()
            gathered = await link.call(claims_store.gather_lanes)
            reach("gather.committed")
            avoid = self._lines.overdue()
            claimed = await claims.take(avoid=avoid)
            if claimed:
                reach("claim.committed")
                parcels = await load_parcels(link.call, claimed, sheets)
                reach("contents.read")
                await self._lines.deal(await self._dresses.put_on(parcels, link.call))
                passed_over = 0
            if len(claimed) >= self._settings.batch // 2:
                await self._bell.unpark()
            elif not claimed and (gathered.woken < 0 or await self._are_lanes_ready(avoid)):
                # Others are at it, for milliseconds, and nobody rings when they let go.
                await asyncio.sleep(min(FIRST_PAUSE_SECONDS * 2**passed_over, PAUSE_SECONDS))
                passed_over = min(passed_over + 1, 10)
            elif not claimed and self._bell.is_parked:
                waits = [gathered.next_wake, AVOID_SECONDS if avoid else None]
                await self._bell.wait(
                    min((each for each in waits if each is not None), default=None)
                )
            elif not claimed:
                await self._bell.park()  # and look once more before waiting

    async def _are_lanes_ready(self, avoid: Sequence[int]) -> bool:
        return await self._links["claim"].call(partial(claims_store.are_lanes_ready, avoid=avoid))

    async def _room_is_there(self) -> None:
        """Hold about one batch beside what is in flight, and few unwritten outcomes."""
        while len(self._scribe) > MOST_UNSETTLED or self._lines.held() > self._settings.batch // 2:
            self._room.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(ROOM_SECONDS):  # wait_for may swallow a cancel
                    await self._room.wait()

    async def _drain(self, writing: asyncio.Task[None]) -> None:
        """No new claims; mail in flight ends and is recorded, the rest goes back."""
        self._lifeline.is_stopping = True
        reach("drain.begun")
        if self._lifeline.is_lost:
            log.warning("worker.lost", worker=self._lifeline.worker_id)
            reach("lease.lost")
            await self._lines.abandon(within=LATE_ANSWER_SECONDS)
        closing = asyncio.create_task(self._closed(), name="close")
        limit = self._settings.drain.total_seconds()
        try:
            either = asyncio.FIRST_COMPLETED
            await asyncio.wait((closing, writing), timeout=limit, return_when=either)
        finally:  # too late, or nobody is left to write what comes of it
            if not closing.done():
                await _cancelled(closing)
        if closing.cancelled():
            unwritten = len(self._scribe)
            log.error("worker.cut_off", worker=self._lifeline.worker_id, unwritten=unwritten)
            return
        closing.result()
        log.info("worker.stopped", worker=self._lifeline.worker_id)

    async def _closed(self) -> None:
        await self._lines.close()
        await self._scribe.drained()
        reach("drain.written")
        if not self._lifeline.is_lost:
            await self._leave()

    async def _leave(self) -> None:
        """Say that this worker stops; where the database is away, others find out by themselves."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._lifeline.stop()
                reach("leave.committed")

    def _written(self, outcomes: Sequence[Settlement]) -> None:
        self._room.set()
        if any(one.ending is Ending.DEFER and one.wait is None for one in outcomes):
            self._bell.ring()  # it is due at once
        log.debug("batch.settled", count=len(outcomes), waiting=len(self._scribe))


async def _cancelled(*tasks: asyncio.Task[None] | asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
