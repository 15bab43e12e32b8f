"""Events of all projects are searched: none is repeated, none is missing."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from mailqueue.admin import boards, events
from mailqueue.admin.events import TYPES, LogPosition, Search, merged
from mailqueue.admin.model import PlatformEvent
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio


def the_week(**given: Any) -> Search:
    now = datetime.now(UTC)
    return Search(now - timedelta(days=7), now + timedelta(minutes=1), **given)


async def happened(conn: Conn, **columns: object) -> None:
    mail = await make.queued_email(conn)
    values = {"project_id": await make.project_named(conn), "email_id": mail, "type": "delivered"}
    await make.inserted(conn, "email_events", values | columns)


async def tried(conn: Conn, **columns: object) -> None:
    mail = await make.queued_email(conn)
    values = {
        "project_id": await make.project_named(conn),
        "email_id": mail,
        "attempt": 1,
        "status": "sent",
        "recipient_email": "ann@example.com",
    }
    await make.inserted(conn, "send_logs", values | columns)


async def test_pages_join_both_logs_by_time_and_lose_nothing(conn: Conn) -> None:
    for n in range(7):
        await (happened if n % 3 else tried)(conn)

    found: list[PlatformEvent] = []
    place: LogPosition | None = None
    for _ in range(10):
        page = await events.search(conn, the_week(), after=place, limit=2)
        found += page.events
        place = page.next
        if place is None:
            break

    assert [each.source for each in found] == [
        *("attempt", "event", "event", "attempt", "event", "event", "attempt")
    ]
    assert [each.occurred_at for each in found] == sorted(
        (each.occurred_at for each in found), reverse=True
    )
    assert len({(each.event_id, each.attempt_id) for each in found}) == 7


async def test_each_condition_leaves_out_what_does_not_fit(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    ann = await make.queued_email(conn, recipient_email="Ann@Example.com")
    many = await make.queued_email(conn, recipient_email="b@example.com", cc=["ann@example.com"])
    await happened(conn, email_id=ann, type="hard_bounce", recipient_email="ann@example.com")
    await happened(conn, email_id=many, type="delivered", recipient_email="b@example.com")
    await happened(conn, email_id=many, type="opened")
    await happened(conn, project_id=shop, type="complaint", recipient_email="c@example.com")
    month_ago = datetime.now(UTC) - timedelta(days=8)
    await happened(conn, email_id=ann, type="clicked", occurred_at=month_ago)

    async def types(wanted: Search) -> list[str]:
        page = await events.search(conn, wanted, after=None, limit=50)
        return [each.type for each in page.events]

    assert await types(the_week()) == ["complaint", "opened", "delivered", "hard_bounce"]
    assert await types(the_week(project_id=shop)) == ["complaint"]
    assert await types(the_week(type="delivered")) == ["delivered"]
    assert await types(the_week(recipient="ANN@example.com")) == ["opened", "hard_bounce"]
    assert await types(the_week(recipient="nobody@example.com")) == []


async def test_what_cannot_be_looked_for_is_refused(conn: Conn) -> None:
    now = datetime.now(UTC)
    with pytest.raises(InvalidField, match="type"):
        await events.search(conn, the_week(type="colour"), after=None, limit=1)
    with pytest.raises(InvalidField, match="until"):
        await events.search(conn, Search(now, now), after=None, limit=1)


async def test_every_type_that_the_logs_know_can_be_looked_for(conn: Conn) -> None:
    checks = await make.rows(
        conn,
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname IN"
        " ('email_events_type_check', 'send_logs_status_check') AND conparentid = 0",
    )
    known = {word for (text,) in checks for word in text.split("'")[1::2]}

    assert checks
    assert known == set(TYPES)


def test_an_event_and_an_attempt_of_one_moment_are_both_given() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    both = [
        PlatformEvent("event", UUID(int=1), None, at, "held", None, UUID(int=9), None, None, None),
        PlatformEvent("attempt", None, 5, at, "sent", None, UUID(int=9), None, None, None),
    ]

    first = merged(both, LogPosition(), limit=1)
    last = merged(both[1:], first.next or LogPosition(), limit=1)

    assert ([each.source for each in first.events], first.next) == (
        ["event"],
        LogPosition(UUID(int=1)),
    )
    assert ([each.source for each in last.events], last.next) == (["attempt"], None)


async def test_the_boards_show_what_waits_who_sends_and_how_it_fares(conn: Conn) -> None:
    shop = await make.project(conn, "shop", daily_limit=0)
    await make.sender_account(conn, project_id=shop, name="relay")
    await make.sender_account(conn, name="other", status="suspended", status_reason="535 no")
    await make.queued_emails(conn, 3, project="shop", priority=1)
    worker = await make.worker(conn)
    await make.claimed(conn, worker)

    for minutes, status in ((0, "sent"), (2, "sent"), (3, "deferred"), (70, "sent")):
        await tried(conn, status=status, sent_at=datetime.now(UTC) - timedelta(minutes=minutes))
    await conn.execute("UPDATE mailqueue.email_queue SET status = 'held' WHERE priority <> 1")

    queue = await boards.queue(conn)
    lane = queue.lanes[0]
    assert (lane.project, lane.priority, lane.pending, lane.due) == ("shop", 1, 3, 3)
    assert lane.blocked_reason == "daily_limit"
    assert {each.status: each.emails for each in queue.statuses} == {"pending": 3, "held": 4}
    assert [(flow.minutes, flow.sent) for flow in queue.flow] == [(1, 1), (5, 2), (60, 2)]
    assert (queue.flow[1].deferred, queue.flow[1].sent_per_second) == (1, 2 / 300)
    assert [(each.id, each.status) for each in await boards.workers(conn)] == [(worker, "running")]
    providers = await boards.providers(conn)
    assert [(each.sender, each.status, each.circuit) for each in providers[:2]] == [
        ("other", "suspended", "closed"),
        ("relay", "active", "closed"),
    ]
    assert {"stopped accounts"} <= {each.name for each in await boards.health(conn)}
