"""A closed window is named by why, the views and the health, with the command that changes it."""

from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.claim.steps import claim
from tests.mail.limits.low_priority.windows import LOW, around, change, close, now, outside_window
from tests.operations.why.commands import why

pytestmark = pytest.mark.anyio


async def test_why_names_the_window_its_opening_and_the_command(conn: Conn) -> None:
    await make.project(conn, "shop")
    shop = await make.project_named(conn, "shop")
    await make.sender_account(conn, project_id=shop)
    opens = await close(conn, "shop")
    email = await make.queued_email(conn, priority=LOW, project="shop")
    expected = (
        f"mail of low priority waits until {opens:%Y-%m-%d %H:%M}:00 UTC for the window of its"
        f" project, {opens:%H:%M} to {opens + timedelta(hours=1):%H:%M} UTC; to change it:"
        " mailqueue project change shop --low-priority-window WINDOW"
    )

    assert await why(conn, email) == expected
    await claim(conn, await make.worker(conn))
    assert await why(conn, email) == expected

    blocked = "SELECT reason, until, due FROM mailqueue.queue_blocked"
    assert await make.rows(conn, blocked) == [
        (f"mail of low priority is sent at {around(opens, opens=0, closes=60)}", opens, 1)
    ]


async def test_an_open_window_is_no_reason(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.worker(conn)
    await change(conn, around(await now(conn), opens=-5, closes=60))
    email = await make.queued_email(conn, priority=LOW)

    assert "next in its lane" in await why(conn, email)


async def test_mail_outside_its_window_is_named_and_not_late(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.worker(conn)
    found = "SELECT state, found FROM mailqueue.health WHERE name = 'oldest low mail'"
    assert await make.rows(conn, found) == [("ok", "none is due and free to go")]

    await outside_window(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = run_at - interval '3 d',"
        " created_at = created_at - interval '3 d'"
    )

    assert await make.rows(conn, found) == [("ok", "some waits for the window of project shop")]
    late = (
        "SELECT name FROM mailqueue.health WHERE name IN ('movement', 'sending') AND state <> 'ok'"
    )
    assert await make.rows(conn, late) == []

    await change(conn, None, "shop")
    state = await make.rows(conn, found)
    assert state[0][0] == "alarm"
