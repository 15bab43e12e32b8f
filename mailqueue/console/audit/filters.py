"""The filters of the audit log, as they stand in its URL. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.audit.model import AuditSearch
from mailqueue.web.forms import day_of, text_of

TEXTS = ("actor", "action", "subject")
DAYS = ("since", "until")
NAMES = (*TEXTS, *DAYS)
_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """What was asked: the texts as typed, and what is wrong with them."""

    typed: Mapping[str, str]
    before: int | None
    since: datetime | None = None
    until: datetime | None = None
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_any(self) -> bool:
        """Return whether anything is filtered."""
        return any(self.typed.values())

    def search(self, project_id: UUID | None) -> AuditSearch:
        """Return the search for the valid filters; None: of all projects."""
        return AuditSearch(
            project_id,
            action=self.typed["action"] or None,
            actor=self.typed["actor"] or None,
            subject=self.typed["subject"] or None,
            since=self.since,
            until=self.until,
        )


def read_filters(query: Mapping[str, str]) -> AuditFilters:
    """Return the filters of a URL, as typed, and what is wrong with them."""
    typed = {name: text_of(query, name) for name in NAMES}
    since, until = (day_of(typed[name]) for name in DAYS)
    faults = {
        name: "must be a day such as 2030-05-01"
        for name, day in (("since", since), ("until", until))
        if typed[name] and day is None
    }
    if since is not None and until is not None and until < since:
        faults["until"], until = "must not be before the first day", None
    before = text_of(query, "before")
    is_id = before.isascii() and before.isdigit() and len(before) < 20
    return AuditFilters(
        typed=typed,
        before=min(int(before), _MAX_ID) if is_id else None,
        since=since,
        until=None if until is None else until + timedelta(days=1),  # the day is included
        faults=faults,
    )
