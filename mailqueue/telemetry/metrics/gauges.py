"""GAUGES: what monitoring reads of the database, as `mailqueue.gauges()` returns it."""

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client.metrics_core import GaugeMetricFamily


@dataclass(frozen=True, slots=True)
class Gauge:
    """A metric of the database; `labels` names the labels, in the order of their values."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """One figure of the database."""

    name: str
    labels: list[str]
    value: float


GAUGES = (
    Gauge(
        "mailqueue_emails",
        "Unfinished emails; estimated where there are more than the setting count_exactly.",
        ("priority", "status"),
    ),
    Gauge(
        "mailqueue_oldest_email_seconds",
        "Time for which the oldest due email has been due.",
        ("priority",),
    ),
    Gauge("mailqueue_blocked_lanes", "Lanes with due emails that cannot be sent now.", ("reason",)),
    Gauge(
        "mailqueue_rows",
        "Rows of queues besides mail, counted up to 10,001; failed: in the last day.",
        ("queue", "status"),
    ),
    Gauge(
        "mailqueue_oldest_row_seconds",
        "Time for which the oldest due row has been due.",
        ("queue",),
    ),
    Gauge("mailqueue_workers", "Worker processes that are alive.", ("queue",)),
    Gauge("mailqueue_sender_accounts", "Sender accounts.", ("provider", "status")),
    Gauge(
        "mailqueue_open_circuits",
        "Sender accounts that are avoided since sending by them failed.",
        ("provider",),
    ),
    Gauge(
        "mailqueue_exhausted_accounts",
        "Sender accounts that have reached their limit of the day.",
        ("provider",),
    ),
    Gauge(
        "mailqueue_headroom_emails",
        "Emails that sender accounts with a limit may still send today.",
        ("provider",),
    ),
    Gauge(
        "mailqueue_inbox_connections",
        "Connections that wait for new mail of watched inboxes, or will be made again.",
        ("state",),
    ),
    Gauge(
        "mailqueue_check_state",
        "Result of a check of `mailqueue doctor`: 0 well, 1 warning, 2 alarm.",
        ("check",),
    ),
    Gauge(
        "mailqueue_maintenance_age_seconds",
        "Time since the last run of a maintenance task; +Inf: it never ran.",
        ("task",),
    ),
    Gauge("mailqueue_maintenance_late", "Whether a maintenance task is overdue.", ("task",)),
    Gauge(
        "mailqueue_free_space_bytes",
        "Free space of the folders of PostgreSQL.",
        ("host", "place"),
    ),
    Gauge("mailqueue_database_bytes", "Size of the database."),
    Gauge(
        "mailqueue_recent_attempts",
        "Attempts of the last 5 minutes to send an email.",
        ("provider", "result"),
    ),
    Gauge(
        "mailqueue_response_seconds",
        "Time of 95 of 100 attempts of the last 5 minutes, of the slowest account.",
        ("provider",),
    ),
    Gauge(
        "mailqueue_wal_archive_age_seconds",
        "Time since PostgreSQL archived a segment of its log; absent where archiving is off.",
    ),
    Gauge(
        "mailqueue_expiring_keys",
        "API keys, and tokens of administrators, that end within 14 days and were not replaced.",
        ("kind",),
    ),
    Gauge(
        "mailqueue_failing_domains",
        "Domains whose last check of DKIM, SPF and DMARC failed, of checks of the last 35 days.",
    ),
    Gauge(
        "mailqueue_domain_records",
        "Domains that keys sign for, by the state of a DNS record in their daily check.",
        ("record", "state"),
    ),
    Gauge(
        "mailqueue_canary_age_seconds",
        "Time since a canary email was sent or delivered, of the account with the oldest;"
        " +Inf: none of the newest 60.",
        ("provider", "stage"),
    ),
    Gauge(
        "mailqueue_canary_late",
        "Whether canary emails by an account are absent for more than three intervals.",
        ("provider", "stage"),
    ),
    Gauge(
        "mailqueue_trace_spans",
        "Spans of traces that the collector took, and those that were left out, ever.",
        ("result",),
    ),
    Gauge(
        "mailqueue_trace_age_seconds",
        "Time since which spans of traces wait to be exported; absent where none are.",
    ),
)


def families_of(readings: Iterable[Reading]) -> list[GaugeMetricFamily]:
    """Return the metrics of these figures; those of unknown names are left out. Pure."""
    families = {
        gauge.name: GaugeMetricFamily(gauge.name, gauge.help, labels=gauge.labels)
        for gauge in GAUGES
    }
    for reading in readings:
        if reading.name in families:
            families[reading.name].add_metric(reading.labels, reading.value)
    return list(families.values())
