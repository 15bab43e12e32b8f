"""Notifications that begin at the same time are marked by one statement, each by its state."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch.marking import NotificationMarks
from mailqueue.watch.model import ClaimedNotification
from mailqueue.watch.store import work as store
from tests import make
from tests.watch import watching

pytestmark = pytest.mark.anyio


def claimed(notification_id: UUID, channel_id: UUID, claim_no: int) -> ClaimedNotification:
    return ClaimedNotification(
        id=notification_id,
        claim_no=claim_no,
        project_id=UUID(int=0),
        notification_channel_id=channel_id,
        attempts=1,
        max_attempts=4,
    )


async def test_marks_of_one_moment_are_one_statement_and_each_has_its_state(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[int] = []
    begin = store.begin

    async def counted(
        conn: Conn, claims: Sequence[store.NotificationClaim]
    ) -> dict[store.NotificationClaim, str]:
        statements.append(len(claims))
        return await begin(conn, claims)

    monkeypatch.setattr(store, "begin", counted)
    async with connect(database) as conn:
        owner, inbox_id, channel_id = await watching.person(conn, 1, 1)
        ids = [
            await watching.queued(conn, owner, inbox_id, channel_id, number) for number in range(20)
        ]
        await conn.execute("UPDATE mailqueue.notifications SET status = 'assigned', claim_no = 7")
        await conn.execute(
            "UPDATE mailqueue.notifications SET posting_claim = 6 WHERE id = %s", (ids[0],)
        )
        rows = [claimed(one, channel_id, 7) for one in reversed(ids)]
        # Its lease was lost, and it was claimed a second time.
        rows.append(claimed(ids[1], channel_id, 6))
        marks = NotificationMarks(database)
        try:
            states = await asyncio.gather(*(marks.begin(row) for row in rows))
        finally:
            await marks.close()
        marked = await make.scalar(
            conn, "SELECT count(*) FROM mailqueue.notifications WHERE posting_claim = 7"
        )

    assert statements == [21]
    assert states == ["marked"] * 19 + ["doubtful", "lost"]
    assert marked == 19
