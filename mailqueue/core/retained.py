"""RETAINED: the tables whose rows are deleted after some days, one row each.

`docs/adding/table.md` is the guide to adding one.
"""

from mailqueue.core.retention import Privacy, Removal, Retained, of_counts, of_month

RETAINED = (
    of_month("email_history", "email_history", "finished_at"),
    of_month("send_logs", "send_logs", "sent_at"),
    of_month("email_events", "email_events", "occurred_at"),
    Retained(
        "opens_clicks", "email_events", "occurred_at", Removal.BY_MONTH, days=365, keep_days=365
    ),
    of_month("email_contents", "email_contents", "created_on"),
    Retained(
        "attachments",
        "attachments",
        "created_on",
        Removal.BY_MONTH,
        days=90,
        cold_days=730,
        keep_days=2557,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "idempotency_keys",
        "idempotency_keys",
        "created_at",
        Removal.SPECIAL,  # page by page: there may be very many, and no index by age
        days=400,
        kept_while="EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = o.email_id)",
        privacy=Privacy.DELETE,
    ),
    Retained(
        "outbox_rows",
        "outbox_rows",
        "accepted_on",
        Removal.SWEPT,
        days=2557,
        kept_while="EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = o.id)",
    ),
    Retained(
        "trap_messages",
        "trap_messages",
        "received_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
        batch=500,
        privacy=Privacy.DELETE,
    ),
    Retained(
        "webhook_deliveries",
        "webhook_deliveries",
        "created_at",
        Removal.SPECIAL,  # in the order of ids, with their attempts, and their events a day later
        days=30,
        kept_while="o.status = 'assigned'",
    ),
    Retained(
        "workers",
        "workers",
        "stopped_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
        else_column="lost_at",
        kept_while=(
            "EXISTS (SELECT FROM mailqueue.send_intents AS s WHERE s.worker_id = o.id)"
            " OR EXISTS (SELECT FROM mailqueue.email_queue AS q"
            " WHERE q.status = 'assigned' AND q.worker_id = o.id)"
            # Its id is part of send_progress(), which never falls.
            " OR o.id = (SELECT max(w.id) FROM mailqueue.workers AS w)"
        ),
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "event_keys",
        "event_keys",
        "recorded_on",
        Removal.SWEPT,
        days=400,
        is_global=True,
        batch=20_000,
    ),
    Retained(
        "inbound_events",
        "inbound_events",
        "received_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
        ended_column="finished_at",
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "inbox_state",
        "inbox_state",
        "received",
        Removal.SWEPT,
        days=30,
        # A later event may cancel mail that is still queued.
        kept_while=(
            "EXISTS (SELECT FROM mailqueue.inbox_actions AS a"
            " JOIN mailqueue.email_queue AS q ON q.id = a.email_id WHERE a.inbox_id = o.id)"
        ),
    ),
    Retained("dead_letters", "dead_letters", "created_at", Removal.SWEPT, days=30),
    Retained("services", "service_processes", "beat_at", Removal.SWEPT, days=1, is_global=True),
    Retained("broker_queues", "broker_queues", "seen_at", Removal.SWEPT, days=30, is_global=True),
    Retained(
        "timed_events",
        "timed_events",
        "finished_at",
        Removal.SWEPT,
        # Longer than a year: a birthday stands for its year.
        days=800,
        ended_column="finished_at",
        kept_while="o.status = 'delivering'",
    ),
    Retained("schedules", "schedules", "finished_at", Removal.SWEPT, days=90),
    Retained("broadcasts", "broadcasts", "begun_at", Removal.SWEPT, days=400),
    Retained(
        "schedule_runs",
        "schedule_runs",
        "created_at",
        Removal.SWEPT,
        days=90,
        ended_column="finished_at",
    ),
    Retained(
        "schedule_recipients",
        "schedule_recipients",
        "created_at",
        Removal.SWEPT,
        days=90,
        kept_while=(
            "EXISTS (SELECT FROM mailqueue.schedule_runs AS r"
            " WHERE r.id = o.run_id AND r.finished_at IS NULL)"
        ),
        privacy=Privacy.DELETE,
    ),
    Retained(
        "sequence_enrollments",
        "sequence_enrollments",
        "finished_at",
        Removal.SWEPT,
        days=2557,  # a sequence that enrolls a contact once goes by them
        ended_column="finished_at",
    ),
    Retained("sequence_events", "sequence_events", "occurred_at", Removal.SWEPT, days=400),
    Retained(
        "event_stream",
        "event_stream",
        "created_at",
        Removal.SWEPT,
        days=7,
        # What a consumer has not handled waits for it.
        kept_while="o.sequence_number > (SELECT min(c.position) FROM mailqueue.consumers AS c)",
    ),
    Retained("outbox_messages", "outbox_message", "sent_time", Removal.SWEPT, days=7),
    Retained(
        "notifications",
        "notifications",
        "created_at",
        Removal.SWEPT,
        days=30,
        # A summary and the mail that it tells of have one age.
        kept_while="o.status = 'assigned'",
        privacy=Privacy.DELETE,
    ),
    *(
        Retained(table, table, "created_at", Removal.SWEPT, days=1, is_global=True)
        for table in ("slack_installations", "phone_registrations")
    ),
    Retained(
        *("inbox_consents", "inbox_consents", "created_at", Removal.SWEPT),
        days=1,
        is_global=True,
        privacy=Privacy.DELETE,
    ),
    Retained(
        *("inbox_links", "inbox_links", "expires_at", Removal.SWEPT),
        days=1,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        *("inbox_sessions", "inbox_sessions", "expires_at", Removal.SWEPT),
        days=30,
        is_global=True,
        privacy=Privacy.DELETE,
    ),
    Retained("seen_messages", "seen_messages", "seen_at", Removal.SWEPT, days=2, is_global=True),
    # The exporter of traces deletes them too, where one runs.
    Retained("send_stages", "send_stages", "noted_at", Removal.SWEPT, days=3, is_global=True),
    Retained(
        "audit_events",
        "audit_events",
        "occurred_at",
        Removal.SPECIAL,  # with their seals, which needs the master key
        days=36_500,  # permanently, unless a rule says otherwise
        is_global=True,
    ),
    Retained(
        "marketing_counts",
        "marketing_counts",
        "last_counted_at",
        Removal.SWEPT,
        days=400,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
    of_counts("stats_minutes", "started_at", days=90),
    of_counts("stats_quarters", "started_at", days=3_650),
    of_counts("stats_latency", "started_at", days=3_650),
    of_counts("stats_values", "day", days=3_650),
    Retained(
        "limit_days",
        "limit_days",
        "day",
        Removal.SWEPT,
        days=800,
        is_global=True,
        kept_while=(
            "EXISTS (SELECT FROM mailqueue.limits AS m WHERE m.id = o.limit_id"
            " AND m.warm_up IS NOT NULL AND o.day >= m.warm_up_from)"
        ),
    ),
    Retained("domain_checks", "domain_checks", "checked_at", Removal.SWEPT, days=90),
    Retained(
        "bulk_operations",
        "bulk_operations",
        "created_at",
        Removal.SWEPT,
        days=400,
        is_global=True,
        ended_column="finished_at",
    ),
    *(
        Retained(
            *(table, table, "finished_at", Removal.SWEPT),
            days=days,
            is_global=True,
            ended_column="finished_at",
            batch=5,  # with their files
        )
        for table, days in (("exports", 7), ("imports", 30))
    ),
    Retained(
        "ab_tests",
        "ab_tests",
        "created_at",
        Removal.SWEPT,
        days=400,
        is_global=True,
        ended_column="finished_at",
        batch=1,  # with its recipients
    ),
    Retained(
        "contact_list_members",
        "contact_list_members",
        "pending_until",
        Removal.SWEPT,
        days=30,
        is_global=True,
        kept_while="NOT o.is_pending",
    ),
    Retained(
        *("list_sends", "list_sends", "created_at", Removal.SWEPT),
        days=400,
        is_global=True,
        ended_column="finished_at",
        batch=10,
    ),
    Retained(
        *("console_sessions", "console_sessions", "expires_at", Removal.SWEPT),
        days=30,
        is_global=True,
    ),
    Retained(
        *("console_challenges", "console_challenges", "ends_at", Removal.SWEPT),
        days=2,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        *("console_actions", "console_actions", "used_at", Removal.SWEPT),
        days=2,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        *("console_attempts", "console_attempts", "next_at", Removal.SWEPT),
        days=2,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
)
