"""A producer that inserts mail at a steady rate and records what was accepted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.settings.environment import DatabaseSettings
from tests.chaos.addresses import recipient

LARGEST_BATCH = 500
BATCHES_A_SECOND = 10


@dataclass
class Producer:
    """Inserts `mails` mails within `seconds`, alternating between both ways to enqueue.

    A batch whose COMMIT was not answered is sent again: its keys make that harmless. The last
    `held` mails wait until `released` is set.
    """

    link: Link
    mails: int
    seconds: float
    delivery: str
    held: int = 0
    accepted: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        pace = self.mails / self.seconds if self.seconds else float("inf")
        size = int(min(LARGEST_BATCH, max(5, pace / BATCHES_A_SECOND)))
        started_at, turn = loop.time(), 0
        while self.accepted < self.mails:
            if self.mails - self.accepted <= self.held:
                await self.released.wait()
            numbers = range(self.accepted, min(self.accepted + size, self.mails))
            await self.insert(numbers, by_function=turn % 2 == 0)
            self.accepted = numbers.stop
            turn += 1
            await asyncio.sleep(started_at + self.accepted / pace - loop.time())
        self.done.set()

    async def insert(self, numbers: range, *, by_function: bool) -> None:
        """Insert these mails; retry until it succeeds."""
        accept = self._by_function if by_function else self._by_insert
        await self.link.call(lambda conn: accept(conn, [recipient(n) for n in numbers]))

    async def _by_function(self, conn: Conn, addresses: list[str]) -> None:
        common = {"subject": "Hello", "text": "Hello", "delivery": self.delivery}
        batch = [{"recipient": it, "idempotency_key": it, **common} for it in addresses]
        await conn.execute(
            "SELECT count(*) FROM mailqueue.enqueue_batch('default', %s)", [Jsonb(batch)]
        )

    async def _by_insert(self, conn: Conn, addresses: list[str]) -> None:
        await conn.execute(
            "INSERT INTO mailqueue.email_queue"
            " (recipient_email, idempotency_key, subject, text_body, delivery)"
            " SELECT a, a, 'Hello', 'Hello', %s FROM unnest(%s::text[]) AS a",
            [self.delivery, addresses],
        )


@asynccontextmanager
async def producing(
    database: DatabaseSettings,
    mails: int,
    *,
    seconds: float = 0.0,
    delivery: str = "resend",
    held: int = 0,
) -> AsyncIterator[Producer]:
    """Insert mail during the block; with 0 seconds all of it before the block begins."""
    link = Link(database, "producer")
    producer = Producer(link, mails, seconds, delivery, held)
    task = asyncio.create_task(producer.run())
    try:
        if not seconds:
            await task
        yield producer
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await link.close()
