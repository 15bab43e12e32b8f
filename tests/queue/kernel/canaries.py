"""A few rows of the queue that sends canary emails."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.operations import canaries as operations_canaries
from tests import make
from tests.queue.kernel.rows import Rows, ids_of

SENT = (
    "status = 'pending' AND attempts = 0 AND crashes = 0 AND worker_id IS NULL"
    " AND run_at > now() AND cardinality(email_ids) = 1"
)


@asynccontextmanager
async def canaries(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Set canaries, each of which makes one email of its interval, whatever is killed."""
    project_id = await make.project(conn, "canary")
    for number in range(count):
        await make.sender_account(conn, project_id=project_id, name=f"relay{number}")
        await operations_canaries.put(
            conn,
            "canary",
            f"relay{number}",
            recipient="ops@example.com",
            every=timedelta(days=1),
            by="tests",
        )

    async def check(_doubtful: int) -> None:
        query = "SELECT count(*) FROM mailqueue.emails WHERE category = 'canary'"
        assert await make.scalar(conn, query) == count

    spec = queue_named("canaries")
    yield Rows(spec, await ids_of(conn, spec), check, SENT)
