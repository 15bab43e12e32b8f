-- The rights of every role. Each run starts from no rights.
--
-- Re-applied after functions and views, in their transaction. A role that this server lacks is skipped. Views read with
-- their owner's rights; functions named in them need EXECUTE for the reader all the same.

-- Objects that are created later have no rights for PUBLIC.
ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM PUBLIC;

DO $$
DECLARE
    v_role text;
    r record;
BEGIN
    -- Start from no rights, so that a right removed from this file is revoked.
    FOR v_role IN
        SELECT 'PUBLIC'
        UNION ALL
        SELECT o.rolname FROM pg_catalog.pg_roles AS o
         WHERE o.rolname IN ('mailqueue_migrator', 'mailqueue_producer', 'mailqueue_worker', 'mailqueue_api',
                             'mailqueue_tracking', 'mailqueue_dba')
    LOOP
        EXECUTE format('REVOKE ALL ON SCHEMA mailqueue FROM %s', v_role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA mailqueue FROM %s', v_role);
        EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA mailqueue FROM %s', v_role);
        EXECUTE format('REVOKE ALL ON ALL ROUTINES IN SCHEMA mailqueue FROM %s', v_role);
    END LOOP;

    FOR r IN
        SELECT g.role, g.rights FROM (VALUES
            -- A producer. It can read back nothing but the id.
            ('producer', 'USAGE ON SCHEMA mailqueue'),
            ('producer', 'EXECUTE ON FUNCTION mailqueue.enqueue(text, text, text, text, text, jsonb)'),
            ('producer', 'EXECUTE ON FUNCTION mailqueue.enqueue_batch(text, jsonb)'),
            ('producer', 'EXECUTE ON FUNCTION mailqueue.uuidv7()'),  -- the default of id
            -- The marker stands for MAIL_OPTIONS in mailqueue/core/mail_options.py.
            ('producer', 'INSERT (project, recipient_email, recipient_name, subject, html_body, text_body,
                                  [[MAIL_COLUMNS]]) ON mailqueue.email_queue'),
            ('producer', 'SELECT (id) ON mailqueue.email_queue'),    -- RETURNING id

            -- A send worker. Rows of the queue change only through functions that check its claim.
            ('worker', 'USAGE ON SCHEMA mailqueue'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.gather_lanes(), mailqueue.are_lanes_ready(integer[]),
                            mailqueue.claim_emails(integer, integer, interval, integer[]),
                            mailqueue.claim_and_read(integer, integer, interval, integer[], boolean, boolean),
                            mailqueue.find_claims(integer, bigint), mailqueue.claim_suspect(integer, interval),
                            mailqueue.suspect_emails(uuid[], bigint[], boolean, text),
                            mailqueue.mark_emails(integer, uuid[], bigint[], uuid[], bigint[]),
                            mailqueue.settle_emails(uuid[], bigint[], text[], text[], interval[], integer[], integer[],
                            text[], text[], text[], text[], text[], text[], integer[], boolean[]),
                            mailqueue.settle_recipients(uuid[], bigint[], text[], text[], text[], text[], boolean[])'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.rescue_emails(interval, uuid)'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.claim_inline(text, integer, text, integer),
                            mailqueue.begin_custom_smtp(uuid, bigint, text, integer, text),
                            mailqueue.due_inline(uuid[]), mailqueue.sweep_inline_servers(),
                            mailqueue.settle_inline(integer, uuid, bigint, text, text, interval, integer, integer,
                            text, text, text, text, text, integer, boolean, text[], text[], text[], text[],
                            boolean[])'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.start_worker(text, text, integer, text, uuid, text[])'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.beat(integer, boolean), mailqueue.stop_worker(integer)'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.rest_sender(integer, text), mailqueue.sender_answered(integer),
                            mailqueue.rest_sender_for(integer, text, interval, boolean),
                            mailqueue.suspend_sender(integer, text)'),
            ('worker', 'EXECUTE ON FUNCTION
                            mailqueue.report_failures(integer, text[], text[], text[], uuid[], text[])'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.ensure_partitions(integer), mailqueue.set_max_send_rate(numeric),
                            mailqueue.report_space(text, text[], bigint[], bigint[])'),
            ('worker', 'SELECT ON mailqueue.projects, mailqueue.sender_accounts, mailqueue.data_keys,
                            mailqueue.key_grants, mailqueue.dkim_keys, mailqueue.limits, mailqueue.lanes,
                            mailqueue.email_contents, mailqueue.attachments, mailqueue.email_recipients,
                            mailqueue.workers, mailqueue.template_versions, mailqueue.template_texts,
                            mailqueue.schema_migrations, mailqueue.schema_objects'),
            ('worker', 'SELECT (id, tags) ON mailqueue.email_queue'),
            -- Tokens and links of tracked mail: the first one of a project creates its key. UPDATE is for the lock that
            -- keeps a data key active.
            ('worker', 'SELECT, INSERT ON mailqueue.tracking_keys, mailqueue.tracked_links'),
            ('worker', 'UPDATE (used_on) ON mailqueue.tracked_links'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.note_tracking_gaps(uuid[], text[], bigint[]),
                            mailqueue.note_dressing_gaps(uuid[], text[], bigint[])'),
            ('worker', 'INSERT, UPDATE (retired_at) ON mailqueue.data_keys'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.sealed_password(integer),
                            mailqueue.bounced_mail(uuid, text, uuid, text[]), mailqueue.bounce_domains()'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.record_events(jsonb), mailqueue.watch_rates(),
                            mailqueue.claim_inbound(integer, interval), mailqueue.hold_inbound(uuid[], bigint[]),
                            mailqueue.settle_inbound(uuid[], bigint[], text[], interval[], jsonb[], jsonb[], text[]),
                            mailqueue.keep_inbound(uuid[], integer[], text[], text[], jsonb[], jsonb[], bytea[],
                            text[])'),
            ('worker', 'SELECT, INSERT, UPDATE, DELETE ON mailqueue.waiters'),
            -- The marker stands for QUEUES in mailqueue/core/queues.py.
            ('worker', 'EXECUTE ON FUNCTION [[QUEUE_FUNCTIONS]]'),
            ('worker', 'EXECUTE ON FUNCTION mailqueue.suspected_queues(text[]), mailqueue.queue_counts()'),
            ('worker', 'EXECUTE ON FUNCTION
                            mailqueue.claim_webhook_calls(integer, integer, interval, boolean, integer, text[],
                            integer[]), mailqueue.settle_webhook_calls(uuid[], bigint[], text[], text[], interval[],
                            timestamptz[], text[], jsonb[], uuid[], text[], integer[], text[], interval[], boolean[],
                            timestamptz[], integer[], jsonb[], text[]),
                            mailqueue.claim_webhook_deliveries(text, integer, interval, integer, uuid[], integer[]),
                            mailqueue.settle_webhook_deliveries(uuid[], bigint[], text[], integer[], text[],
                            interval[], boolean[], timestamptz[], integer[], jsonb[], text[]),
                            mailqueue.tidy_webhooks(integer), mailqueue.webhook_payloads(uuid[])'),
            ('worker', 'SELECT ON mailqueue.webhooks'),

            -- The HTTP API and the pages it serves.
            ('api', 'USAGE ON SCHEMA mailqueue'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.enqueue(text, text, text, text, text, jsonb)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.enqueue_batch(text, jsonb), mailqueue.accept_batch(text, jsonb)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.accept_raw(text, jsonb, bytea[]), mailqueue.message_bytes_of(uuid)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.begin_inline(text, jsonb, text, integer, text)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.settle_inline(integer, uuid, bigint, text, text, interval,
                         integer, integer, text, text, text, text, text, integer, boolean, text[], text[], text[],
                         text[], boolean[])'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.queue_inline(text, jsonb, uuid, bytea)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.keep_upload(uuid, text, text, bytea, bigint, bytea, bytea, text),
                         mailqueue.files_of(uuid, uuid[], date[])'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.enqueue_shared(text, jsonb, jsonb, jsonb, boolean, text),
                         mailqueue.batch_of(uuid, uuid), mailqueue.keep_batch(uuid, uuid[], text, text),
                         mailqueue.list_emails(uuid, text, text, text, text, text, text, uuid, timestamptz,
                         timestamptz, uuid, integer), mailqueue.message_source(uuid, uuid),
                         mailqueue.letter_of(uuid, uuid),
                         mailqueue.try_email(text, jsonb), mailqueue.act_on_email(uuid, uuid, text, text, text)'),
            -- in lists filtered by project
            ('api', 'EXECUTE ON FUNCTION mailqueue.address_key(text), mailqueue.address_sent(text),
                         mailqueue.domain_key(text), mailqueue.address_beyond_ascii(text, boolean),
                         mailqueue.domain_beyond_ascii(text)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.reschedule_email(uuid, uuid, timestamptz, text),
                         mailqueue.newer_emails(uuid, uuid, integer)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.cancel_emails(uuid, uuid[], text)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.hold_emails(uuid, uuid[], text)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.release_emails(uuid, uuid[])'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.requeue_emails(uuid, uuid[])'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.why(uuid)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.refusal_now()'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.headroom_now(integer)'),  -- in queue_depth
            ('api', 'EXECUTE ON FUNCTION mailqueue.rows_held_by(integer), mailqueue.queue_counts()'),
            ('api', 'SELECT ON mailqueue.emails, mailqueue.recipient_history, mailqueue.held, mailqueue.queue_depth,
                         mailqueue.worker_status, mailqueue.projects, mailqueue.email_recipients,
                         mailqueue.send_logs, mailqueue.email_events, mailqueue.schema_migrations,
                         mailqueue.schema_objects'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.find_api_key(bytea, inet), mailqueue.keys_in_force(uuid[]),
                         mailqueue.change_api_key(uuid, uuid, jsonb),
                         mailqueue.issue_api_key(uuid, text, bytea, text, boolean, text[], timestamptz, integer),
                         mailqueue.rotate_api_key(uuid, uuid, bytea, text, interval, timestamptz),
                         mailqueue.revoke_api_key(uuid, uuid, text)'),
            ('api', 'SELECT (id, project_id, name, hint, is_test, scopes, requests_per_second, created_at,
                         created_by, expires_at, rotated_at, revoked_at, revoked_reason, last_used_at,
                         last_used_from) ON mailqueue.api_keys'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.tenant(), mailqueue.sees_all(), mailqueue.mode(),
                         mailqueue.is_test_email(uuid)'),  -- in policies
            ('api', 'EXECUTE ON FUNCTION mailqueue.record_events(jsonb),
                         mailqueue.find_inbound_endpoint(text, bytea),
                         mailqueue.recipient_events(uuid, text, timestamptz, uuid, integer),
                         mailqueue.keep_inbound(uuid[], integer[], text[], text[], jsonb[], jsonb[], bytea[], text[])'),
            ('api', 'SELECT, INSERT, UPDATE, DELETE ON mailqueue.inbound_endpoints'),
            ('api', 'SELECT ON mailqueue.notices, mailqueue.deliveries, mailqueue.open_events,
                         mailqueue.click_events, mailqueue.sender_rates'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.rates_of_sender(integer), mailqueue.parse_network(text),
                         mailqueue.rate_words(numeric, numeric, numeric, numeric, bigint, bigint, bigint, numeric,
                         numeric)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.lease_requests(uuid, double precision, double precision, double
                         precision, double precision)'),
            ('api', 'SELECT, INSERT, UPDATE, DELETE ON mailqueue.idempotent_answers'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.suppressed_at_accept(uuid), mailqueue.take_request_key(uuid, text,
                         boolean), mailqueue.release_request_key(uuid, text, boolean),
                         mailqueue.take_suppression_lines(uuid, uuid, text), mailqueue.address_hash(uuid, text)'),
            ('api', 'SELECT, INSERT, DELETE ON mailqueue.trap_messages'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.remove_suppressions(uuid, text[], bytea, text, text, text)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.list_suppressions(uuid, bigint, integer, text, text, text)'),
            ('api', 'SELECT ON mailqueue.suppressions, mailqueue.suppression_history,
                         mailqueue.subscription_categories'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.stopping_categories(uuid, text),
                         mailqueue.is_category_required(uuid, text), mailqueue.reader_of(uuid, integer),
                         mailqueue.change_subscriptions(uuid, text[], jsonb, text, uuid, text, text, text),
                         mailqueue.put_category(uuid, text, jsonb, boolean, text),
                         mailqueue.remove_category(uuid, text, text)'),
            ('api', 'INSERT ON mailqueue.suppression_lines'),
            ('api', 'SELECT ON mailqueue.erasures'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.begin_erasure(uuid, text[], boolean, text),
                         mailqueue.erase_mail(uuid, integer), mailqueue.erase_contents(uuid, bigint[]),
                         mailqueue.erase_attachments(uuid, uuid[]),
                         mailqueue.move_erasure(uuid, text, jsonb, text, bigint, text),
                         mailqueue.lease_erasure(uuid, uuid, text, double precision),
                         mailqueue.release_erasure(uuid, uuid), mailqueue.find_address(uuid, bytea),
                         mailqueue.privacy_tables(), mailqueue.privacy_parent(oid), mailqueue.privacy_action(text),
                         mailqueue.text_columns(oid), mailqueue.is_setting_table(text),
                         mailqueue.erase_mentions(uuid, text, text, bigint, bigint),
                         mailqueue.read_mentions(uuid, text, text, bigint, bigint),
                         mailqueue.count_mentions(uuid, text, text, bigint, bigint),
                         mailqueue.shared_contents(uuid, text, bigint[], bigint, bigint),
                         mailqueue.mail_of_person(uuid, text[], uuid, integer), mailqueue.has_archives(uuid)'),
            -- Sender accounts, signing keys and their keys: sealed, and opened with the master key of the process only.
            ('api', 'SELECT (id, public_id, project_id, name, provider, email, display_name, smtp_host, smtp_port,
                         smtp_username, smtp_tls, is_private_ok, priority, daily_limit, hourly_limit, minute_limit,
                         rate_per_second, burst, batch_size, send_delay_ms, max_connections, time_zone, warm_up,
                         status, status_reason, status_until, revision, notes, api_url, provider_settings,
                         is_fallback, created_at, updated_at) ON mailqueue.sender_accounts'),
            ('api', 'SELECT (id, project_id, domain, selector, algorithm, public_key, status, created_at, seen_at,
                         active_at, retired_at, needed_until, revoked_at) ON mailqueue.dkim_keys'),
            ('api', 'SELECT (id, project_id, master_key_id, wrapped, wrapped_by, state) ON mailqueue.data_keys'),
            ('api', 'SELECT, INSERT, UPDATE, DELETE ON mailqueue.key_grants'),
            ('api', 'SELECT, INSERT, UPDATE (retired_at) ON mailqueue.tracking_keys'),
            ('api', 'SELECT, INSERT, UPDATE (used_on) ON mailqueue.tracked_links'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.look_at_clicks(uuid[], interval),
                         mailqueue.judge_clicks(uuid[], interval, text),
                         mailqueue.note_tracking_gaps(uuid[], text[], bigint[]),
                         mailqueue.note_dressing_gaps(uuid[], text[], bigint[]),
                         mailqueue.note_tracking_domain(uuid, text, boolean)'),
            ('api', 'INSERT, UPDATE ON mailqueue.sender_accounts, mailqueue.dkim_keys, mailqueue.data_keys'),
            ('api', 'USAGE ON SEQUENCE mailqueue.sender_accounts_id_seq'),
            ('api', 'INSERT ON mailqueue.audit_events, mailqueue.domain_checks'),
            ('api', 'SELECT ON mailqueue.routes, mailqueue.sender_headroom, mailqueue.sender_health'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.failure_window(integer)'),  -- in sender_health
            ('api', 'EXECUTE ON FUNCTION mailqueue.remove_sender(uuid, integer, text),
                         mailqueue.prefer_sender(uuid, integer),
                         mailqueue.route_to_sender(uuid, integer, text[], text[], text),
                         mailqueue.keep_project_lock(uuid), mailqueue.forget_expired_grants(),
                         mailqueue.sealed_password(integer)'),

            -- Administrators, over all projects. The API authenticates them before it calls these.
            ('api', 'EXECUTE ON FUNCTION mailqueue.add_project(text, text, jsonb),
                         mailqueue.change_project(text, jsonb, text), mailqueue.suspend_project(text, text, text),
                         mailqueue.activate_project(text, text), mailqueue.delete_project(text, text),
                         mailqueue.project_today(uuid), mailqueue.project_days(uuid, integer),
                         mailqueue.bounds_of_projects(uuid),
                         mailqueue.change_retention(text, text, integer, integer, integer, text),
                         mailqueue.reset_retention(text, text, text)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.find_administrator(bytea), mailqueue.settings_of_installation(),
                         mailqueue.change_setting(text, text, text),
                         mailqueue.revoke_keys(text, text, bytea, text, text), mailqueue.queue_board(),
                         mailqueue.outcome_board(), mailqueue.flow_board(),
                         mailqueue.search_events(uuid, text, text, timestamptz, timestamptz, uuid, bigint, integer)'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.provider_board(), mailqueue.health_board(),
                         mailqueue.audit_page(uuid, text, bigint, integer)'),
            ('api', 'SELECT ON mailqueue.retention'),

            ('api', 'SELECT ON mailqueue.webhooks, mailqueue.webhook_events, mailqueue.webhook_deliveries,
                         mailqueue.webhook_attempts, mailqueue.webhook_status'),
            ('api', 'INSERT ON mailqueue.webhooks'),
            ('api', 'UPDATE (sealed_secret, sealed_secret_previous, previous_until, revision, updated_at) ON
                         mailqueue.webhooks'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.retry_webhook_deliveries(uuid, uuid, uuid[], text[], text[],
                         timestamptz, timestamptz, integer, text), mailqueue.count_webhooks(uuid),
                         mailqueue.switch_webhook(uuid, uuid, boolean, text),
                         mailqueue.remove_webhook(uuid, uuid, text),
                         mailqueue.change_webhook(uuid, uuid, text, text, text[], text),
                         mailqueue.log_webhook_test(uuid, uuid, uuid, text, json, timestamptz, integer, text,
                         integer, jsonb, text)'),

            ('api', 'SELECT ON mailqueue.templates, mailqueue.template_versions, mailqueue.template_texts,
                         mailqueue.template_parts'),
            ('api', 'EXECUTE ON FUNCTION mailqueue.add_template(uuid, jsonb, text),
                         mailqueue.change_template(uuid, jsonb, text), mailqueue.remove_template(uuid, text),
                         mailqueue.add_template_version(uuid, jsonb, text),
                         mailqueue.publish_template(uuid, jsonb, text), mailqueue.archive_template(uuid, text),
                         mailqueue.put_template_part(uuid, text, text, text, text),
                         mailqueue.remove_template_part(uuid, text, text)'),

            -- Opens, clicks and requests of providers.
            ('tracking', 'USAGE ON SCHEMA mailqueue'),
            ('tracking', 'EXECUTE ON FUNCTION mailqueue.uuidv7()'),  -- the default of id
            ('tracking', 'INSERT ON mailqueue.email_events'),
            ('tracking', 'EXECUTE ON FUNCTION mailqueue.record_events(jsonb)'),

            -- A person who reads and changes nothing.
            ('dba', 'USAGE ON SCHEMA mailqueue'),
            ('dba', 'EXECUTE ON FUNCTION mailqueue.address_key(text), mailqueue.address_sent(text),
                         mailqueue.domain_key(text), mailqueue.address_beyond_ascii(text, boolean),
                         mailqueue.domain_beyond_ascii(text)'),
            ('dba', 'EXECUTE ON FUNCTION mailqueue.tenant(), mailqueue.sees_all(), mailqueue.mode()'),  -- in views
            ('dba', 'SELECT ON mailqueue.emails, mailqueue.queue_depth, mailqueue.sender_headroom,
                         mailqueue.sender_health, mailqueue.routes, mailqueue.worker_status,
                         mailqueue.recipient_history, mailqueue.held, mailqueue.books, mailqueue.sender_account_days,
                         mailqueue.rates, mailqueue.queue_blocked, mailqueue.paused, mailqueue.throughput,
                         mailqueue.health, mailqueue.attempts, mailqueue.audit, mailqueue.system_settings,
                         mailqueue.retention, mailqueue.archive_files'),
            ('dba', 'EXECUTE ON FUNCTION mailqueue.health_of_mail(), mailqueue.health_of_space(),
                         mailqueue.health_of_bounds(),
                         mailqueue.health_of_stock(), mailqueue.health_of_server(), mailqueue.health_bounds(),
                         mailqueue.row_lock_holders(), mailqueue.lease_holders(), mailqueue.span_words(interval),
                         mailqueue.some_words(text[])'),  -- in health
            -- in sender_headroom and others
            ('dba', 'EXECUTE ON FUNCTION mailqueue.headroom_now(integer), mailqueue.failure_window(integer),
                         mailqueue.rows_held_by(integer)'),
            ('dba', 'SELECT ON mailqueue.deliveries, mailqueue.open_events, mailqueue.click_events,
                         mailqueue.sender_rates'),
            ('dba', 'EXECUTE ON FUNCTION mailqueue.health_of_events(), mailqueue.rates_of_sender(integer),
                         mailqueue.parse_network(text), mailqueue.rate_words(numeric, numeric, numeric, numeric,
                         bigint, bigint, bigint, numeric, numeric)'),  -- in these
            ('dba', 'SELECT ON mailqueue.webhook_status'),
            ('dba', 'EXECUTE ON FUNCTION mailqueue.health_of_tracking(), mailqueue.health_of_webhooks(),
                         mailqueue.health_of_maintenance(), mailqueue.health_of_queues(),
                         mailqueue.ready_webhooks(timestamptz)'),  -- in health
            ('dba', 'EXECUTE ON FUNCTION mailqueue.why(uuid)')
        ) AS g(role, rights)
    LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = 'mailqueue_' || r.role);
        EXECUTE format('GRANT %s TO mailqueue_%s', r.rights, r.role);
    END LOOP;
END $$;
