"""A model of sequences, written from docs/sequences.md alone: no SQL, no code of the product.

Zones are read by `zoneinfo` from the package `tzdata`. Time is the model's own; it moves from one
due step to the next.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LATE = timedelta(hours=1)
MAX_STEPS = 1000
NEVER = datetime.max.replace(tzinfo=UTC)


@cache
def zone_of(name: str) -> ZoneInfo:
    """Return a zone as the package `tzdata` has it, whatever the machine has."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def instant(local: datetime, zone: str) -> datetime:
    """Return the instant of a local time: after a gap, and the earlier one of two."""
    found = local.replace(tzinfo=zone_of(zone), fold=0).astimezone(UTC)
    if found.astimezone(zone_of(zone)).replace(tzinfo=None) == local:
        return found
    # The gap ends where the offset changes: looked for minute by minute around it.
    low = local.replace(tzinfo=zone_of(zone), fold=1).astimezone(UTC) - timedelta(hours=1)
    low = min(low, found) - timedelta(hours=25)
    high = low + timedelta(hours=52)
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone_of(zone)).replace(tzinfo=None) >= local:
            high = middle
        else:
            low = max(middle, low + timedelta(seconds=1))
    return high


def due_at(step: dict[str, Any], begun: datetime, zone: str, *, waited: bool = False) -> datetime:
    """Return when a step is due that is waited for since `begun`."""
    text = step.get("delay", "0m")
    amount, unit = (0 if waited else int(text[:-1])), text[-1]
    by_date = unit in "dw" and amount > 0
    earliest = begun
    if by_date:
        local = begun.astimezone(zone_of(zone)).replace(tzinfo=None)
        local += timedelta(days=amount * (7 if unit == "w" else 1))
    else:
        if unit in "mh":
            earliest = begun + timedelta(minutes=amount * (60 if unit == "h" else 1))
        local = earliest.astimezone(zone_of(zone)).replace(tzinfo=None)
    if "at" not in step and "weekdays" not in step:
        return instant(local, zone) if by_date else earliest
    at = time.fromisoformat(step["at"]) if "at" in step else local.time()
    days = step.get("weekdays", WEEKDAYS)
    day: date = local.date()
    while True:
        if WEEKDAYS[day.weekday()] in days:
            if "at" not in step and day == local.date() and not by_date:
                return earliest
            found = instant(datetime.combine(day, at), zone)
            on_that_day = found.astimezone(zone_of(zone)).date() == day
            if found >= earliest and on_that_day:
                return found
        day += timedelta(days=1)


@dataclass
class Enrolled:
    """One enrollment of the model."""

    contact: str
    steps: list[dict[str, Any]]
    goal: dict[str, Any] | None
    begun: datetime
    enrolled: datetime
    at: int | None = 0
    state: str = "active"
    reason: str | None = None
    waited: bool = False
    due: datetime = NEVER
    done: list[tuple[str, str, datetime]] = field(default_factory=list)
    mailed: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.state in ("completed", "left")


@dataclass
class Contact:
    """One contact of the model."""

    zone: str
    suppressed: bool = False
    events: list[tuple[datetime, str]] = field(default_factory=list)
    mail_events: set[tuple[int, str]] = field(default_factory=set)
    """Number of an enrollment and step, and the event of its mails."""


