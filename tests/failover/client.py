"""A client that inserts mail and records for each mail whether it was acknowledged."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from mailqueue.core.errors import Unavailable
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.settings.environment import DatabaseSettings


@dataclass
class CountingClient:
    """Inserts mail over several connections, as the API does; retries with the same key."""

    pool: Pool
    database: DatabaseSettings
    pause: float
    name: str  # what its addresses begin with
    acknowledged: dict[str, UUID] = field(default_factory=dict)
    refused: int = 0  # answers that were none
    _next: int = 0
    _is_over: bool = False

    async def run(self) -> None:
        """Insert one mail after another until stopped."""
        while not self._is_over:
            number, self._next = self._next, self._next + 1
            await self._insist(f"{self.name}-{number}@example.com")
            await asyncio.sleep(self.pause)

    def stop(self) -> None:
        self._is_over = True

    async def _insist(self, address: str) -> None:
        email = NewEmail(address, "Hello", text="Hello", options={"idempotency_key": address})
        while True:
            try:
                async with borrow(self.pool, self.database) as conn:
                    accepted = await accept_one(conn, email, project="default")
                    self.acknowledged[address] = accepted.id
            except Unavailable:
                self.refused += 1
                await asyncio.sleep(0.05)
            else:
                return


@asynccontextmanager
async def client(
    database: DatabaseSettings, *, hands: int, pause: float
) -> AsyncIterator[CountingClient]:
    """Insert mail during the block; each insert is acknowledged when the block has ended."""
    async with open_pool(database, max_size=hands) as pool:
        made = CountingClient(pool, database, pause, name=f"c{secrets.token_hex(4)}")
        tasks = [asyncio.create_task(made.run()) for _ in range(hands)]
        try:
            yield made
            made.stop()
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
