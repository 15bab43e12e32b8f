"""A few rows of the queues that watch inboxes and count."""

import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.events.model import Type
from tests import make
from tests.events.sent_mail import event, left, told
from tests.queue.kernel.rows import Rows, ids_of
from tests.watch import watching
from tests.watch.fake_imap import FakeFolder, fake_imap
from tests.watch.fake_imap import mail as mail_at_server
from tests.watch.fake_slack import fake_slack

SCANNED = (
    "status = 'pending' AND attempts = 0 AND crashes = 0 AND worker_id IS NULL AND run_at > now()"
    " AND last_scanned_at IS NOT NULL"
)


TOLD = "status IN ('delivered', 'held') AND crashes = 0 AND worker_id IS NULL"


COUNTED = (
    "status = 'pending' AND attempts = 0 AND crashes = 0 AND worker_id IS NULL"
    " AND counted_at IS NOT NULL AND folded_to > now() - interval '1 min'"
)


@asynccontextmanager
async def inboxes(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Watch inboxes of one person each with mail that arrived, of which each is known once."""
    async with fake_imap() as server:
        for number in range(count):
            folder = f"Folder{number}"
            server.folders[folder] = FakeFolder()
            server.folders[folder].add(mail_at_server(number, subject=f"Mail {number}"))
            await watching.person(conn, number, server.port, folder=folder)

        async def check(_doubtful: int) -> None:
            query = "SELECT subject, count(*) FROM mailqueue.notifications GROUP BY subject"
            found = {row[0]: row[1] for row in await make.rows(conn, query)}
            assert found == {f"Mail {number}": 1 for number in range(count)}

        spec = queue_named("inboxes")
        yield Rows(spec, await ids_of(conn, spec), check, SCANNED)


@asynccontextmanager
async def notifications(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Queue notifications of channels of their own, each posted once; held if in doubt."""
    async with fake_slack() as slack:
        os.environ["MAILQUEUE_SLACK_URL"] = f"http://127.0.0.1:{slack.port}/api"
        try:
            for number in range(count):
                await watching.queued(conn, *await watching.person(conn, number, 1), number)

            async def check(doubtful: int) -> None:
                rows = await make.rows(conn, "SELECT status FROM mailqueue.notifications")
                found = Counter(row[0] for row in rows)
                assert found["delivered"] + found["held"] == count
                assert found["held"] <= doubtful
                seen = Counter(slack.texts)
                assert set(seen.values()) <= {1}, "none is posted twice"
                assert found["delivered"] <= len(seen) <= count

            spec = queue_named("notifications")
            yield Rows(spec, await ids_of(conn, spec), check, TOLD)
        finally:
            del os.environ["MAILQUEUE_SLACK_URL"]


@asynccontextmanager
async def stats(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Write mail and events, which are counted exactly once however often counting is killed."""
    mails = [await left(conn) for _ in range(count)]
    await told(conn, *(event(Type.OPENED, email_id=mail) for mail in mails))
    await conn.execute("UPDATE mailqueue.stats_state SET run_at = now()")

    async def check(_doubtful: int) -> None:
        query = (
            "SELECT sum(sent), sum(opens) FROM mailqueue.stats_minutes WHERE dimension = 'total'"
            " AND project_id = %s"
        )
        project_id = await make.project_named(conn)
        assert await make.rows(conn, query, project_id) == [(count, count)]

    yield Rows(queue_named("stats"), await ids_of(conn, queue_named("stats")), check, COUNTED)
