"""Workers that are killed and started again quickly, for long runs: their parent is the run itself.

What `mailqueue worker send --processes 4` does costs half a second of a core for each start; here
workers are forked by the nursery. Who sees a worker die says so to the database, as a parent does.
"""

import random
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from mailqueue.db.fetch import Conn
from mailqueue.queue import store as kernel
from tests import make
from tests.chaos.arena import Arena
from tests.chaos.offspring import Child, Nursery, nursery
from tests.queue.acting import SILENCE

# One that is killed before it has begun proves nothing.
AT_WORK = """
SELECT id, pid FROM mailqueue.worker_status
 WHERE status = 'running' AND started_at < clock_timestamp() - interval '1 s'
"""


@dataclass
class Flock:
    """A number of workers, each started again when it is killed."""

    arena: Arena
    young: Nursery
    arguments: tuple[str, ...]
    children: dict[int, Child] = field(default_factory=dict)

    async def start(self) -> None:
        """Start one more."""
        url = self.arena.database.url.reveal()
        child = await self.young.start(*self.arguments, environment={"MAILQUEUE_DATABASE_URL": url})
        self.children[child.pid] = child

    async def kill_one(self, conn: Conn) -> int:
        """Kill one of those at work; 0 where none is."""
        at_work = [
            (worker, self.children[pid])
            for worker, pid in await make.rows(conn, AT_WORK)
            if pid in self.children
        ]
        if not at_work:  # on a machine so busy that none has come so far
            return 0
        worker, child = random.choice(at_work)
        child.signal(signal.SIGKILL)
        await child.ended()
        del self.children[child.pid]
        await make.silent(conn, worker)
        await kernel.rescue(conn, silence=SILENCE)
        await self.start()
        return 1


@asynccontextmanager
async def flock(
    arena: Arena, *, processes: int, in_flight: int, batch: int
) -> AsyncIterator[Flock]:
    """Have workers at work beside the block; they stop in good order after it."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-flock-") as folder:
        async with nursery(Path(folder)) as young:
            arguments = (
                *("worker", "send", f"--child={uuid4()}", f"--data={folder}"),
                *(f"--in-flight={in_flight}", f"--batch={batch}"),
            )
            made = Flock(arena, young, arguments)
            for _ in range(processes):
                await made.start()
            yield made
            for child in made.children.values():
                child.signal(signal.SIGTERM)
            for child in made.children.values():
                await child.ended()
