"""Tries crash points one after another on one database and sink."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID, uuid4

from mailqueue.core.crashpoints import VARIABLE, Action
from mailqueue.db.fetch import Conn
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings, Settings, load_settings
from mailqueue.wiring.sending import build_send_worker
from tests import make
from tests.chaos.addresses import number_of, recipient
from tests.chaos.points.named import Point
from tests.chaos.processes import Child, ForkServer
from tests.chaos.sandbox import IN_FLIGHT, Sandbox
from tests.concurrency.running import until
from tests.mail.claim.steps import SILENCE

EACH_MAIL_MS = 10
LARGE_CHARACTERS = 90_000
_INSERT = """
INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, campaign_id, delivery)
SELECT a, 'Hello', %s, %s, CASE n %% 2 WHEN 0 THEN 'hold' ELSE 'resend' END
  FROM unnest(%s::text[]) WITH ORDINALITY AS x(a, n)
"""
_HOLDING = "SELECT recipient_email FROM mailqueue.emails WHERE delivery = 'hold'"
_SILENCED = """
UPDATE mailqueue.workers SET beat_at = clock_timestamp() - interval '5 min'
 WHERE lost_at IS NULL AND stopped_at IS NULL
"""
_LIVING = "SELECT count(*) FROM mailqueue.workers WHERE lost_at IS NULL AND stopped_at IS NULL"
_UNFINISHED = "SELECT count(*) FROM mailqueue.email_queue WHERE status IN ('pending', 'assigned')"


@dataclass
class PointRunner:
    """The tools of one case, and the counts of the cases before it."""

    sandbox: Sandbox
    nursery: ForkServer
    mails: int  # of each case
    accepted: int = 0
    duplicated: int = 0
    unknown: int = 0
    faults: int = 0
    broken: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.nursery.folder

    def addresses(self, count: int) -> Sequence[str]:
        """Return addresses that no case has used."""
        first, self.accepted = self.accepted, self.accepted + count
        return [recipient(number) for number in range(first, self.accepted)]

    async def accept(self, conn: Conn, *, is_large: bool = False) -> UUID:
        """Queue mail, half of it with the policy `hold`; return its campaign."""
        line = "All work and no play makes a dull day.\n"
        text = line * (LARGE_CHARACTERS // len(line)) if is_large else "Hello"
        campaign = uuid4()
        await conn.execute(_INSERT.encode(), [text, campaign, self.addresses(self.mails)])
        return campaign

    async def start(
        self, *arguments: str, inject: tuple[Point, Action] | None = None, **environment: str
    ) -> Child:
        """Start `mailqueue`, with a crash point if given."""
        given = {"MAILQUEUE_DATABASE_URL": self.sandbox.database.url.reveal(), **environment}
        if inject is not None:
            point, action = inject
            given[VARIABLE] = f"{point.name} {action} {point.passing}"
        return await self.nursery.start(*arguments, environment=given)

    async def finish(self, conn: Conn) -> None:
        """Send everything with an undisturbed worker."""
        if await make.scalar(conn, _UNFINISHED):
            async with sending_here(self.sandbox.database):
                await self.sandbox.finished(conn)

    async def compare(self, conn: Conn, words: str, faults: Sequence[str]) -> None:
        """Check the promises after each case."""
        self.faults += 1
        found = await self.sandbox.compare(conn, words, faults=1, accepted=self.accepted)
        twice, unknown = found.duplicated - self.duplicated, found.unknown - self.unknown
        found.promise(twice <= IN_FLIGHT, f"{twice} duplicates")
        found.promise(unknown <= IN_FLIGHT, f"{unknown} of unknown fate")
        self.duplicated, self.unknown = found.duplicated, found.unknown
        copies = (await asyncio.to_thread(self.sandbox.sink.read)).copies
        numbers = [number_of(address) for (address,) in await make.rows(conn, _HOLDING)]
        doubled = sum(copies[number] > 1 for number in numbers if number < len(copies))
        found.promise(doubled == 0, f"{doubled} mails were doubled that must not be")
        self.broken += [f"{words}: {each}" for each in (*faults, *found.broken)]


async def lose_all(conn: Conn) -> None:
    """Declare every worker lost that has not unregistered, also one that is just claiming."""

    async def none_is_left() -> bool:
        await conn.execute(_SILENCED.encode())
        await kernel.rescue(conn, silence=SILENCE)
        return bool(await make.scalar(conn, _LIVING) == 0)

    await until(none_is_left)


async def wait_for_fault(child: Child, point: Point, action: Action) -> None:
    """Wait until the process was interrupted.

    Raises:
        AssertionError: it never came to the point.
    """
    words = f"crash point {point.name}: {action}"

    async def is_struck() -> bool:
        if child.says(words):
            return action is Action.RAISE or bool(child.stops) or child.code is not None
        assert child.code is None, (
            f"{point.name} was never reached: {child.log.read_text()[-2000:]}"
        )
        return False

    try:
        await until(is_struck)
    except AssertionError as exc:
        raise AssertionError(f"{point.name} was never reached ({action}): {exc}") from exc


def settings_for(database: DatabaseSettings) -> Settings:
    return replace(load_settings(data=Path("/nonexistent")), database=database)


@asynccontextmanager
async def sending_here(database: DatabaseSettings) -> AsyncIterator[None]:
    """Run a worker in this process during the block."""
    stop = asyncio.Event()
    courier = build_send_worker(settings_for(database), launch_id=uuid4())
    task = asyncio.create_task(courier.run(stop))
    try:
        yield
    finally:
        stop.set()
        with suppress(asyncio.CancelledError):
            await task
