"""QUEUES: the tables that hold background work, one row each.

The kernel (`mailqueue/queue`) claims, settles and rescues the rows of these tables; the SQL
functions of each are made from its row by `sql/functions/queue`. `email_queue` is not
among them: its claims follow lanes and limits. `docs/adding/queue.md` is the guide to adding one.
"""

from datetime import timedelta

from mailqueue.core.outcome import Backoff, OnUnknown
from mailqueue.core.queues.model import QueueSpec

ALONE_MEMORY_BYTES = 1 << 30
"""Memory of a process that handles rows whose worker stopped before."""
MAX_CRASHES = 3
"""Deaths of its worker while a row was handled alone, after which the row fails."""

_INSTANT = "timestamp with time zone"

QUEUES = (
    QueueSpec(
        name="inbound",
        table="inbound_events",
        work="requests of providers and bounce mail",
        done="processed",
        handler="mailqueue.wiring.inbound:inbound_handler",
        lease=timedelta(minutes=5),
        backoff=Backoff(timedelta(seconds=30), timedelta(hours=1)),
        columns={"waiting": "integer[]", "outcome": "jsonb", "confirm_url": "text"},
    ),
    QueueSpec(
        name="erasures",
        table="erasures",
        work="erasures of persons",
        done="done",
        handler="mailqueue.wiring.maintenance:erasure_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=30), timedelta(hours=1)),
        batch=1,
        concurrency=1,
        time_limit=timedelta(hours=6),
        poll=(1.0, 30.0),
    ),
    QueueSpec(
        name="maintenance",
        table="maintenance_tasks",
        work="maintenance tasks",
        done="done",
        handler="mailqueue.wiring.maintenance:maintenance_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(minutes=1), timedelta(hours=1)),
        columns={"last_run_at": _INSTANT, "last_report": "text"},
        batch=1,
        concurrency=1,
        time_limit=timedelta(hours=6),
        poll=(1.0, 30.0),
    ),
    QueueSpec(
        name="webhooks",
        table="webhook_deliveries",
        work="deliveries of events to webhooks",
        done="delivered",
        handler="mailqueue.wiring.webhooks:webhook_handler",
        lease=timedelta(seconds=60),
        backoff=Backoff(timedelta(minutes=1), timedelta(hours=24)),
        columns={"last_code": "smallint"},
        key="webhook_id",
        has_circuit=True,
        batch=500,
        concurrency=128,
        poll=(0.05, 1.0),
    ),
    QueueSpec(
        name="custom-smtp",
        table="inline_servers",
        work="mail with a custom SMTP server",
        done="sent",
        handler="mailqueue.wiring.sending:custom_smtp_handler",
        lease=timedelta(minutes=5),
        backoff=Backoff(timedelta(minutes=1), timedelta(hours=1)),
        key="project_id",
        concurrency=16,
        time_limit=timedelta(minutes=1),
        keeps_done=False,
    ),
    QueueSpec(
        name="operations",
        table="bulk_operations",
        work="operations on all emails that match a filter",
        done="done",
        handler="mailqueue.wiring.operations:operation_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=5), timedelta(minutes=5)),
        batch=4,
        concurrency=4,
        poll=(0.05, 2.0),
    ),
    QueueSpec(
        name="list-sends",
        table="list_sends",
        work="mail to lists of contacts",
        done="done",
        handler="mailqueue.wiring.contacts:list_send_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=5), timedelta(minutes=5)),
        batch=4,
        concurrency=4,
        time_limit=timedelta(minutes=30),
        poll=(0.05, 2.0),
    ),
    QueueSpec(
        name="publishing",
        table="outbox_state",
        work="messages of outboxes",
        done="published",
        handler="mailqueue.wiring.publishing:publishing_handler",
        lease=timedelta(seconds=60),
        backoff=Backoff(timedelta(seconds=1), timedelta(minutes=5)),
        key="project_id",
        batch=20,
        concurrency=20,
        time_limit=timedelta(seconds=45),
        poll=(0.05, 1.0),
    ),
    QueueSpec(
        name="timed-events",
        table="timed_events",
        work="timed events",
        done="completed",
        handler="mailqueue.timed_events.handler:timed_event_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(minutes=1), timedelta(hours=1)),
        columns={"email_id": "uuid", "delivery_id": "uuid"},
        key="project_id",
        batch=500,
        concurrency=2_000,  # handling a row takes no time; its commit does the work
        poll=(0.05, 2.0),
    ),
    QueueSpec(
        name="schedules",
        table="schedules",
        work="schedules with their next occurrence",
        done="completed",
        handler="mailqueue.schedules.handler:schedule_handler",
        lease=timedelta(seconds=60),
        backoff=Backoff(timedelta(seconds=5), timedelta(hours=1)),
        columns={
            "next_run_at": _INSTANT,
            "next_local": "timestamp without time zone",
            "plan_after": _INSTANT,
            "zone_release": "text",
            "last_run_at": _INSTANT,
            "last_missed_at": _INSTANT,
            "run_count": "integer",
        },
        key="project_id",
        batch=500,
        concurrency=500,
        poll=(0.05, 1.0),
    ),
    QueueSpec(
        name="schedule-runs",
        table="schedule_runs",
        work="runs of schedules that are made in parts",
        done="done",
        handler="mailqueue.schedules.runs:run_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=5), timedelta(hours=1)),
        key="project_id",
        batch=4,
        concurrency=4,
        poll=(0.05, 1.0),
    ),
    QueueSpec(
        name="sequences",
        table="sequence_enrollments",
        work="contacts in sequences whose next step is due",
        done="completed",
        handler="mailqueue.wiring.sequences:sequence_handler",
        lease=timedelta(seconds=60),
        backoff=Backoff(timedelta(minutes=1), timedelta(hours=6)),
        key="project_id",
        batch=200,
        concurrency=200,
        time_limit=timedelta(minutes=1),
        poll=(0.05, 1.0),
    ),
    QueueSpec(
        name="stats",
        table="stats_state",
        work="counts of mail and events",
        done="counted",
        handler="mailqueue.wiring.analytics:stats_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=1), timedelta(minutes=1)),
        batch=1,
        concurrency=1,
        time_limit=timedelta(minutes=10),
        poll=(0.2, 1.0),
    ),
    QueueSpec(
        name="exports",
        table="exports",
        work="exports of data to files",
        done="done",
        handler="mailqueue.wiring.analytics:export_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=5), timedelta(minutes=5)),
        key="project_id",
        concurrency=4,
    ),
    QueueSpec(
        name="ab-tests",
        table="ab_tests",
        work="A/B tests that are to be evaluated",
        done="completed",
        handler="mailqueue.wiring.analytics:ab_test_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=5), timedelta(minutes=5)),
        key="project_id",
        concurrency=4,
    ),
    QueueSpec(
        name="inboxes",
        table="mailboxes",
        work="scans of watched inboxes",
        done="scanned",
        handler="mailqueue.wiring.watch:scan_handler",
        lease=timedelta(minutes=2),
        backoff=Backoff(timedelta(seconds=30), timedelta(minutes=15)),
        columns={"refusals": "smallint"},
        key="user_id",
        batch=100,
        concurrency=32,
        time_limit=timedelta(seconds=90),
        poll=(0.05, 1.0),
    ),
    QueueSpec(
        name="notifications",
        table="notifications",
        work="notifications of new mail",
        done="sent",
        handler="mailqueue.wiring.watch:notification_handler",
        lease=timedelta(minutes=1),
        backoff=Backoff(timedelta(seconds=30), timedelta(minutes=8)),
        columns={"external_message_id": "text", "posting_claim": "bigint"},
        key="notification_channel_id",
        has_circuit=True,
        batch=100,
        concurrency=64,
        time_limit=timedelta(seconds=45),
        on_unknown=OnUnknown.HELD,
        poll=(0.05, 1.0),
    ),
)


UPKEEP = ("erasures", "maintenance", "operations", "list-sends")
"""Queues that the parent of any worker takes care of while no process works on them."""


def queue_named(name: str) -> QueueSpec:
    """Return the queue of that name.

    Raises:
        KeyError: there is none.
    """
    return {one.name: one for one in QUEUES}[name]
