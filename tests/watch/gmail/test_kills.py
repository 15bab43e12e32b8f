"""A worker killed between Gmail and the commit loses no mail and reports none twice."""

from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.pools import deaths, pool_of, prepare, until
from tests.watch.fake_gmail import CLIENT_ID, CLIENT_SECRET, fake_gmail
from tests.watch.gmail.watched import watched

pytestmark = pytest.mark.anyio


async def test_a_scan_that_is_killed_before_its_commit_is_done_again(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    async with fake_gmail() as server, connect(database) as conn:
        monkeypatch.setenv("MAILQUEUE_GMAIL_CLIENT_ID", CLIENT_ID)
        monkeypatch.setenv("MAILQUEUE_GMAIL_CLIENT_SECRET", CLIENT_SECRET)
        monkeypatch.setenv("MAILQUEUE_GMAIL_URL", server.url)
        await watched(conn)
        begun = server.history
        await conn.execute(
            "UPDATE mailqueue.mailboxes SET cursor = jsonb_build_object('INBOX',"
            f" jsonb_build_array(1, {begun}))"
        )
        for number in range(3):
            server.add(f"Mail {number}")
        monkeypatch.setenv(VARIABLE, "inboxes.scanned kill 1")
        async with pool_of(["inboxes"], tmp_path):

            async def is_done() -> bool:
                query = "SELECT last_scanned_at IS NOT NULL FROM mailqueue.mailboxes"
                return await deaths(conn) == 1 and bool(await make.scalar(conn, query))

            async def left() -> list[str]:
                rows = await make.rows(conn, "SELECT last_error FROM mailqueue.mailboxes")
                return [str(row[0]) for row in rows]

            await until(is_done, left)

        query = "SELECT subject, count(*) FROM mailqueue.notifications GROUP BY 1 ORDER BY 1"
        assert await make.rows(conn, query) == [(f"Mail {number}", 1) for number in range(3)]
        cursor = await make.scalar(conn, "SELECT cursor FROM mailqueue.mailboxes")
        assert cursor == {"INBOX": [1, server.history]}
        assert server.asked("/messages/") == 6, "both scans read them"
