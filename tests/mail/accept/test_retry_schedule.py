"""Retry schedules of projects, and the default one, which SQL and Python share."""

from datetime import timedelta

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept import retry_schedule
from mailqueue.mail.accept.retry_schedule import (
    DEFAULT,
    RETRY_SCHEDULES,
    Exhausted,
    OfCategory,
    RetryWaits,
)
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, due_now, settle

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)


async def test_the_usual_schedule_is_the_one_the_database_walks(conn: Conn) -> None:
    project = await make.project_named(conn)
    asked = [*((attempts, False) for attempts in (1, 2, 3, 4, 9)), (1, True)]
    for known in (None, DEFAULT):
        if known is not None:  # the same as a row
            await retry_schedule.choose(conn, "default", category="", schedule=known)
        waits = [
            await make.scalar(
                conn,
                "SELECT mailqueue.retry_wait(NULL, %s, 'x', %s, %s, NULL, 'infinity')",
                project,
                attempts,
                is_soft,
            )
            for attempts, is_soft in asked
        ]
        expected = [*DEFAULT.steps, DEFAULT.steps[-1], DEFAULT.soft_wait]
        for wait, want in zip(waits, expected, strict=True):
            assert want is not None
            assert want * 0.8 <= wait <= want * 1.2


async def test_what_was_chosen_is_listed_and_dropped(conn: Conn) -> None:
    documents = RETRY_SCHEDULES["documents"]
    await retry_schedule.choose(conn, "default", category="marketing", schedule=documents)
    mine = RetryWaits((HOUR,), max_attempts=3, soft_wait=None, soft_retries=0)
    await retry_schedule.choose(conn, "default", category="otp", schedule=mine)

    assert await retry_schedule.list_all(conn, "default") == [
        OfCategory("", DEFAULT),
        OfCategory("marketing", documents),
        OfCategory("otp", mine),
    ]

    for category in ("marketing", "otp"):
        await retry_schedule.choose(conn, "default", category=category, schedule=None)
    assert await retry_schedule.list_all(conn, "default") == [OfCategory("", DEFAULT)]


async def test_the_schedule_of_an_outbox_holds_after_its_fifth_attempt(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await retry_schedule.choose(
        conn, "default", category="orders", schedule=RETRY_SCHEDULES["outbox"]
    )
    flagged = await make.queued_email(conn, category="orders")
    other = await make.queued_email(conn, category="other", max_attempts=5)

    waits = []
    for log in (LogStatus.DEFERRED, LogStatus.BOUNCED, *[LogStatus.DEFERRED] * 3):
        emails = await claim(conn, worker)
        assert {email.id for email in emails} == {flagged, other}
        await settle(conn, emails, Ending.RETRY, reason="451 later", log=log)
        waits.append(
            await make.scalar(
                conn, "SELECT run_at - now() FROM mailqueue.email_queue WHERE id = %s", flagged
            )
        )
        await due_now(conn)

    for wait, minutes in zip(waits[:4], (5, 15, 60, 240), strict=True):
        assert abs(wait / timedelta(minutes=minutes) - 1) < 0.25
    read = "SELECT status, attempts, last_error, unknowns FROM mailqueue.email_queue"
    assert await make.rows(conn, read) == [("held", 5, "attempts used up: 451 later", 0)]
    assert await make.status_of(conn, other) == "failed"
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", flagged)
    assert why.startswith("held until a person decides: attempts used up: 451 later")
    assert "mailqueue email release" in why
    told = "SELECT detail FROM mailqueue.email_events WHERE type = 'held' AND email_id = %s"
    assert await make.scalar(conn, told, flagged) == "attempts used up: 451 later"
    limits = "SELECT sum(reserved) FROM mailqueue.sender_headroom CROSS JOIN LATERAL"
    limits += " (SELECT daily_reserved AS reserved) AS r"
    assert await make.scalar(conn, limits) == 0

    project = await make.project_named(conn)
    await make.rows(conn, "SELECT * FROM mailqueue.release_emails(%s, %s)", project, [flagged])
    [again] = await claim(conn, worker)
    await settle(conn, [again], Ending.RETRY, reason="451 still", log=LogStatus.DEFERRED)
    assert await make.rows(conn, read) == [("held", 6, "attempts used up: 451 still", 0)]


def test_documents_is_five_attempts_within_a_day() -> None:
    documents = RETRY_SCHEDULES["documents"]

    assert documents.max_attempts == len(documents.steps) + 1 == 5
    assert documents.on_exhausted is Exhausted.FAIL
    assert sum(documents.steps, timedelta()) * 1.2 < timedelta(days=1)


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (RetryWaits(()), "steps"),
        (RetryWaits((timedelta(0),)), "steps"),
        (RetryWaits((timedelta(days=31),)), "steps"),
        (RetryWaits((HOUR,), soft_wait=timedelta(days=-1)), "steps"),
        (RetryWaits((HOUR,), max_attempts=0), "max_attempts"),
        (RetryWaits((HOUR,), soft_retries=-1), "soft_retries"),
    ],
)
async def test_a_schedule_that_makes_no_sense_is_refused(
    conn: Conn, schedule: RetryWaits, field: str
) -> None:
    with pytest.raises(InvalidField, match=f"^{field}"):
        await retry_schedule.choose(conn, "default", category="", schedule=schedule)


async def test_unknown_projects_and_odd_categories_are_refused(conn: Conn) -> None:
    with pytest.raises(NotFound, match="nobody"):
        await retry_schedule.choose(conn, "nobody", category="", schedule=None)
    with pytest.raises(InvalidField, match="category"):
        await retry_schedule.choose(conn, "default", category="Big Mail", schedule=None)
