"""Values of the inbox that verbs take."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

DIRECT_CONSUMER = UUID(int=0)
"""Consumer of events that are delivered without one, as by the HTTP API."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Conditions on events of the inbox; None is any. `since` is included, `until` is not."""

    type: str | None = None
    status: str | None = None
    since: datetime | None = None
    until: datetime | None = None
