"""Attempts by minute: each minute of the log is read once, and late ones are not lost."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations.activity import MAX_ATTEMPTS, Activity, span_for
from mailqueue.operations.store.overview import TrafficRow
from mailqueue.operations.traffic import BLOCK, MINUTE, SETTLING, Counts, Traffic
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.test_view_plans import pages_read

pytestmark = pytest.mark.anyio

NOON = datetime(2030, 5, 1, 12, tzinfo=UTC)
SHOP, BLOG = uuid4(), uuid4()
_LOG_PAGES = """
SELECT sum(pg_relation_size(t.relid)) / 8192
  FROM pg_partition_tree('mailqueue.send_logs') AS t WHERE t.isleaf
"""


def row(minute: datetime, sent: int = 1, project: UUID = SHOP) -> TrafficRow:
    return TrafficRow(minute, project, sent, 0, 0, 0)


def known_at(now: datetime, known_from: datetime) -> Traffic:
    traffic = Traffic()
    traffic.now, traffic.known_from = now, known_from
    return traffic


def test_a_minute_that_grows_is_counted_once() -> None:
    traffic = known_at(NOON, NOON - timedelta(hours=25))
    traffic.add_newest([row(NOON - MINUTE, 3)])
    traffic.add_newest([row(NOON - MINUTE, 5)])  # read again, with two that came late

    assert traffic.minutes()[-1].counts == Counts(sent=5)
    traffic.now = NOON + BLOCK + SETTLING
    traffic.add_newest([row(NOON - MINUTE, 5), row(NOON, 2)])
    traffic.add_newest([])

    assert {point.at: point.counts for point in traffic.blocks()}[NOON - BLOCK] == Counts(sent=5)
    assert {point.at: point.counts for point in traffic.blocks()}[NOON] == Counts(sent=2)


def test_each_project_has_its_own_figures_and_all_have_the_sum() -> None:
    traffic = known_at(NOON, NOON - timedelta(hours=2))
    traffic.add_newest([row(NOON - MINUTE, 3), row(NOON - MINUTE, 4, BLOG)])

    assert traffic.minutes(SHOP)[-1].counts == Counts(sent=3)
    assert traffic.minutes(BLOG)[-1].counts == Counts(sent=4)
    assert traffic.minutes(uuid4())[-1].counts == Counts()
    assert traffic.minutes()[-1].counts == Counts(sent=7)


def test_what_was_not_read_yet_is_not_shown_as_nothing() -> None:
    traffic = known_at(NOON, NOON - 10 * MINUTE)
    points = traffic.minutes()

    assert len(points) == 60
    assert [point.counts for point in points[:50]] == [None] * 50
    assert [point.counts for point in points[50:]] == [Counts()] * 10


def test_old_minutes_are_forgotten() -> None:
    traffic = known_at(NOON, NOON - timedelta(days=1))
    for hour in range(72):
        traffic.now = NOON + timedelta(hours=hour)
        last = [traffic.now - minute * MINUTE for minute in range(64)]
        traffic.add_newest([row(minute) for minute in last if minute >= traffic._final_until])

    assert len(traffic._minutes) <= 64
    assert len(traffic._blocks) <= 146
    assert sum(point.counts.sent for point in traffic.blocks() if point.counts) == 24 * 60


def test_the_span_of_response_times_follows_the_number_of_attempts() -> None:
    traffic = known_at(NOON, NOON - timedelta(hours=2))
    assert span_for(traffic) == timedelta(hours=1)
    traffic.add_newest([row(NOON - 30 * MINUTE, MAX_ATTEMPTS + 1)])
    assert span_for(traffic) == timedelta(minutes=15)
    traffic.add_newest([row(NOON - minute * MINUTE, MAX_ATTEMPTS // 3) for minute in range(1, 20)])
    assert span_for(traffic) == timedelta(minutes=1)
    assert span_for(known_at(NOON, NOON - 6 * MINUTE)) == timedelta(minutes=5), "not known longer"


async def test_the_log_of_a_day_is_read(conn: Conn) -> None:
    await make.sender_account(conn, name="relay")
    for minutes_ago, status, count in ((1, "sent", 4), (1, "bounced", 2), (700, "deferred", 3)):
        await make.logged_attempts(conn, "relay", minutes_ago, status, count)
    await make.logged_attempts(conn, "relay", 60 * 25, "sent", 9)
    traffic = Traffic()
    await traffic.refresh(conn)
    await traffic.read_past(conn)
    await make.logged_attempts(conn, "relay", 2, "rejected", 1)  # committed late
    await traffic.refresh(conn)

    assert not traffic.is_missing
    assert traffic.minutes()[-1].counts == Counts(sent=4, bounced=2)
    assert traffic.minutes()[-2].counts == Counts(failed=1)
    day = [point.counts for point in traffic.blocks() if point.counts]
    assert sum(counts.deferred for counts in day) == 3
    assert sum(counts.sent for counts in day) <= 4, "older than a day"


async def test_the_slowest_account_comes_first(conn: Conn) -> None:
    for name, milliseconds in (("quick", 10), ("slow", 500)):
        await make.sender_account(conn, name=name)
        await make.logged_attempts(conn, name, 1, "sent", milliseconds)
    await make.logged_attempts(conn, "quick", 1, "failed", 5)
    activity = Activity()
    await activity.refresh(conn)
    slow, quick = activity.snapshot().accounts

    assert (slow.sender, slow.median_ms, slow.p95_ms, slow.attempts) == ("slow", 250, 475, 500)
    assert (quick.sender, quick.failed, quick.attempts) == ("quick", 5, 15)


async def test_a_snapshot_of_a_project_has_nothing_of_another(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    blog = await make.project(conn, "blog")
    for project, name in ((shop, "relay"), (blog, "secret")):
        await make.sender_account(conn, project_id=project, name=name)
        await make.queued_email(conn, project_id=project)
        await make.logged_attempts(conn, name, 1, "sent", 3)
    activity = Activity()
    await activity.refresh(conn)
    found = activity.snapshot(shop, "shop")

    assert {each.project for each in found.lanes} == {"shop"}
    assert [each.sender for each in found.accounts] == ["relay"]
    assert found.minutes[-1].counts == Counts(sent=3)
    assert activity.snapshot().minutes[-1].counts == Counts(sent=6)
    assert sum(depth.due for depth in found.depths) == 1


async def test_neither_board_reads_the_log_beyond_its_span(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await make.sender_account(conn, name="relay")
        await make.logged_attempts(conn, "relay", 60 * 20, "sent", 60_000)
        await conn.execute("VACUUM mailqueue.send_logs")  # summarizes the blocks of its index
        await make.logged_attempts(conn, "relay", 1, "sent", 100)
        size = await make.scalar(conn, _LOG_PAGES)
        for board in (
            "traffic_board(now() - interval '5 min', now())",
            "account_board(now() - interval '5 min')",
        ):
            await make.rows(conn, f"SELECT * FROM mailqueue.{board}")  # catalogues are read once
            blocks = await pages_read(conn, f"SELECT * FROM mailqueue.{board}")
            assert blocks * 3 < size, f"{board}: {blocks} of {size} pages"
