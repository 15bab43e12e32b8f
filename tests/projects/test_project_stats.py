"""Statistics of a project: sent today, headroom, and shares over some days."""

from typing import Any

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.projects import stats as projects_stats
from mailqueue.projects.model import ProjectDay
from tests import make

pytestmark = pytest.mark.anyio


async def test_a_project_stands_by_what_it_sent_today_and_before(conn: Conn) -> None:
    shop = await projects_manage.add(conn, "shop", settings={"daily_limit": 10}, by="ann")
    await make.sender_account(conn, project_id=shop.id)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 3, project="shop")
    await make.claimed(conn, worker, limit=2)
    await make.queued_email(conn, recipient_email="other@example.com")
    event = {"project_id": shop.id, "email_id": shop.id, "type": "hard_bounce"}
    await make.inserted(conn, "email_events", event)
    await make.inserted(
        conn, "email_events", event | {"project_id": await make.project_named(conn)}
    )

    stood = await projects_stats.look(conn, shop.id, days=2)

    today = stood.today
    assert (today.daily_limit, today.sent, today.reserved, today.headroom) == (10, 0, 2, 8)
    assert (today.pending, today.assigned, today.held) == (1, 2, 0)
    assert [(day.accepted, day.hard_bounces) for day in stood.days] == [(0, 0), (3, 1)]
    assert stood.rates.delivery is None
    for days in (0, 91):
        with pytest.raises(InvalidField, match="1 to 90"):
            await projects_stats.look(conn, shop.id, days=days)


def test_shares_are_of_what_was_tried() -> None:
    day = ProjectDay.__dataclass_fields__
    zero: dict[str, Any] = dict.fromkeys(day, 0)
    found = projects_stats.rates_of(
        [
            ProjectDay(**zero | {"sent": 90, "failed": 5, "hard_bounces": 5, "complaints": 9}),
            ProjectDay(**zero | {"failed": 5}),
        ]
    )

    assert (found.delivery, found.hard_bounce, found.complaint) == (0.9, 0.05, 0.1)
