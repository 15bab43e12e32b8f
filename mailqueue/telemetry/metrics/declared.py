"""METRICS: what worker processes count. Every series is known beforehand, so that their number is
bounded and each has a place in shared memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from mailqueue.core.queues.registry import QUEUES

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the buckets of durations."""
MAIL = "email_queue"
OUTCOMES = ("work", "done", "retry", "defer", "again", "failed", "unknown")
"""Outcomes of a row of a queue; `work`: what the handler returned was written with the row."""
RESULTS = ("sent", "failed", "bounced", "rejected", "deferred", "unknown", "not_attempted")
"""Statuses of an attempt as in send_logs; `not_attempted`: settled without an attempt."""


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A counter, or a histogram where it has `bounds`; `labels` has the values of each label.

    The name follows Prometheus' rules: a base unit at its end; `_total` is added to counters.
    """

    name: str
    help: str
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bounds: Sequence[float] = ()

    @property
    def series(self) -> list[tuple[str, ...]]:
        """Return the label values of each series, in the order of their places."""
        return list(product(*self.labels.values()))

    @property
    def places(self) -> int:
        """Return the number of values of one series: a histogram has buckets and a sum."""
        return len(self.bounds) + 2 if self.bounds else 1


_QUEUE = {"queue": tuple(spec.name for spec in QUEUES)}

SEND_RESULTS = Metric(
    "mailqueue_send_attempts",
    "Outcomes of emails in send workers, by the result of the attempt.",
    {"result": RESULTS},
)
SEND_DURATION = Metric(
    "mailqueue_send_duration_seconds",
    "Duration of attempts to send an email, until the server answered.",
    bounds=SECONDS,
)
SEND_COMMITS = Metric(
    "mailqueue_send_commits",
    "Commits that settle emails and mark the next ones.",
)
SEND_COMMIT_SECONDS = Metric(
    "mailqueue_send_commit_seconds",
    "Time that these commits took.",
)
CLAIMS = Metric(
    "mailqueue_claims",
    "Claims, by queue; email_queue is the queue of mail.",
    {"queue": (MAIL, *_QUEUE["queue"])},
)
CLAIMED_ROWS = Metric(
    "mailqueue_claimed_rows",
    "Rows that claims returned.",
    {"queue": (MAIL, *_QUEUE["queue"])},
)
QUEUE_OUTCOMES = Metric(
    "mailqueue_queue_rows",
    "Rows of queues besides mail that were handled, by outcome.",
    _QUEUE | {"outcome": OUTCOMES},
)
QUEUE_DURATION = Metric(
    "mailqueue_queue_handling_duration_seconds",
    "Duration of handling a row of a queue.",
    _QUEUE,
    bounds=SECONDS,
)
GROUP_COMMITS = Metric(
    "mailqueue_group_commits",
    "Transactions in which requests that waited together were written.",
)
GROUP_ITEMS = Metric(
    "mailqueue_group_commit_items",
    "Requests that such transactions wrote.",
)
WORKER_DEATHS = Metric(
    "mailqueue_worker_deaths",
    "Worker processes that ended by themselves or were ended because they hung.",
)
SUSPECTED_ROWS = Metric(
    "mailqueue_suspected_rows",
    "Rows that worker processes were handling when they died.",
)

METRICS = (
    SEND_RESULTS,
    SEND_DURATION,
    SEND_COMMITS,
    SEND_COMMIT_SECONDS,
    CLAIMS,
    CLAIMED_ROWS,
    QUEUE_OUTCOMES,
    QUEUE_DURATION,
    GROUP_COMMITS,
    GROUP_ITEMS,
    WORKER_DEATHS,
    SUSPECTED_ROWS,
)
