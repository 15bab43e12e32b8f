"""Filters of a list of mail. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from mailqueue.contract.emails import ListedEmail
from mailqueue.mail.reads.custom_data import DataFilter

StatusName = Literal[
    "queued",
    "pending",
    "sending",
    "assigned",
    "held",
    "sent",
    "failed",
    "suppressed",
    "expired",
    "cancelled",
]
_STATE_BY_NAME = {"queued": "pending", "sending": "assigned"}
"""Names that callers use for a state of the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailQuery:
    """Filters of a list of a project's mail; a mail is listed if all given filters match."""

    project_id: UUID
    status: str | None = None  # a StatusName
    tag: str | None = None
    sent_from: str | None = None  # From address that the mail itself sets
    to: str | None = None  # address of any recipient
    sender: str | None = None  # name of the account that sent or tried it
    campaign: str | None = None
    category: str | None = None
    batch: UUID | None = None
    custom_data: DataFilter | None = None
    contains: str | None = None  # part of the subject or of the first recipient
    template: str | None = None  # slug
    provider: str | None = None  # of the account that sent or tried it
    since: datetime | None = None  # accepted then or later
    until: datetime | None = None  # accepted before
    before: UUID | None = None  # the last email of the previous page
    from_id: UUID | None = None  # the oldest email that is looked at
    limit: int = 50

    @property
    def is_searched(self) -> bool:
        """Return whether a filter is given that no index helps."""
        return any((self.contains, self.template, self.provider))

    def params(self) -> dict[str, Any]:
        """Return the filters as SQL parameters."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        data, or_data = named.pop("custom_data") or (None, None)
        return named | {
            "status": _STATE_BY_NAME.get(self.status or "", self.status),
            "data": data,
            "or_data": or_data,
        }


@dataclass(frozen=True, slots=True)
class EmailPage:
    """A page of a list of mail."""

    emails: Sequence[ListedEmail]
    next: UUID | None  # the page after it has emails before this one; None: there is none
    is_cut: bool = False  # the search stopped before it had looked at all
