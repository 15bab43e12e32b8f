-- A worker of any queue. Rows of the queues change only through functions that check its claim.

DO $$
DECLARE
    r text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = 'mailqueue_worker') THEN
        RETURN;
    END IF;
    FOREACH r IN ARRAY ARRAY[
        'USAGE ON SCHEMA mailqueue',
        'EXECUTE ON FUNCTION mailqueue.gauges()',
        'EXECUTE ON FUNCTION mailqueue.known_zone(text), mailqueue.local_to_utc(timestamp, text),
            mailqueue.local_instants(timestamp, text), mailqueue.utc_to_local(timestamptz, text),
            mailqueue.time_zone_release()',
        'EXECUTE ON FUNCTION mailqueue.gather_lanes(), mailqueue.are_lanes_ready(integer[]),
            mailqueue.claim_emails(integer, integer, interval, integer[]),
            mailqueue.claim_and_read(integer, integer, interval, integer[], boolean, boolean),
            mailqueue.find_claims(integer, bigint), mailqueue.claim_suspect(integer, interval),
            mailqueue.suspect_emails(uuid[], bigint[], boolean, text),
            mailqueue.mark_emails(integer, uuid[], bigint[], uuid[], bigint[]),
            mailqueue.settle_emails(uuid[], bigint[], text[], text[], interval[], integer[], integer[],
            text[], text[], text[], text[], text[], text[], integer[], boolean[], text[]),
            mailqueue.settle_recipients(uuid[], bigint[], text[], text[], text[], text[], boolean[])',
        'EXECUTE ON FUNCTION mailqueue.rescue_emails(interval, uuid), mailqueue.shorten_email(uuid, bigint),
            mailqueue.hold_unrecorded(uuid, bigint, integer, text)',
        'EXECUTE ON FUNCTION
            mailqueue.claim_publishing(integer, integer, interval, boolean, integer, text[], integer[]),
            mailqueue.extend_horizons(uuid[], bigint[]), mailqueue.outbox_messages(uuid[], bigint[], bigint[], integer),
            mailqueue.advance_outboxes(uuid[], bigint[], bigint[], bigint[])',
        'EXECUTE ON FUNCTION
            mailqueue.consume_messages(text, uuid[], uuid[], text[], text[], text[]),
            mailqueue.note_broker_queue(text, text, text, text, bigint),
            mailqueue.keep_dead_letter(text, text, bytea, uuid, text, text, jsonb, text, text, integer)',
        'EXECUTE ON FUNCTION mailqueue.fire_timed_events(uuid[], bigint[]), mailqueue.plan_birthdays(integer),
            mailqueue.recompute_timed_events(integer), mailqueue.end_delivered_timed_events(uuid, integer)',
        'EXECUTE ON FUNCTION
            mailqueue.claim_schedules(integer, integer, interval, boolean, integer, text[], integer[]),
            mailqueue.schedule_clocks(timestamptz[], text[], text[]),
            mailqueue.first_occurrences(integer[], timestamp[], timestamptz[], text[], text[]),
            mailqueue.occurrences_between(timestamp[], text, text, timestamptz, timestamptz),
            mailqueue.occurrence_instants(timestamp, text, text), mailqueue.local_run_start(timestamp),
            mailqueue.last_planned_day(),
            mailqueue.fire_schedules(uuid[], timestamptz[], timestamp[]),
            mailqueue.networks_of_run(uuid, bigint, integer),
            mailqueue.continue_schedule_run(uuid, bigint, integer, text[], text[]), mailqueue.end_schedule_run(uuid),
            mailqueue.replan_schedules(integer)',
        'EXECUTE ON FUNCTION mailqueue.advance_enrollments(uuid[]),
            mailqueue.take_enrollment_signals(integer, timestamptz),
            mailqueue.release_enrollments(integer), mailqueue.renew_enrollment_zones(integer)',
        'EXECUTE ON FUNCTION mailqueue.fold_stats(uuid, bigint, integer), mailqueue.judge_domains(timestamptz)',
        'EXECUTE ON FUNCTION mailqueue.take_ab_test(uuid, bigint), mailqueue.continue_ab_test(uuid, bigint, integer),
            mailqueue.record_ab_test(uuid, bigint, text, smallint, bigint[], bigint[], bigint[], double precision[])',
        'EXECUTE ON FUNCTION mailqueue.read_export_page(uuid, bigint, integer, bigint),
            mailqueue.write_export_part(uuid, jsonb, integer, bigint, bytea), mailqueue.end_export(uuid, text, text)',
        'EXECUTE ON FUNCTION mailqueue.record_scan(uuid, bigint, jsonb, jsonb),
            mailqueue.record_scan(uuid, bigint, jsonb, jsonb, timestamptz), mailqueue.lock_channels(uuid[]),
            mailqueue.note_inbox_push(uuid, bigint, timestamptz),
            mailqueue.notify_of_lost_inbox(uuid, bigint, text), mailqueue.begin_notification(uuid, bigint),
            mailqueue.note_channel_answers(uuid[], integer[], text[], interval[], boolean[]),
            mailqueue.opt_out_channel(uuid, text), mailqueue.close_whatsapp_window(uuid)',
        'SELECT ON mailqueue.mailboxes, mailqueue.notification_channels, mailqueue.filter_rules,
            mailqueue.notifications, mailqueue.channel_consents',
        'EXECUTE ON FUNCTION mailqueue.begin_custom_smtp(uuid, bigint, text, integer, text),
            mailqueue.due_inline(uuid[]), mailqueue.sweep_inline_servers(),
            mailqueue.settle_inline(integer, uuid, bigint, text, text, interval, integer, integer,
            text, text, text, text, text, integer, boolean, text[], text[], text[], text[],
            boolean[], text)',
        'EXECUTE ON FUNCTION mailqueue.start_worker(text, text, integer, text, uuid, text[])',
        'EXECUTE ON FUNCTION mailqueue.stop_worker(integer)',
        'EXECUTE ON FUNCTION mailqueue.heartbeat(integer, boolean, uuid, text, bigint)',
        'EXECUTE ON FUNCTION mailqueue.see_server(text, integer, uuid, bigint)',
        'EXECUTE ON FUNCTION mailqueue.rest_sender(integer, text), mailqueue.sender_answered(integer),
            mailqueue.rest_sender_for(integer, text, interval, boolean),
            mailqueue.suspend_sender(integer, text)',
        'EXECUTE ON FUNCTION
            mailqueue.report_failures(integer, text[], text[], text[], uuid[], text[])',
        'EXECUTE ON FUNCTION mailqueue.ensure_partitions(integer), mailqueue.set_max_send_rate(numeric),
            mailqueue.report_space(text, text[], bigint[], bigint[])',
        'SELECT ON mailqueue.projects, mailqueue.sender_accounts, mailqueue.data_keys,
            mailqueue.key_grants, mailqueue.dkim_keys, mailqueue.limits, mailqueue.lanes,
            mailqueue.email_contents, mailqueue.attachments, mailqueue.email_recipients,
            mailqueue.workers, mailqueue.template_versions, mailqueue.template_texts,
            mailqueue.schema_migrations, mailqueue.schema_objects',
        'SELECT (id, tags) ON mailqueue.email_queue',
        'SELECT (master_key_id) ON mailqueue.console_second_factors',
        -- Tokens and links of tracked mail: the first one of a project creates its key. UPDATE is for the lock that
        -- keeps a data key active.
        'SELECT, INSERT ON mailqueue.tracking_keys, mailqueue.tracked_links',
        'UPDATE (used_on, url) ON mailqueue.tracked_links',
        'EXECUTE ON FUNCTION mailqueue.note_tracking_gaps(uuid[], text[], bigint[])',
        'INSERT, UPDATE (retired_at) ON mailqueue.data_keys',
        'EXECUTE ON FUNCTION mailqueue.sealed_password(integer),
            mailqueue.bounced_mail(uuid, text, uuid, text[]), mailqueue.bounce_domains()',
        'EXECUTE ON FUNCTION mailqueue.record_events(jsonb), mailqueue.watch_rates(), mailqueue.note_sender_use(),
            mailqueue.send_notices(),
            mailqueue.keep_inbound(uuid[], integer[], text[], text[], jsonb[], jsonb[], bytea[],
            text[])',
        'SELECT, INSERT, UPDATE, DELETE ON mailqueue.waiters',
        -- The marker stands for QUEUES in mailqueue/core/queues/registry.py.
        'EXECUTE ON FUNCTION [[QUEUE_FUNCTIONS]]',
        'EXECUTE ON FUNCTION mailqueue.continue_bulk_operation(uuid, bigint, integer, integer),
            mailqueue.end_bulk_operation(uuid, text, text)',
        'EXECUTE ON FUNCTION mailqueue.continue_list_send(uuid, bigint, integer)',
        'EXECUTE ON FUNCTION mailqueue.suspected_queues(text[]), mailqueue.unattended_queues(text[]),
            mailqueue.queue_counts()',
        'EXECUTE ON FUNCTION mailqueue.shorten_email(uuid, bigint)',
        'EXECUTE ON FUNCTION
            mailqueue.claim_webhook_calls(integer, integer, interval, boolean, integer, text[],
            integer[]), mailqueue.settle_webhook_calls(uuid[], bigint[], text[], text[], interval[],
            timestamptz[], text[], jsonb, text[], integer[], text[], interval[], boolean[],
            timestamptz[], integer[], jsonb, text[]),
            mailqueue.tidy_webhooks(integer), mailqueue.webhook_payloads(uuid[]),
            mailqueue.webhook_emails(uuid[])',
        'SELECT ON mailqueue.webhooks'
    ] LOOP
        EXECUTE format('GRANT %s TO mailqueue_worker', r);
    END LOOP;
END $$;
