"""What administrators ask and are shown about the whole installation. Values only."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from mailqueue.administration.events import TYPES
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictlyGiven

Name = Annotated[str, Field(max_length=100)]


class ChangeSettings(StrictlyGiven):
    """Settings to change, written as they are shown; numbers may be numbers."""

    settings: Annotated[dict[Name, str | int | float], Field(min_length=1, max_length=100)]
    """Values by name of setting, such as `{"max_send_rate": 200}`; GET lists all.
    All that are named change, or none.
    """


class ChangeFlags(StrictlyGiven):
    """Flags to switch."""

    flags: Annotated[dict[Name, bool], Field(min_length=1, max_length=100)]
    """true or false by name: `accept_mail`, `test_keys`, `own_servers`."""


class RevokeKeys(StrictlyGiven):
    """Keys to put out of force: those that fit all that is named, or all."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    """Why, for the audit and whoever asks why the key stopped."""
    project: Annotated[str, Field(max_length=100)] | None = None
    """Only keys of this project, by name."""
    prefix: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Only keys that begin so, such as `mq_live_a7Qz`."""
    key: Annotated[str, Field(max_length=200)] | None = None
    """A whole key that was found somewhere."""
    all: bool = False
    """Every key there is; has to be said where nothing else narrows it."""


class EventsQuery(PageQuery):
    """What is looked for; without a time, the last seven days."""

    type: Annotated[str, Field(pattern=f"^({'|'.join(TYPES)})$")] | None = None
    """What happened: bounced, cancelled, clicked, complaint, deferred, delivered, expired,
    failed, hard_bounce, held, opened, queued, rejected, resolved, sent, soft_bounce,
    suppressed, unknown or unsubscribed.
    """
    recipient: Annotated[str, Field(min_length=3, max_length=320)] | None = None
    """The whole address of a recipient."""
    project: Annotated[str, Field(max_length=100)] | None = None
    """Only of this project, by name."""
    since: AwareDatetime | None = None
    """From this instant on: RFC 3339 with offset; seven days ago unless given."""
    until: AwareDatetime | None = None
    """Before this instant: RFC 3339 with offset; now unless given."""
