"""Schedules in the console: looked at, paused, resumed, run, skipped, cancelled, on a calendar."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.timed_events import events
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.schedules import turning
from tests.sequences import running

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/schedules"
CALENDAR = "/console/projects/default/calendar"
DAILY: dict[str, Any] = {"schedule_type": "cron", "cron_expression": "0 9 * * *"}
SOON = (datetime.now(UTC) + timedelta(days=1)).isoformat()
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def planned(conn: Conn, name: str = "digest", **given: Any) -> UUID:
    made = await turning.put(conn, name, **(DAILY | given))
    await turning.turn(conn)
    return made


async def acted(visitor: Visitor, schedule: UUID, act: str) -> tuple[str, str]:
    """Open the page of an act and send its form twice; return both next paths without a host."""
    path = f"{PATH}/{schedule}/{act}"
    fields = await visitor.form(path, path)
    first = await visitor.post(path, fields)
    again = await visitor.post(path, fields)
    assert again.headers["location"].endswith("done=before")
    return (await visitor.get(path)).text, first.headers["location"]


async def test_a_schedule_shows_its_next_ten_times_and_its_runs(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        made = await planned(conn, HOSTILE)
        await turning.due(conn, made)
        await turning.turn(conn)
        tomorrow = await make.scalar(conn, "SELECT next_run_at FROM mailqueue.schedules")
    shown = (await visitor.get(f"{PATH}/{made}")).text
    listed = (await visitor.get(PATH)).text

    times = [tomorrow + timedelta(days=day) for day in range(10)]
    assert all(f"{at:%Y-%m-%d} 09:00:00" in shown for at in times)
    assert f"{times[-1] + timedelta(days=1):%Y-%m-%d} 09:00:00" not in shown
    assert '<span class="pill good">done</span>' in shown
    assert "0 9 * * *" in listed
    assert f"{tomorrow:%Y-%m-%d} 09:00 UTC" in listed
    assert HOSTILE not in shown + listed


async def test_what_is_paused_is_resumed_and_each_act_happens_once(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        made = await planned(conn)
        await acted(visitor, made, "pause")
        paused = (await visitor.get(f"{PATH}/{made}")).text
        await acted(visitor, made, "resume")
        row = await turning.row_of(conn, made)
        actions = await make.rows(
            conn,
            "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'schedule.%%ed'"
            " AND actor LIKE '%%ann (console)%%' ORDER BY id",
        )

    assert "It makes no email until it is resumed" in paused
    assert row["status"] == "pending"
    assert actions == [("schedule.paused",), ("schedule.resumed",)]


async def test_a_run_says_before_for_how_many_recipients_it_is(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        to = ["ann@example.com", "ben@example.com"]
        made = await planned(conn, payload={"to": to, "subject": "Hello", "text_body": "Hello"})
        preview, _ = await acted(visitor, made, "run")
        runs = await turning.runs_of(conn, made)

    assert "for 2 recipients" in preview
    assert [run["started_by"] for run in runs] == ["request"]


async def test_the_run_that_is_left_out_is_named_before(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        made = await planned(conn)
        left_out = datetime.fromisoformat((await turning.row_of(conn, made))["next_run_at"])
        asked = (await visitor.get(f"{PATH}/{made}/skip")).text
        await acted(visitor, made, "skip")
        after = datetime.fromisoformat((await turning.row_of(conn, made))["next_run_at"])

    assert f"The run of {left_out:%Y-%m-%d} 09:00 UTC is left out" in asked
    assert after - left_out == timedelta(days=1)


async def test_cancelling_says_before_how_many_emails_it_cancels_and_cancels_these(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        to = [f"n{n}@example.com" for n in range(5)]
        made = await turning.put(
            conn,
            "spread",
            schedule_type="once",
            run_at=SOON,
            spread_seconds=600_000,
            payload={"to": to, "subject": "Hello", "text_body": "Hello"},
        )
        await conn.execute("UPDATE mailqueue.schedules SET run_at = now()")
        await turning.turn(conn)
        await turning.make_runs(conn)
        await conn.execute(
            "UPDATE mailqueue.email_queue SET run_at = now()"
            " WHERE recipient_email = 'n3@example.com'"
        )
        asked = (await visitor.get(f"{PATH}/{made}/cancel")).text
        _, after = await acted(visitor, made, "cancel")
        shown = (await visitor.get(after)).text
        left = "SELECT recipient_email FROM mailqueue.email_queue WHERE NOT is_cancelled"
        remaining = await make.rows(conn, left)

    assert "4 emails wait for their time and are cancelled" in asked
    assert "4 emails that waited" in shown
    assert remaining == [("n3@example.com",)]


async def test_an_act_that_is_not_possible_any_more_says_why(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        made = await planned(conn)
        path = f"{PATH}/{made}/pause"
        fields = await visitor.form(path, path)
        project = await make.project_named(conn)
        await make.rows(conn, "SELECT mailqueue.cancel_schedule(%s, %s, 'ben')", project, made)
        refused = await visitor.post(path, fields)

    assert refused.status_code == 422
    assert "is cancelled: only a schedule that is still to run can be paused" in refused.text


async def test_the_calendar_has_what_schedules_events_and_sequences_do_next(
    console: Visiting, visitor: Visitor
) -> None:
    empty = (await visitor.get(CALENDAR)).text
    async with console.connection() as conn:
        project = await running.project_with_template(conn)
        await planned(conn)
        await planned(conn, "often", cron_expression="*/5 * * * *")
        paused = await planned(conn, "paused-one")
        await make.rows(conn, "SELECT mailqueue.pause_schedule(%s, %s, 'ben')", project, paused)
        await running.sequence(conn, project)
        for one in ("ann", "ben"):
            await make.rows(
                conn,
                "SELECT mailqueue.enroll_address(%s, 'onboarding', %s, '{}', false, 'tests')",
                project,
                f"{one}@example.com",
            )
        await events.put(
            conn,
            project,
            kind="renewal",
            at=datetime.now(UTC) + timedelta(days=2),
            payload={},
            template="hello",
            recipient="ann@example.com",
            is_test=False,
            by="tests",
        )
    shown = (await visitor.get(CALENDAR)).text

    assert "Nothing is planned" in empty
    assert shown.count(">digest</bdi>") in (6, 7), "once a day, today only before nine"
    assert shown.count(">often</bdi>") in (6, 7)
    assert "paused-one" not in shown
    assert "welcome</bdi>: 2 contacts" in shown
    assert "renewal" in shown
    assert "1 event" in shown


async def test_a_status_that_is_none_lists_nothing_and_says_so(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        await planned(conn)
    assert "Nothing is listed" in (await visitor.get(f"{PATH}?status=strange")).text
    assert "No schedule is paused" in (await visitor.get(f"{PATH}?status=paused")).text
    assert "digest" in (await visitor.get(f"{PATH}?status=active")).text
