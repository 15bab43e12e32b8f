-- A person who reads and changes nothing.

DO $$
DECLARE
    r text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = 'mailqueue_dba') THEN
        RETURN;
    END IF;
    FOREACH r IN ARRAY ARRAY[
        'USAGE ON SCHEMA mailqueue',
        'EXECUTE ON FUNCTION mailqueue.gauges()',
        'EXECUTE ON FUNCTION mailqueue.known_zone(text), mailqueue.local_to_utc(timestamp, text),
            mailqueue.local_instants(timestamp, text), mailqueue.utc_to_local(timestamptz, text),
            mailqueue.time_zone_release()',
        'EXECUTE ON FUNCTION mailqueue.address_key(text), mailqueue.address_sent(text),
            mailqueue.domain_key(text), mailqueue.address_beyond_ascii(text, boolean),
            mailqueue.domain_beyond_ascii(text)',
        'EXECUTE ON FUNCTION mailqueue.tenant(), mailqueue.sees_all(), mailqueue.mode()',  -- in views
        'SELECT ON mailqueue.emails, mailqueue.queue_depth, mailqueue.sender_headroom,
            mailqueue.sender_health, mailqueue.routes, mailqueue.worker_status,
            mailqueue.recipient_history, mailqueue.held, mailqueue.books, mailqueue.sender_account_days,
            mailqueue.rates, mailqueue.queue_blocked, mailqueue.paused, mailqueue.throughput,
            mailqueue.health, mailqueue.attempts, mailqueue.audit, mailqueue.system_settings,
            mailqueue.retention, mailqueue.archive_files, mailqueue.outboxes, mailqueue.scheduled_emails,
            mailqueue.enrollments, mailqueue.daily_kpis, mailqueue.queue_kpis, mailqueue.table_sizes,
            mailqueue.stats_hourly, mailqueue.stats_daily',
        'EXECUTE ON FUNCTION mailqueue.enrollment_state(text, text, boolean, boolean)',  -- in enrollments
        'EXECUTE ON FUNCTION mailqueue.schedule_words(mailqueue.schedules)',  -- in scheduled_emails
        'EXECUTE ON FUNCTION [[HEALTH_FUNCTIONS]], mailqueue.health_bounds(),
            mailqueue.row_lock_holders(), mailqueue.lease_holders(), mailqueue.span_words(interval),
            mailqueue.some_words(text[])',  -- in health
        -- in sender_headroom and others
        'EXECUTE ON FUNCTION mailqueue.headroom_now(integer), mailqueue.circuit_of(mailqueue.queue_keys),
            mailqueue.failure_window(integer), mailqueue.rows_held_by(integer)',
        'SELECT ON mailqueue.deliveries, mailqueue.open_events, mailqueue.click_events,
            mailqueue.sender_rates',
        'EXECUTE ON FUNCTION mailqueue.rates_of_sender(integer),
            mailqueue.parse_network(text), mailqueue.rate_words(numeric, numeric, numeric, numeric,
            bigint, bigint, bigint, numeric, numeric)',  -- in these
        'SELECT ON mailqueue.webhook_status, mailqueue.email_accounts, mailqueue.delivery_channels,
            mailqueue.notification_log',
        'EXECUTE ON FUNCTION mailqueue.list_consumers(), mailqueue.list_queue_keys(), mailqueue.service_board(),
            mailqueue.ready_webhooks(timestamptz)',  -- in health
        'EXECUTE ON FUNCTION mailqueue.why(uuid), mailqueue.template_of(uuid), mailqueue.sending_refusal(),
            mailqueue.platform_pause(), mailqueue.platform_pause_words()',
        -- in searches of emails
        'EXECUTE ON FUNCTION mailqueue.is_searched(jsonb), mailqueue.searched_data(uuid, jsonb)'
    ] LOOP
        EXECUTE format('GRANT %s TO mailqueue_dba', r);
    END LOOP;
END $$;
