"""Counting anew gives the same counts; comparing finds what is wrong."""

from datetime import timedelta

import pytest

from mailqueue.analytics import upkeep
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import folding, recount
from tests.events.sent_mail import NOON, event, left, told

pytestmark = pytest.mark.anyio


async def furnish(conn: Conn) -> None:
    for number in range(20):
        created = NOON - timedelta(days=number % 4)
        mail = await left(conn, campaign_id=f"c{number % 3}", created_at=created)
        kinds = (Type.DELIVERED, Type.OPENED, Type.OPENED, Type.CLICKED)
        await told(conn, *(event(kind, email_id=mail) for kind in kinds))
    await make.logged_attempts(conn, "relay", 20, "sent", 7)


async def test_counting_anew_from_a_day_gives_the_same_and_keeps_what_is_older(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await make.sender_account(conn, name="relay")
        await furnish(conn)
        await folding.caught_up(conn)
        before = await recount.stored(conn, "stats_minutes")
        assert before == await recount.recount(conn)

        since = await upkeep.rebuild(conn, NOON - timedelta(days=2), by="tests")
        assert (await upkeep.progress(conn)).share == 0
        await furnish(conn)
        await folding.caught_up(conn, turns=2000)

        assert (await upkeep.progress(conn)).rebuilt_from is None
        after = await recount.stored(conn, "stats_minutes")
        assert recount.differences(after, await recount.recount(conn)) == []
        assert any(key[5] < since for key in after)
        assert await folding.differences(conn) == []


async def test_a_correction_between_two_parts_of_counting_anew_is_applied_once(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        mails = await make.queued_emails(conn, 4)
        await make.rows(
            conn, "SELECT mailqueue.cancel_emails(%s, %s::uuid[], 'x')", project, list(mails)
        )
        await folding.caught_up(conn)
        await upkeep.rebuild(conn, NOON, by="tests")
        again = "SELECT mailqueue.requeue_emails(%s, ARRAY[%s::uuid])"
        await make.rows(conn, again, project, mails[0])
        await folding.turn(conn)
        await make.rows(conn, again, project, mails[1])
        await folding.caught_up(conn, turns=2000)

        assert await folding.total(conn, "cancelled") == 2
        assert await folding.differences(conn) == []


async def test_comparing_names_the_first_count_that_is_wrong(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await furnish(conn)
        await folding.caught_up(conn)
        await conn.execute(
            "UPDATE mailqueue.stats_quarters SET opens = opens + 1 WHERE dimension = 'campaign'"
            " AND value = 'c1' AND opens > 0 AND project_id <> %s",
            (recount.ALL_PROJECTS,),
        )

        found = [one async for one in upkeep.verify(conn, None, None)][-1]

        assert found.differences == 1
        one = found.first[0]
        assert (one.table, one.dimension, one.value, one.metric) == (
            "stats_quarters",
            "campaign",
            "c1",
            "opens",
        )
        assert one.counted == one.in_history + 1
        assert one.project == "default"


async def test_counting_anew_is_refused_where_history_is_not_complete(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        for since in (NOON - timedelta(days=200), NOON + timedelta(days=400)):
            with pytest.raises(InvalidField, match="from"):
                await upkeep.rebuild(conn, since, by="tests")
