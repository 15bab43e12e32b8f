"""The filters of the list of emails, as they stand in its URL. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import get_args
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import Provider
from mailqueue.mail.reads.custom_data import DataFilter, parse_filter
from mailqueue.mail.reads.model import EmailQuery, StatusName
from mailqueue.web.forms import day_of, text_of, uuid_of

STATUSES = tuple(each for each in get_args(StatusName) if each not in ("queued", "sending"))
STATUS_CHOICES = (
    "",
    *(
        (each, {"pending": "queued", "assigned": "queued, being sent"}.get(each, each))
        for each in STATUSES
    ),
)
"""States with their words."""
TEXTS = ("q", "to", "tag", "sender", "campaign", "category", "template", "data")
DAYS = ("since", "until")
NAMES = ("status", "provider", *TEXTS, "batch", *DAYS)
PROVIDERS = tuple(each.value for each in Provider if each is not Provider.TRAP)

LABELS: Mapping[str, str] = {
    "status": "Status",
    "provider": "Provider",
    "batch": "Batch id",
    "data": "Custom data",
    "since": "Accepted from",
    "until": "Accepted to",
}
"""How a page names the filters that may be wrong."""


@dataclass(frozen=True, slots=True)
class EmailFilters:
    """What was asked: the texts as typed, those that are valid as a query, and what is wrong."""

    typed: Mapping[str, str]
    before: UUID | None
    status: str | None = None
    batch: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    data: DataFilter | None = None
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_any(self) -> bool:
        """Return whether anything is filtered."""
        return any(self.typed.values())

    @property
    def has_more(self) -> bool:
        """Return whether a filter is set that the form shows on demand."""
        return any(self.typed[name] for name in NAMES if name not in ("status", "q"))

    def query(self, project_id: UUID, *, limit: int) -> EmailQuery:
        """Return the query for the valid filters."""
        return EmailQuery(
            project_id=project_id,
            status=self.status,
            to=self.typed["to"] or None,
            tag=self.typed["tag"] or None,
            sender=self.typed["sender"] or None,
            campaign=self.typed["campaign"] or None,
            category=self.typed["category"] or None,
            batch=self.batch,
            contains=self.typed["q"] or None,
            template=self.typed["template"] or None,
            provider=self.typed["provider"] or None,
            custom_data=self.data,
            since=self.since,
            until=self.until,
            before=self.before,
            limit=limit,
        )


def read_filters(query: Mapping[str, str]) -> EmailFilters:
    """Return the filters of a URL, as typed, and what is wrong with them."""
    typed = {name: text_of(query, name) for name in NAMES}
    faults: dict[str, str] = {}
    status = typed["status"] or None
    if status is not None and status not in STATUSES:
        faults["status"], status = f"must be one of {', '.join(STATUSES)}", None
    if typed["provider"] and typed["provider"] not in PROVIDERS:
        faults["provider"] = f"must be one of {', '.join(PROVIDERS)}"
    batch = uuid_of(typed["batch"])
    if typed["batch"] and batch is None:
        faults["batch"] = "must be the id of a batch"
    data: DataFilter | None = None
    try:
        data = parse_filter(typed["data"]) if typed["data"] else None
    except InvalidField as exc:
        faults["data"] = exc.why
    days: dict[str, datetime | None] = {}
    for name in DAYS:
        days[name] = day_of(typed[name])
        if typed[name] and days[name] is None:
            faults[name] = "must be a day such as 2030-05-01"
    since, until = days["since"], days["until"]
    if since is not None and until is not None and until < since:
        faults["until"] = "must not be before the first day"
    return EmailFilters(
        typed=typed,
        before=uuid_of(text_of(query, "before")),
        status=status,
        batch=batch,
        data=data,
        since=since,
        until=None if until is None else until + timedelta(days=1),  # the day is included
        faults=faults,
    )
