"""The SQL does what a model says that was written from the documentation alone, in random
histories.
"""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.sequences.model import WEEKDAYS, Contact, Model, due_at
from tests.sequences.running import contact, enroll, project_with_template, sequence, turn

pytestmark = pytest.mark.anyio
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Africa/Casablanca",
    "Pacific/Kiritimati",
)
EVENTS = ("Paid", "Called")
MAIL_EVENTS = ("delivered", "opened", "clicked", "bounced")
SHORT = range(60)
LONG = tuple(range(first, first + 250) for first in range(1_000, 4_000, 250))


def some_step(rng: random.Random, name: str) -> dict[str, Any]:
    step: dict[str, Any] = {"name": name, "template": "hello"}
    if rng.random() < 0.8:
        unit = rng.choice("mhdw")
        most = {"m": 300, "h": 80, "d": 20, "w": 3}[unit]
        step["delay"] = f"{rng.randrange(most)}{unit}"
    if rng.random() < 0.4:
        step["at"] = f"{rng.randrange(24):02}:{rng.choice((0, 15, 30, 59)):02}"
    if rng.random() < 0.3:
        step["weekdays"] = rng.sample(WEEKDAYS, rng.randrange(1, 8))
    return step


def some_condition(rng: random.Random, names: list[str]) -> dict[str, Any]:
    event = rng.choice(EVENTS + MAIL_EVENTS)
    found: dict[str, Any] = {"event": event}
    if event in MAIL_EVENTS and rng.random() < 0.6:
        found["step"] = rng.choice(names)
    return found


def some_sequence(rng: random.Random) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    names = [f"s{number}" for number in range(rng.randrange(1, 6))]
    steps = [some_step(rng, name) for name in names]
    for place, step in enumerate(steps):
        if rng.random() < 0.35:
            step["condition"] = some_condition(rng, names)
            if rng.random() < 0.5:
                step["condition"]["happened"] = rng.random() < 0.5
        if rng.random() < 0.2:  # forward, or back with a delay
            step["next"] = rng.choice(names)
            if names.index(step["next"]) <= place:
                step["delay"] = f"{rng.randrange(1, 5)}d"
    return steps, some_condition(rng, names) if rng.random() < 0.4 else None


