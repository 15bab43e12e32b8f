"""What became of the mail of a broadcast. Values only."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ClickedLink:
    """A link that people clicked, and in how many mails."""

    id: UUID
    url: str
    clicks: int
    unique_clicks: int
