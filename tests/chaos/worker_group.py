"""Workers that are killed and started again quickly, for long runs: their parent is the test run.

What `mailqueue worker send --processes 4` does costs half a second of a core for each start; here
workers are forked by the fork server. The group reports each killed worker to the database, as a
parent process does.
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
from tests.chaos.processes import Child, ForkServer, fork_server
from tests.chaos.sandbox import Sandbox
from tests.mail.claim.steps import SILENCE

# A worker that is killed before it has claimed mail proves nothing.
RUNNING = """
SELECT id, pid FROM mailqueue.worker_status
 WHERE status = 'running' AND started_at < clock_timestamp() - interval '1 s'
"""


@dataclass
class WorkerGroup:
    """A number of workers, each started again when it is killed."""

    sandbox: Sandbox
    forks: ForkServer
    arguments: tuple[str, ...]
    children: dict[int, Child] = field(default_factory=dict)

    async def start(self) -> None:
        """Start one more worker."""
        url = self.sandbox.database.url.reveal()
        child = await self.forks.start(*self.arguments, environment={"MAILQUEUE_DATABASE_URL": url})
        self.children[child.pid] = child

    async def kill_one(self, conn: Conn) -> int:
        """Kill one of the running workers; return 1, or 0 if none runs."""
        running = [
            (worker, self.children[pid])
            for worker, pid in await make.rows(conn, RUNNING)
            if pid in self.children
        ]
        if not running:  # none has started yet on a busy machine
            return 0
        worker, child = random.choice(running)
        child.signal(signal.SIGKILL)
        await child.ended()
        del self.children[child.pid]
        await make.silent(conn, worker)
        await kernel.rescue(conn, silence=SILENCE)
        await self.start()
        return 1


@asynccontextmanager
async def worker_group(
    sandbox: Sandbox, *, processes: int, in_flight: int, batch: int
) -> AsyncIterator[WorkerGroup]:
    """Run workers during the block; afterwards they stop after finishing their mail."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-flock-") as folder:
        async with fork_server(Path(folder)) as forks:
            arguments = (
                *("worker", "send", f"--child={uuid4()}", f"--data={folder}"),
                *(f"--in-flight={in_flight}", f"--batch={batch}"),
            )
            made = WorkerGroup(sandbox, forks, arguments)
            for _ in range(processes):
                await made.start()
            yield made
            for child in made.children.values():
                child.signal(signal.SIGTERM)
            for child in made.children.values():
                await child.ended()
