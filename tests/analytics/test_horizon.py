"""What commits late is counted once; what only reads, and what begins later, delays nothing."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import folding
from tests.events.sent_mail import event, left, told

pytestmark = pytest.mark.anyio


async def test_an_event_that_commits_after_later_ones_were_written_is_counted(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, connect(database) as late:
        mail, other = await left(conn), await left(conn)
        async with late.transaction():
            await told(late, event(Type.OPENED, email_id=mail))
            await told(conn, event(Type.OPENED, email_id=other))
            await folding.claimed(conn)
            states = [await folding.turn(conn) for _ in range(60)]
            assert states[-1] == "waiting"
        await folding.caught_up(conn)

        assert await folding.total(conn, "opens") == 2
        assert await folding.differences(conn) == []


async def test_suppressed_mail_of_a_transaction_that_began_long_before_it_is_counted(
    database: DatabaseSettings,
) -> None:
    """The time in its row of history is that of the transaction's beginning."""
    async with connect(database) as conn, connect(database) as late:
        project = await make.project_named(conn)
        await make.rows(
            conn,
            "SELECT mailqueue.suppress(%s, 'ann@example.com', '', 'manual', NULL, NULL, 'manual')",
            project,
        )
        async with late.transaction():
            await make.scalar(late, "SELECT now()")
            await folding.caught_up(conn)
            await make.queued_email(late)
        await folding.caught_up(conn)

        assert await folding.total(conn, "suppressed") == 1
        assert await folding.total(conn, "accepted") == 1
        assert await folding.differences(conn) == []


async def test_a_reader_with_an_old_snapshot_and_a_later_writer_delay_nothing(
    database: DatabaseSettings,
) -> None:
    async with (
        connect(database) as conn,
        connect(database) as reader,
        connect(database) as writer,
        reader.transaction(),
        writer.transaction(),
    ):
        await reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await make.rows(reader, "SELECT count(*) FROM mailqueue.email_events")
        mail = await left(conn)
        await told(conn, event(Type.CLICKED, email_id=mail))
        await folding.caught_up(conn)
        await make.queued_email(writer)  # writes to the queue alone

        await folding.caught_up(conn)

        assert await folding.total(conn, "clicks") == 1


async def test_a_claim_that_was_lost_counts_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await left(conn)
        await folding.claimed(conn)
        await conn.execute("UPDATE mailqueue.stats_state SET claim_no = 2")

        assert await folding.turn(conn) == "lost"
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.stats_minutes") == 0
