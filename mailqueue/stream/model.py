"""Values of the stream of events."""

from datetime import datetime
from typing import NamedTuple


class ReplayCount(NamedTuple):
    """What a replay is about."""

    events: int
    first_at: datetime | None
