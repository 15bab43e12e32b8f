"""Request bodies and queries of the administrators' endpoints. Values only."""

from typing import Annotated, Literal

from pydantic import Field

from mailqueue.admin.events import TYPES
from mailqueue.api.emails.schema import Instant, StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel

SettingName = Annotated[str, Field(max_length=100)]


class ChangeSettings(StrictRequestModel):
    """Settings to change, in the format GET shows them; numbers may be JSON numbers."""

    settings: Annotated[dict[SettingName, str | int | float], Field(min_length=1, max_length=100)]
    """Values by name of setting, such as `{"max_send_rate": 200}`; GET lists all names. All changes
    are made, or none.
    """


class ChangeFlags(StrictRequestModel):
    """Flags to switch."""

    flags: Annotated[dict[SettingName, bool], Field(min_length=1, max_length=100)]
    """true or false by name: `accept_mail`, `test_keys`, `own_servers`."""


class RevokeKeys(StrictRequestModel):
    """API keys to revoke: those that match all given fields, or all keys."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    """Reason, recorded in the audit log."""
    project: Annotated[str, Field(max_length=100)] | None = None
    """Revoke keys of this project, by slug."""
    prefix: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Revoke keys that begin with this text, such as `mq_live_a7Qz`."""
    key: Annotated[str, Field(max_length=200)] | None = None
    """Revoke this key, given in full."""
    all: bool = False
    """Revoke every key; required if nothing else is given."""


class EventsQuery(PageQuery):
    """Filters of events; without `since`, the last seven days."""

    type: Annotated[str, Field(pattern=f"^({'|'.join(TYPES)})$")] | None = None
    """Type of event: bounced, cancelled, clicked, complaint, deferred, delivered, expired, failed,
    hard_bounce, held, opened, queued, rejected, resolved, sent, soft_bounce, suppressed, unknown or
    unsubscribed.
    """
    recipient: Annotated[str, Field(min_length=3, max_length=320)] | None = None
    """Filter by recipient address."""
    project: Annotated[str, Field(max_length=100)] | None = None
    """Filter by project slug."""
    since: Instant | None = None
    """Start of the period, RFC 3339 with offset; seven days ago if omitted."""
    until: Instant | None = None
    """End of the period, exclusive, RFC 3339 with offset; now if omitted."""


class VerifyQuery(RequestModel):
    """Options of a verification."""

    head: Annotated[str, Field(max_length=100)] | None = None
    """`head` of an earlier verification: checks also that no seal up to it was removed."""


ConsoleRole = Literal["superadmin", "project_admin", "support", "viewer"]


class AddUser(StrictRequestModel):
    """A user of the console."""

    name: Annotated[StorableText, Field(min_length=1, max_length=100)]
    """Name to log in with, and in the audit log."""
    role: ConsoleRole
    """What the user may do."""
    projects: Annotated[list[StorableText], Field(default_factory=list, max_length=1000)]
    """Slugs of the projects that the user sees; none for a superadmin."""
    all_projects: bool = False
    """Whether the user sees every project, present and future."""


class ChangeUser(StrictRequestModel):
    """Changes to a user of the console; what is left out stays as it is."""

    role: ConsoleRole | None = None
    """What the user may do."""
    projects: Annotated[list[StorableText], Field(max_length=1000)] | None = None
    """Slugs of all projects that the user sees from now on, in place of those before."""
    all_projects: bool | None = None
    """Whether the user sees every project, present and future."""
    reset_second_factor: bool = False
    """Whether to delete the user's second factor and recovery codes; open sessions end."""