class History:
    """One random history, in the database and in the model."""

    def __init__(self, conn: Conn, project: UUID, rng: random.Random) -> None:
        self.conn, self.project, self.rng = conn, project, rng
        self.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(
            minutes=rng.randrange(365 * 24 * 60)
        )
        self.ids: dict[str, UUID] = {}
        self.enrollments: list[UUID] = []

    async def begin(self, number: int) -> None:
        steps, goal = some_sequence(self.rng)
        again = self.rng.choice(("never", "after_completion", "after_end", "restart"))
        self.name = f"q{number}"
        self.model = Model(steps, goal, again)
        given: dict[str, Any] = {"goal": goal} if goal else {}
        await sequence(self.conn, self.project, *steps, name=self.name, reenroll=again, **given)
        for place in range(2):
            email = f"h{number}p{place}@example.com"
            zone = self.rng.choice(ZONES)
            self.ids[email] = await contact(self.conn, self.project, email, time_zone=zone)
            self.model.contacts[email] = Contact(zone)

    async def act(self) -> None:
        self.now += timedelta(seconds=1)  # nothing happens at the same time
        who = self.rng.choice(list(self.ids))
        verb = self.rng.choices(
            ("wait", "enroll", "suppress", "lift", "remove", "move", "record", "mail", "pause"),
            (40, 14, 3, 3, 3, 6, 6, 12, 5),
        )[0]
        await getattr(self, f"_{verb}")(who)

    async def _wait(self, _who: str) -> None:
        due = [one.due for one in self.model.enrollments if not one.is_over]
        if due and self.rng.random() < 0.6:
            self.now = max(self.now, min(due) + timedelta(seconds=self.rng.choice((0, 0, 1, -1))))
        else:
            self.now += timedelta(minutes=self.rng.randrange(1, 12 * 24 * 60))
        await self.settle()

    async def settle(self) -> None:
        if not self.model.paused:
            await self.conn.execute("SELECT mailqueue.release_enrollments(1000)")
        await self.conn.execute("SELECT mailqueue.take_enrollment_signals(1000, %s)", (self.now,))
        await turn(self.conn, self.now)
        self.model.advance(self.now)

    async def _enroll(self, who: str) -> None:
        made, outcome = await enroll(
            self.conn, self.project, self.ids[who], name=self.name, at=self.now
        )
        assert outcome == self.model.enroll(who, self.now)
        if outcome in ("enrolled", "restarted"):
            assert made is not None
            self.enrollments.append(made)
        await self.settle()

    async def _suppress(self, who: str) -> None:
        await self.conn.execute(
            "SELECT mailqueue.suppress(%s, %s, '', 'complaint', NULL)", (self.project, who)
        )
        self.model.suppress(who)

    async def _lift(self, who: str) -> None:
        await self.conn.execute("DELETE FROM mailqueue.suppressions WHERE address = %s", (who,))
        self.model.lift(who)

    async def _remove(self, who: str) -> None:
        await self.conn.execute("SELECT mailqueue.unenroll(%s, %s)", (self.name, who))
        self.model.remove(who)

    async def _move(self, who: str) -> None:
        zone = self.rng.choice(ZONES)
        await self.conn.execute(
            "SELECT mailqueue.put_contact(%s, %s, %s, false)",
            (self.project, self.ids[who], Jsonb({"time_zone": zone})),
        )
        self.model.move(who, zone)
        await self.settle()

    async def _record(self, who: str) -> None:
        event = self.rng.choice(EVENTS)
        await self.conn.execute(
            "SELECT mailqueue.record_sequence_event(%s, %s, %s, false, %s)",
            (self.project, who, event, self.now),
        )
        self.model.record(who, event, self.now)
        await self.settle()

    async def _mail(self, _who: str) -> None:
        mailed = [mail for one in self.model.enrollments for mail in one.mailed]
        if not mailed:
            return
        number, step = self.rng.choice(mailed)
        event = self.rng.choice(MAIL_EVENTS)
        await self.conn.execute(
            "INSERT INTO mailqueue.email_events (project_id, email_id, type)"
            " SELECT project_id, email_id, %s FROM mailqueue.enrollment_steps"
            " WHERE enrollment_id = %s AND step = %s AND result = 'sent' LIMIT 1",
            ("hard_bounce" if event == "bounced" else event, self.enrollments[number], step),
        )
        self.model.mail_event(number, step, event)

    async def _pause(self, _who: str) -> None:
        self.model.paused = not self.model.paused
        await self.conn.execute(
            "SELECT mailqueue.pause_sequence(%s, %s, %s, 'tests')",
            (self.project, self.name, self.model.paused),
        )
        await self.settle()

    async def compare(self) -> None:
        states = await make.rows(
            self.conn,
            "SELECT id, state, reason FROM mailqueue.enrollments WHERE id = ANY (%s)",
            self.enrollments,
        )
        by_id = {row[0]: row[1:] for row in states}
        steps = await make.rows(
            self.conn,
            "SELECT enrollment_id, step, result, done_at, email_id IS NOT NULL"
            " FROM mailqueue.enrollment_steps WHERE enrollment_id = ANY (%s) ORDER BY number",
            self.enrollments,
        )
        for made, one in zip(self.enrollments, self.model.enrollments, strict=True):
            done = [(row[1], row[2], row[3]) for row in steps if row[0] == made]
            assert done == one.done
            state = "paused" if self.model.paused and one.state == "active" else one.state
            assert by_id[made] == (state, one.reason)
        mails = await make.scalar(
            self.conn,
            "SELECT count(DISTINCT id) FROM mailqueue.emails WHERE campaign_id = %s",
            self.name,
        )
        assert mails == sum(row[4] for row in steps)


async def compare_histories(conn: Conn, seeds: range) -> None:
    project = await project_with_template(conn)
    for seed in seeds:
        rng = random.Random(seed)
        async with conn.transaction(force_rollback=True):
            history = History(conn, project, rng)
            await history.begin(seed)
            try:
                for _ in range(rng.randrange(5, 40)):
                    await history.act()
                await history.settle()
                await history.compare()
            except AssertionError as exc:
                steps = history.model.steps
                raise AssertionError(f"history {seed}: {steps} {history.model.goal}") from exc


async def test_random_histories_are_as_the_model_says(conn: Conn) -> None:
    await compare_histories(conn, SHORT)


@pytest.mark.soak
@pytest.mark.parametrize("seeds", LONG, ids=str)
async def test_thousands_of_random_histories_are_as_the_model_says(
    conn: Conn, seeds: range
) -> None:
    await compare_histories(conn, seeds)


async def test_steps_are_due_as_the_model_says(conn: Conn) -> None:
    rng = random.Random(7)
    cases = []
    for _ in range(2_000):
        begun = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(
            seconds=rng.randrange(2 * 365 * 24 * 3600)
        )
        cases.append((some_step(rng, "a"), begun, rng.choice(ZONES), rng.random() < 0.2))

    found = await make.rows(
        conn,
        "SELECT mailqueue.step_due_at(c.step, c.begun, c.zone, c.waited)"
        " FROM ROWS FROM (jsonb_to_recordset(%s)"
        " AS (step jsonb, begun timestamptz, zone text, waited boolean))"
        " WITH ORDINALITY AS c(step, begun, zone, waited, n)"
        " ORDER BY c.n",
        Jsonb(
            [
                {"step": step, "begun": begun.isoformat(), "zone": zone, "waited": waited}
                for step, begun, zone, waited in cases
            ]
        ),
    )

    for (step, begun, zone, waited), (at,) in zip(cases, found, strict=True):
        assert at == due_at(step, begun, zone, waited=waited), (step, begun, zone, waited)
