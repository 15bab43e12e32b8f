"""Values: administrators, settings, events and overviews of the whole installation."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.admin import Administrator
from mailqueue.core.secret import Secret


class SettingKind(StrEnum):
    """How the value of a setting is written."""

    INTERVAL = "interval"
    COUNT = "count"
    BYTES = "bytes"
    RATE = "rate"
    LIST = "list"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class NewAdministrator:
    """A new administrator; `token` is shown once and not stored."""

    token: Secret
    record: Administrator


@dataclass(frozen=True, slots=True)
class PlatformEvent:
    """An event of a mail, or an attempt to send it."""

    source: str  # event or attempt
    event_id: UUID | None
    attempt_id: int | None
    occurred_at: datetime
    type: str
    project: str | None
    email_id: UUID
    recipient: str | None
    sender: str | None
    detail: str | None