class Model:
    """One sequence and its contacts."""

    def __init__(
        self, steps: list[dict[str, Any]], goal: dict[str, Any] | None, again: str
    ) -> None:
        self.steps, self.goal, self.again = steps, goal, again
        self.contacts: dict[str, Contact] = {}
        self.enrollments: list[Enrolled] = []
        self.paused = False

    def latest(self, contact: str) -> Enrolled | None:
        """Return the last enrollment of a contact."""
        found = [one for one in self.enrollments if one.contact == contact]
        return found[-1] if found else None

    def enroll(self, contact: str, now: datetime) -> str:
        """Enroll a contact; return the outcome."""
        last = self.latest(contact)
        outcome = "enrolled"
        if last is not None and not last.is_over:
            if self.again != "restart":
                return "already_enrolled"
            outcome = "restarted"
        elif last is not None and (
            self.again == "never"
            or (self.again == "after_completion" and last.state != "completed")
        ):
            return "enrolled_before"
        if self.contacts[contact].suppressed:
            return "suppressed"
        if last is not None and not last.is_over:
            self._leave(last, "restarted")
        one = Enrolled(contact, self.steps, self.goal, now, now)
        one.due = due_at(one.steps[0], now, self.contacts[contact].zone)
        self.enrollments.append(one)
        return outcome

    def suppress(self, contact: str) -> None:
        """Suppress a contact for a complaint."""
        self.contacts[contact].suppressed = True
        for one in self.enrollments:
            if one.contact == contact and not one.is_over:
                self._leave(one, "complained")

    def lift(self, contact: str) -> None:
        """Lift the suppression of a contact."""
        self.contacts[contact].suppressed = False

    def remove(self, contact: str) -> None:
        """End the enrollments of a contact by hand."""
        for one in self.enrollments:
            if one.contact == contact and not one.is_over:
                self._leave(one, "removed")

    def move(self, contact: str, zone: str) -> None:
        """Change the zone of a contact."""
        if self.contacts[contact].zone == zone:
            return
        self.contacts[contact].zone = zone
        self._look(contact)
        for one in self.enrollments:
            if one.contact == contact and not one.is_over:
                step = one.steps[one.at or 0]
                one.due = due_at(step, one.begun, zone, waited=one.waited)

    def record(self, contact: str, event: str, now: datetime) -> None:
        """Record an event of another service."""
        self.contacts[contact].events.append((now, event))
        self._look(contact)

    def mail_event(self, number: int, step: str, event: str) -> None:
        """Note that the mail of a step was opened, clicked and so on."""
        contact = self.contacts[self.enrollments[number].contact]
        contact.mail_events.add((number, f"{step} {event}"))

    def advance(self, now: datetime) -> None:
        """Do every step that is due at a time."""
        for one in self.enrollments:
            while not one.is_over and one.due <= now:
                if self.paused:
                    break
                if self._is_goal(one):
                    self._leave(one, "goal")
                    break
                step = one.steps[one.at or 0]
                has_time = "at" in step or "weekdays" in step
                if has_time and one.due < now - LATE:
                    one.begun, one.waited = now, True
                    zone = self.contacts[one.contact].zone
                    one.due = due_at(step, now, zone, waited=True)
                    continue
                self._do(one, step, now)

    def _look(self, contact: str) -> None:
        """Look at goals at once, unless the sequence is paused."""
        for one in self.enrollments:
            is_open = one.contact == contact and not one.is_over and not self.paused
            if is_open and self._is_goal(one):
                self._leave(one, "goal")

    def _do(self, one: Enrolled, step: dict[str, Any], now: datetime) -> None:
        condition = step.get("condition")
        skipped = condition is not None and self._happened(one, condition) != condition.get(
            "happened", True
        )
        number = self.enrollments.index(one)
        one.done.append((step["name"], "skipped" if skipped else "sent", now))
        if not skipped:
            one.mailed.append((number, step["name"]))
        names = [each["name"] for each in one.steps]
        place = (one.at or 0) + 1
        if not skipped and "next" in step:
            place = names.index(step["next"])
        if place >= len(names):
            one.state, one.at = "completed", None
            return
        one.at, one.begun, one.waited = place, now, False
        one.due = due_at(one.steps[place], now, self.contacts[one.contact].zone)
        if len(one.done) >= MAX_STEPS:
            self._leave(one, "limit")

    def _is_goal(self, one: Enrolled) -> bool:
        return one.goal is not None and self._happened(one, one.goal)

    def _happened(self, one: Enrolled, what: dict[str, Any]) -> bool:
        contact = self.contacts[one.contact]
        if what["event"] not in ("delivered", "opened", "clicked", "bounced"):
            return any(kind == what["event"] and at >= one.enrolled for at, kind in contact.events)
        number = self.enrollments.index(one)
        steps = [what["step"]] if "step" in what else [each["name"] for each in one.steps]
        return any((number, f"{name} {what['event']}") in contact.mail_events for name in steps)

    def _leave(self, one: Enrolled, reason: str) -> None:
        one.state, one.reason = "left", reason
