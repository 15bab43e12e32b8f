"""What administrators see of the infrastructure, and what they change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class PlatformPause(Value):
    """Whether all sending is paused."""

    is_paused: bool
    reason: str | None
    until: datetime | None
    """None: until it is resumed, if it is paused."""
    actor: str | None
    since: datetime | None
    waiting: int
    """Queued emails of all projects, counted up to 100,000."""


@dataclass(frozen=True, slots=True)
class DrainedWorkers(Value):
    """Workers that were drained, or that claim again."""

    workers: Sequence[int]
    """Their ids."""


@dataclass(frozen=True, slots=True)
class TablePartition(Value):
    """The rows of one month of a table."""

    table_name: str
    name: str
    month: date
    """First day of the month."""
    state: str
    """`attached`, `detaching` or `detached`."""
    rows_estimate: int | None
    """Estimated number of rows; null before the table was analyzed."""
    bytes: int
    """Size with indexes."""
    leaves_from: date | None
    """Day from which rows leave, by the shortest retention; null: they stay."""
    dropped_from: date | None
    """Day from which the partition is empty, and is dropped; null: it stays."""
    is_archived: bool | None
    """Whether rows leave to the archive; else they are deleted."""


@dataclass(frozen=True, slots=True)
class FreeSpace(Value):
    """Free space of a folder of PostgreSQL, as a process on its host reported it."""

    host: str
    place: str
    """`data` or `wal`."""
    free_bytes: int
    total_bytes: int
    reported_at: datetime


@dataclass(frozen=True, slots=True)
class ReplicationSlot(Value):
    """A replication slot, and the WAL that it keeps."""

    name: str
    is_active: bool
    """Whether a session reads it."""
    kept_bytes: int | None
    """null: nothing yet, or what it kept is lost."""
    wal_status: str | None
    """As PostgreSQL names it: `reserved`, `extended`, `unreserved` or `lost`."""


@dataclass(frozen=True, slots=True)
class TableSize(Value):
    """A table with its indexes; all months of it together."""

    name: str
    rows_estimate: int | None
    """Estimated number of rows; null before the table was analyzed."""
    bytes: int


@dataclass(frozen=True, slots=True)
class DiskUsage(Value):
    """The size of the database, and what is left of its disks."""

    database_bytes: int | None
    """null where it may not be read."""
    size_limit_bytes: int | None
    """The setting `database_size_limit`; null: none."""
    spaces: Sequence[FreeSpace]
    """Reports of the last two minutes; empty if no process runs on the host of PostgreSQL."""
    slots: Sequence[ReplicationSlot]
    """The slot that keeps the most WAL first."""
    tables: Sequence[TableSize]
    """The largest ten."""


@dataclass(frozen=True, slots=True)
class MaintenanceRun(Value):
    """A task of `mailqueue maintain`, and its last run."""

    task: str
    every_seconds: float
    """From the end of a run to the next one."""
    is_running: bool
    due_at: datetime
    last_run_at: datetime | None
    """End of the last run; null: never."""
    last_seconds: float | None
    """Length of the last run; null: not known."""
    last_report: str | None
    last_error: str | None
    """Error of the last attempt, if it failed."""
    is_late: bool
    """Whether three runs are missing."""


@dataclass(frozen=True, slots=True)
class QueueKey(Value):
    """A key of a queue that is in trouble, such as the endpoint of a webhook that keeps failing."""

    queue: str
    key: str
    """Of webhooks the id of the webhook, of notifications the provider."""
    subject: str
    """What it is, for people: of webhooks the URL."""
    project: str | None
    """null: it is of no project."""
    circuit: str
    """`closed` (rows are handled), `open` (it is set aside until `blocked_until`), `half_open` (one
    row probes it) or `resting` (it asked for a pause)."""
    failures: int
    """Failures in a row."""
    failing_since: datetime | None
    blocked_until: datetime | None
    last_error: str | None
    """Reason of the last failure; null: not known."""


@dataclass(frozen=True, slots=True)
class ServiceSeen(Value):
    """A service of the installation, and the processes that run it."""

    service: str
    command: str
    """The command that runs it."""
    processes: int
    """Those with a heartbeat within 30 seconds."""
    hosts: list[str]
    since: datetime | None
    """Start of the oldest of them; null: none runs."""
    beat_at: datetime | None
    """The last heartbeat of any of them; null: none runs."""
    need: str | None
    """What it is needed for; null: nothing is known, or a check of work says it."""


@dataclass(frozen=True, slots=True)
class ServerReadiness(Value):
    """What an API says of itself, asked over HTTP."""

    url: str
    is_alive: bool
    """Whether its process answers."""
    is_ready: bool
    """Whether it accepts mail now."""
    reason: str | None
    """Why it does not."""


@dataclass(frozen=True, slots=True)
class Canary(Value):
    """A sender account by which a small email is sent at an interval, and its last emails."""

    project: str
    sender: str
    provider: str
    recipient: str
    every: timedelta
    """Time between two emails."""
    emails_per_day: int
    """What it takes of the limits of the account and of its project."""
    newest_email: UUID | None
    """Id of the newest email; null: there is none yet."""
    last_sent_at: datetime | None
    """Time at which the last one was sent; null: none of the newest 60."""
    last_delivered_at: datetime | None
    """Time at which the last one was delivered; null: none of the newest 60."""
    tells_deliveries: bool
    """Whether the account's provider tells of deliveries."""
    is_late: bool
    """Whether none was sent for more than three intervals and a minute."""
    is_delivery_late: bool
    """Whether none was delivered for more than three intervals and ten minutes."""
    last_error: str | None
    """Why the newest one was not accepted; null: it was."""
