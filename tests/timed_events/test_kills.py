"""Four workers of which one is killed again and again: each event fires once."""

import signal
from collections import Counter
from pathlib import Path

import pytest

from mailqueue.db.pool import connect
from mailqueue.process.groups import queue_children
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.queue.kernel.pools import end, pool_of, prepare, processes, until
from tests.timed_events import events
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio
QUEUES = ["timed-events", "webhooks"]


@pytest.mark.parametrize(
    ("contacts", "kills"), [(200, 6), pytest.param(5_000, 60, marks=pytest.mark.soak)]
)
async def test_each_event_fires_once_while_workers_are_killed(
    contacts: int,
    kills: int,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half are birthdays by mail, half calls of a webhook."""
    prepare(monkeypatch, database, tmp_path)
    async with fake([FakeReply(200)]) as server, connect(database) as conn:
        await events.template(conn)
        await events.birthdays(conn)
        target = await webhook(conn, f"http://127.0.0.1:{server.port}/", event_types=["email.held"])
        await conn.execute(
            "SELECT count(c) FROM generate_series(1, %s) AS n, mailqueue.put_contact(%s, NULL,"
            " jsonb_build_object('email', 'p' || n || '@example.com', 'date_of_birth',"
            " '1988-02-29'), true) AS c",
            (contacts, await make.project_named(conn)),
        )
        await conn.execute(
            "SELECT count(mailqueue.put_timed_event('renewal', now(), webhook_id => %s,"
            " idempotency_key => n::text)) FROM generate_series(1, %s) AS n",
            (target, contacts),
        )
        await events.make_due(conn)
        done = "SELECT count(*) FROM mailqueue.timed_events WHERE status = 'completed'"
        async with pool_of([], tmp_path, groups=[queue_children(QUEUES)] * 4):
            killed = 0
            for number in range(kills):
                wanted = number * 2 * contacts // (kills + 1)

                async def has_gone_on(wanted: int = wanted) -> bool:
                    found = await make.scalar(conn, done)
                    return found >= wanted and bool(await processes(conn))

                await until(has_gone_on, lambda: make.rows(conn, done))
                end((await processes(conn))[-1], signal.SIGKILL)
                killed += 1

            async def is_done() -> bool:
                return bool(await make.scalar(conn, done) == 2 * contacts)

            await until(is_done, lambda: make.rows(conn, done))

        mails = "SELECT count(*), count(DISTINCT recipient_email) FROM mailqueue.emails"
        assert await make.rows(conn, mails) == [(contacts, contacts)]
        calls = Counter(one.headers["idempotency-key"] for one in server.requests)
        assert set(calls) == {str(n) for n in range(1, contacts + 1)}
        ahead = (
            "SELECT count(*), count(DISTINCT contact_id) FROM mailqueue.timed_events"
            " WHERE is_birthday AND status = 'pending'"
        )
        assert await make.rows(conn, ahead) == [(contacts, contacts)], "next year's, once each"
        assert killed == kills
