"""Values: what is exported, and what its rows have. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from mailqueue.contract.analytics import Dimension
from mailqueue.contract.counts import METRICS
from mailqueue.contract.exports import ExportFormat, ExportKind
from mailqueue.contract.suppression import SuppressionReason

COLUMNS: Mapping[ExportKind, tuple[str, ...]] = {
    ExportKind.EMAILS: (
        *("id", "status", "reason", "category", "priority", "from_email", "recipient_email"),
        *("recipient_name", "recipients", "subject", "campaign_id", "tags", "sender", "attempts"),
        *("message_id", "created_at", "finished_at"),
    ),
    ExportKind.EVENTS: (
        *("id", "email_id", "type", "occurred_at", "recipient_email", "source", "code"),
        *("detail", "data"),
    ),
    ExportKind.RECIPIENTS: (
        *("email_id", "recipient_email", "type", "status", "reason", "campaign_id", "category"),
        *("created_at", "finished_at", "delivered_at", "bounced", "bounced_at", "complained_at"),
        *("unsubscribed_at", "opened_at", "clicked_at", "opens", "clicks"),
    ),
    ExportKind.STATS: ("started_at", "dimension", "value", "value2", *METRICS),
    ExportKind.SUPPRESSIONS: (
        *("email", "reason", "category", "detail", "created_at", "expires_at", "email_hash"),
    ),
    ExportKind.PERSON: ("table", "record"),
}
"""The columns of each kind, in the order of a file."""
FILTERS: Mapping[ExportKind, tuple[str, ...]] = {
    ExportKind.EMAILS: ("status", "campaign", "tag", "category"),
    ExportKind.EVENTS: ("type",),
    ExportKind.RECIPIENTS: ("status", "campaign", "tag", "category"),
    ExportKind.STATS: ("dimension",),
    ExportKind.SUPPRESSIONS: ("reason", "category"),
    ExportKind.PERSON: (),
}
"""The conditions that an export of each kind may have."""

_STATUSES = ("pending", "held", "assigned", "sent", "failed", "suppressed", "expired", "cancelled")
_EVENTS = (
    *("queued", "sent", "delivered", "deferred", "soft_bounce", "hard_bounce", "complaint"),
    *("opened", "clicked", "unsubscribed", "resubscribed", "failed", "suppressed", "expired"),
    *("cancelled", "held", "resolved"),
)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "status": _STATUSES,
    "type": _EVENTS,
    "dimension": (*("total", "provider_domain", "version_link"), *(one.value for one in Dimension)),
    "reason": tuple(one.value for one in SuppressionReason),
}
"""The values that a condition may have; of others, any text."""


class DataAsked(StrEnum):
    """What became of a person's request for what is stored about them."""

    SENT = "sent"  # a link is on its way to the address
    AGAIN = "again"  # one was sent within the last day
    STOPPED = "stopped"  # nothing is sent: the address gets no mail at all
    NONE = "none"  # nothing is sent because of a link of test mail


@dataclass(frozen=True, slots=True)
class WantedExport:
    """An export that is to begin; `until` None is now."""

    kind: ExportKind
    format: ExportFormat
    conditions: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    is_test: bool = False


class ExportPage(NamedTuple):
    """Rows of an export as lines of JSON, and the state; `place` None: nothing comes after.

    Of state `person`: address and project, and the claim that collects, as the place.
    """

    state: str
    kind: str
    format: str
    place: dict[str, object] | None
    lines: list[str]
