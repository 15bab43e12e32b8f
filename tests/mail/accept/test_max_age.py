"""How long mail may wait that names no time: by priority, as its project says."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from tests import make

pytestmark = pytest.mark.anyio
HOURS = {
    "max_age_hours_critical": 1,
    "max_age_hours_high": 4,
    "max_age_hours_normal": 24,
    "max_age_hours_low": 72,
}
PRIORITIES = ("critical", "high", "normal", "low")
AGE = (
    "SELECT extract(epoch FROM expires_at - run_at) / 3600 FROM mailqueue.email_queue WHERE id = %s"
)


async def age(conn: Conn, email_id: Any) -> float:
    """Return after how many hours a mail expires."""
    return float(await make.scalar(conn, AGE, email_id))


async def test_mail_that_names_no_time_expires_by_its_priority(conn: Conn) -> None:
    """However it is accepted: by INSERT, by a list of messages, by a batch."""
    await projects_manage.change(conn, "default", changes=HOURS, by="ann")

    inserted = [await make.queued_email(conn, priority=n) for n in range(4)]
    messages = [
        {"recipient": "ann@example.com", "subject": "s", "text": "t", "priority": priority}
        for priority in PRIORITIES
    ]
    listed = await make.rows(
        conn, "SELECT id FROM mailqueue.enqueue_batch('default', %s)", Jsonb(messages)
    )

    shared = await make.rows(
        conn,
        "SELECT id FROM mailqueue.enqueue_shared('default', %s, %s, %s, true, 'ann')",
        Jsonb([{"subject": "s", "text": "t"}]),
        Jsonb({"priority": "low"}),
        Jsonb([{"recipient": "ann@example.com"}]),
    )

    assert [await age(conn, one) for (one,) in shared] == [72]
    assert [await age(conn, one) for one in inserted] == [1, 4, 24, 72]
    assert [await age(conn, one) for (one,) in listed] == [1, 4, 24, 72]


async def test_a_time_that_mail_names_holds(conn: Conn) -> None:
    await projects_manage.change(conn, "default", changes=HOURS, by="ann")
    soon = await make.scalar(conn, "SELECT date_trunc('hour', now()) + interval '9 days'")

    named = await make.queued_email(conn, priority=0, expires_at=soon)
    later = await make.queued_email(conn, priority=1, run_at=soon)

    at = "SELECT expires_at FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, at, named) == soon
    assert await age(conn, later) == 4, "from the time at which it is due"


async def test_a_project_from_before_keeps_four_days(conn: Conn) -> None:
    await projects_manage.change(conn, "default", changes={"max_age_hours_low": 10}, by="ann")

    assert await age(conn, await make.queued_email(conn, priority=2)) == 96
    assert await age(conn, await make.queued_email(conn, priority=3)) == 10
    back = await projects_manage.change(
        conn, "default", changes={"max_age_hours_low": None}, by="ann"
    )
    assert back.max_age_hours_low == 72
    assert await age(conn, await make.queued_email(conn, priority=3)) == 72


async def test_a_new_project_has_an_age_for_each_priority(conn: Conn) -> None:
    await conn.execute("SELECT mailqueue.add_project('young', 'ann', '{}')")

    ages = [
        await age(conn, await make.queued_email(conn, project="young", priority=n))
        for n in range(4)
    ]

    assert ages == [1, 4, 24, 72]
