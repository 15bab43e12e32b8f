"""What a row of QUEUES says of a queue table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from mailqueue.core.outcome import Backoff, OnUnknown


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """One queue table and how its rows are worked on.

    `name` is what `mailqueue worker` calls it. `done` is the table's word for success. `columns`
    are those that an outcome may write beside the contract's, each with its type, as `format_type`
    returns it. `key` is a column: rows with one
    value of it share slots, and values without a recent success hold at most half of all slots.
    """

    name: str
    table: str
    work: str
    """What its rows are, for people: "requests of providers"."""
    done: str
    handler: str
    """The function that makes its handler, as MODULE:FUNCTION; imported where the queue runs."""
    lease: timedelta
    backoff: Backoff
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    key: str | None = None
    has_circuit: bool = False
    """Whether keys may be set aside: `sql/functions/queue/keys.sql` has the functions for it."""
    is_mostly_later: bool = False
    """Whether most of its keys have pending rows that are due later: those with due rows are found
    by an index on `run_at`, and not by a walk over all."""
    batch: int = 100
    """Rows of one claim."""
    concurrency: int = 8
    """Rows handled at the same time in one process; of a `TransactionHandler`, those that wait to
    be written, above which no more are claimed."""
    time_limit: timedelta = timedelta(minutes=5)
    """Limit of handling one row; the attempt fails after it."""
    acts_as_owner: bool = False
    """Whether its rows can be handled only with a login that may act as the schema's owner; a
    process whose login may not does not register for it."""
    on_unknown: OnUnknown = OnUnknown.RETRY
    keeps_done: bool = True
    """Whether rows that succeeded stay in the table; otherwise settling deletes them."""
    poll: tuple[float, float] = (0.05, 2.0)
    """Bounds of the poll interval in seconds, which grows while nothing is due."""
