"""Retry schedules that projects can choose for temporary failures.

The database applies them, by function `retry_wait`; `default` is what it does without one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.store import retry_schedule as retry_schedule_store
from mailqueue.mail.accept.store.retry_schedule import RetryScheduleRow
from mailqueue.projects.ids import project_id_of

DAY = timedelta(days=1)
_MAX_STEPS = 50
_LONGEST = timedelta(days=30)
_CATEGORY = re.compile(r"[a-z][a-z0-9_-]{0,62}")


class Exhausted(StrEnum):
    """What becomes of an email whose attempts are used up."""

    FAIL = "fail"
    HOLD = "hold"  # until a person decides


@dataclass(frozen=True, slots=True)
class RetryWaits:
    """Waits after the first, second, ... attempt; the last one repeats.

    `max_attempts` None: until the mail expires. A soft bounce waits `soft_wait`, at most
    `soft_retries` times; None: like any other failure.
    """

    steps: tuple[timedelta, ...]
    max_attempts: int | None = None
    soft_wait: timedelta | None = DAY
    soft_retries: int = 3
    on_exhausted: Exhausted = Exhausted.FAIL


DEFAULT = RetryWaits(tuple(timedelta(minutes=count) for count in (1, 5, 15, 60)))
# Five attempts within a day, for large mail that may be late.
_DOCUMENTS = RetryWaits(tuple(timedelta(minutes=count) for count in (5, 15, 60, 240)), 5)
RETRY_SCHEDULES: Mapping[str, RetryWaits] = {
    "default": DEFAULT,
    "documents": _DOCUMENTS,
    # The same for mail that a person is to look at if it could not be sent. A full mailbox is a
    # failure like any other: after a day it would be one attempt more than the five.
    "outbox": replace(_DOCUMENTS, soft_wait=None, on_exhausted=Exhausted.HOLD),
}
"""Schedules by name."""


@dataclass(frozen=True, slots=True)
class OfCategory:
    """The schedule of one category; category '' is every one without its own."""

    category: str
    schedule: RetryWaits


async def choose(conn: Conn, project: str, *, category: str, schedule: RetryWaits | None) -> None:
    """Set the schedule of a project's mail, or of one category; None removes it.

    Raises:
        NotFound: there is no such project.
        InvalidField: the invalid part of the schedule.
    """
    if category and not _CATEGORY.fullmatch(category):
        raise InvalidField(
            "category", f"must be lower-case letters, digits, - and _, got {category!r}"
        )
    if schedule is not None:
        _check(schedule)
    project_id = await project_id_of(conn, project)
    if schedule is None:
        await retry_schedule_store.drop_retry_schedule(conn, project_id, category=category)
        return
    row = RetryScheduleRow(
        category,
        list(schedule.steps),
        schedule.max_attempts,
        schedule.soft_wait,
        schedule.soft_retries,
        schedule.on_exhausted,
    )
    await retry_schedule_store.set_retry_schedule(conn, project_id, row=row)


async def list_all(conn: Conn, project: str) -> list[OfCategory]:
    """Return the schedules of a project, that of every category first.

    Raises:
        NotFound: there is no such project.
    """
    rows = await retry_schedule_store.list_retry_schedules(conn, await project_id_of(conn, project))
    chosen = [
        OfCategory(
            row.category,
            RetryWaits(
                tuple(row.steps),
                row.max_attempts,
                row.soft_wait,
                row.soft_retries,
                Exhausted(row.on_exhausted),
            ),
        )
        for row in rows
    ]
    if any(each.category == "" for each in chosen):
        return chosen
    return [OfCategory("", DEFAULT), *chosen]


def _check(schedule: RetryWaits) -> None:
    if not 1 <= len(schedule.steps) <= _MAX_STEPS:
        raise InvalidField("steps", f"must be 1 to {_MAX_STEPS} waits, got {len(schedule.steps)}")
    for wait in (*schedule.steps, schedule.soft_wait or DAY):
        if not timedelta(0) < wait <= _LONGEST:
            raise InvalidField("steps", f"a wait must be above 0 and at most 30d, got {wait}")
    if schedule.max_attempts is not None and not 1 <= schedule.max_attempts <= 1000:
        raise InvalidField("max_attempts", f"must be 1 to 1000, got {schedule.max_attempts}")
    if not 0 <= schedule.soft_retries <= 100:
        raise InvalidField("soft_retries", f"must be 0 to 100, got {schedule.soft_retries}")
