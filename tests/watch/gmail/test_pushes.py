"""Gmail is asked for pushes once a day, and a scan goes on where it refuses."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.watch import watching
from tests.watch.fake_gmail import fake_gmail, fault
from tests.watch.gmail.watched import scanning, watched

pytestmark = pytest.mark.anyio
TOPIC = "projects/example/topics/inboxes"
AGE = "SELECT extract(epoch FROM now() - push_asked_at)::integer FROM mailqueue.mailboxes"


async def aged(conn: Conn, by: str) -> None:
    """Let time pass since Gmail was asked."""
    query = "UPDATE mailqueue.mailboxes SET push_asked_at = push_asked_at - %s::interval"
    await conn.execute(query, (by,))


async def test_gmail_is_asked_for_pushes_once_a_day(database: DatabaseSettings) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn, labels=("INBOX", "Label_1"))
        async with scanning(server, database, topic=TOPIC):
            await watching.scanned(conn, inbox_id)
            await watching.scanned(conn, inbox_id)
            wanted = {
                "topicName": TOPIC,
                "labelIds": ["INBOX", "Label_1"],
                "labelFilterBehavior": "INCLUDE",
            }
            assert server.watches == [wanted]
            await aged(conn, "23 h")
            await watching.scanned(conn, inbox_id)
            assert len(server.watches) == 1
            await aged(conn, "2 h")
            await watching.scanned(conn, inbox_id)
            assert len(server.watches) == 2


async def test_a_refusal_stops_no_scan_and_is_asked_again_after_an_hour(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        refusal = fault(403, "forbidden", "User not authorized to perform this action.")
        server.script["/watch"] = [refusal]
        async with scanning(server, database, topic=TOPIC):
            await watching.scanned(conn, inbox_id)
            server.add("Here")
            await watching.scanned(conn, inbox_id)
            assert await watching.log(conn) == [("Here", "pending")]
            assert server.watches == []
            assert 82_000 < await make.scalar(conn, AGE) < 83_400, "23 hours"
            await aged(conn, "61 min")
            await watching.scanned(conn, inbox_id)
            assert len(server.watches) == 1


async def test_without_a_topic_gmail_is_asked_for_nothing(database: DatabaseSettings) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
        assert server.watches == []
        assert await make.scalar(conn, AGE) is None
