"""Request bodies and queries of dead letters."""

from typing import Annotated, Literal

from pydantic import Field

from mailqueue.api.emails.schema import Instant
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.inbox.schema import EventId, EventTypeText
from mailqueue.bridge.letters import REPLAY_LETTERS


class LettersQuery(PageQuery):
    """Filters of a list of dead letters."""

    type: EventTypeText | None = None
    """Filter by type."""
    status: Literal["waiting", "replayed"] | None = None
    """Filter by status."""
    since: Instant | None = None
    """Earliest time at which they were given up: RFC 3339."""
    until: Instant | None = None
    """Time before which they were given up: RFC 3339."""


class ReplayLetters(StrictRequestModel):
    """The dead letters to replay: by id, type or time."""

    ids: Annotated[list[EventId], Field(min_length=1, max_length=1000)] | None = None
    """Ids of dead letters, or of their messages."""
    type: EventTypeText | None = None
    """Dead letters of this type."""
    since: Instant | None = None
    """Earliest time at which they were given up: RFC 3339."""
    until: Instant | None = None
    """Time before which they were given up: RFC 3339."""
    dry_run: bool = False
    """Only count what would be done."""
    limit: Annotated[int, Field(ge=1, le=REPLAY_LETTERS)] = REPLAY_LETTERS
    """Maximum number of dead letters per request."""
    cursor: str | None = None
    """`next_cursor` of the previous request; the oldest dead letters if omitted."""
