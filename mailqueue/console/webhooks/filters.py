"""The filters of a webhook's deliveries, as they stand in a URL or a form. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.web.forms import day_of, text_of, uuid_of
from mailqueue.webhooks.deliveries import NOT_DELIVERED
from mailqueue.webhooks.model import ENDED, DeliveryFilter, DeliveryStatus, EventType

DAYS = ("since", "until")
NAMES = ("status", "type", *DAYS)
STATUSES = (("", "any"), *((status.value, status.value) for status in DeliveryStatus))
TYPES = (("", "any"), *((kind.value, kind.value) for kind in EventType))
RETRIED = (
    ("", "not delivered"),
    *((status.value, status.value) for status in ENDED),
)
"""What can be delivered again, by status."""


@dataclass(frozen=True, slots=True)
class DeliveryFilters:
    """What was asked: the texts as typed, those that are valid, and what is wrong."""

    typed: Mapping[str, str]
    before: UUID | None
    status: str | None = None
    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_any(self) -> bool:
        """Return whether anything is filtered."""
        return any(self.typed.values())

    @property
    def where(self) -> DeliveryFilter:
        """Return the valid filters."""
        return DeliveryFilter(
            status=self.status, type=self.type, since=self.since, until=self.until
        )

    @property
    def retried(self) -> tuple[str, ...]:
        """Return the statuses that a retry is for."""
        return NOT_DELIVERED if self.status is None else (self.status,)


def read_filters(query: Mapping[str, str], *, of_retry: bool = False) -> DeliveryFilters:
    """Return the filters of a URL or form, as typed, and what is wrong with them."""
    typed = {name: text_of(query, name) for name in NAMES}
    faults: dict[str, str] = {}
    for name, choices in (("status", RETRIED if of_retry else STATUSES), ("type", TYPES)):
        if typed[name] not in dict(choices):
            faults[name] = "must be one of those shown"
    days = {name: day_of(typed[name]) for name in DAYS}
    faults |= {
        name: "must be a day such as 2030-05-01"
        for name, day in days.items()
        if typed[name] and day is None
    }
    since, until = days["since"], days["until"]
    if since is not None and until is not None and until < since:
        faults["until"], until = "must not be before the first day", None
    return DeliveryFilters(
        typed=typed,
        before=uuid_of(text_of(query, "before")),
        status=None if "status" in faults else typed["status"] or None,
        type=None if "type" in faults else typed["type"] or None,
        since=since,
        until=None if until is None else until + timedelta(days=1),  # the day is included
        faults=faults,
    )


def since_yesterday(now: datetime) -> dict[str, str]:
    """Return the filters of what was not delivered yesterday or today, in UTC."""
    return {"since": (now.astimezone(UTC) - timedelta(days=1)).strftime("%Y-%m-%d")}
