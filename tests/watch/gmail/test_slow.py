"""A Gmail that answers slowly: what was read is kept, and the next scan goes on behind it."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply
from tests.watch import watching
from tests.watch.fake_gmail import fake_gmail
from tests.watch.gmail.watched import scanning, watched

pytestmark = pytest.mark.anyio


async def test_a_backlog_is_read_in_parts_and_no_mail_of_it_counts_as_moved(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn, labels=("INBOX", "Label_1"))
        turns = itertools.count()
        async with scanning(server, database, clock=lambda: 20.0 * next(turns)):
            await watching.scanned(conn, inbox_id)
            await conn.execute(
                "UPDATE mailqueue.mailboxes SET caught_up_at = now() - interval '1 h',"
                " last_scanned_at = now() - interval '1 h', run_at = now() + interval '1 day'"
            )
            arrived = datetime.now(UTC) - timedelta(minutes=30)
            for number in range(7):
                labels = ("INBOX",) if number % 2 else ("INBOX", "Label_1")
                server.add(f"Mail {number}", labels=labels, at=arrived)
            server.add("Labelled", labels=("Label_1",), at=arrived)
            server.add("Moved", at=arrived - timedelta(hours=1))
            await watching.scanned(conn, inbox_id)

            async def is_done() -> bool:
                query = "SELECT cursor, run_at > now() FROM mailqueue.mailboxes"
                ((cursor, is_waiting),) = await make.rows(conn, query)
                places = {"INBOX": [1, server.history], "Label_1": [1, server.history]}
                return bool(is_waiting and cursor == places)

            await watching.wait(is_done, "the end of the backlog")

        told = [subject for subject, _ in await watching.log(conn)]
        assert sorted(told) == ["Labelled", *(f"Mail {number}" for number in range(7))]
        query = "SELECT caught_up_at > now() - interval '1 min' FROM mailqueue.mailboxes"
        assert await make.scalar(conn, query) is True


async def test_a_part_of_a_backlog_moves_the_cursor_behind_what_was_read(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        turns = itertools.count()
        async with scanning(server, database, clock=lambda: 20.0 * next(turns)):
            await watching.scanned(conn, inbox_id)
            before = "UPDATE mailqueue.mailboxes SET caught_up_at = now() - interval '1 h'"
            await conn.execute(before)
            added = [server.add(f"Mail {number}") for number in range(5)]
            # The second part finds a Gmail that answers no more.
            for one in added[2:]:
                server.script[f"/messages/{one.id}"] = [FakeReply(503)] * 50
            await watching.scanned(conn, inbox_id)

        cursor = await make.scalar(conn, "SELECT cursor FROM mailqueue.mailboxes")
        assert cursor == {"INBOX": [1, added[1].history]}
        assert len(await watching.log(conn)) == 2
