-- Every table that may contain an address, searched page by page and column by column, whatever the columns are called.
-- Tables that are added later are included.

-- Tables of settings: an address in them is that of a person who works there. Only free text in them is changed; other
-- mentions are reported, to be changed by hand.
CREATE OR REPLACE FUNCTION mailqueue.is_setting_table(p_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT p_name = ANY (ARRAY['projects', 'api_keys', 'administrators', 'sender_accounts', 'templates',
        'template_versions', 'template_texts', 'template_pictures',
        'template_parts', 'dkim_keys', 'domain_checks', 'domain_rechecks', 'domain_rates', 'routing_rules',
        'retry_ladders', 'pauses', 'retention_rules',
        'system_settings', 'subscription_categories', 'webhooks', 'inbound_endpoints', 'workers',
        'console_users', 'event_rules', 'birthday_rules', 'contact_lists', 'sequences', 'sequence_versions',
        'stats_accounts', 'inbox_users', 'mailboxes', 'notification_channels', 'canaries', 'console_passkeys'])
$$;
COMMENT ON FUNCTION mailqueue.is_setting_table(text) IS 'Whether a table contains settings.';

CREATE OR REPLACE FUNCTION mailqueue.privacy_parent(p_table oid) RETURNS text
LANGUAGE sql STABLE
AS $$
    -- A partition that is being detached still has its name.
    SELECT regexp_replace((SELECT r.relname FROM pg_class AS r
                            WHERE r.oid = coalesce((SELECT i.inhparent FROM pg_inherits AS i
                                                     WHERE i.inhrelid = p_table),
                                                   p_table)),
                          '_[0-9]{4}_[0-9]{2}$', '')
$$;
COMMENT ON FUNCTION mailqueue.privacy_parent(oid) IS
    'Name of the table that a partition belongs to; of another table, its own.';

-- redact: mentions of the person are replaced; delete: the row is deleted; tell: settings, mentions are reported; or a
-- procedure of its own. NULL: keys, hashes, internal tables, and the record of the erasure itself, which is deleted
-- last. The marker stands for tables of RETAINED in mailqueue/core/retained.py.
CREATE OR REPLACE FUNCTION mailqueue.privacy_action(p_name text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_name = ANY (ARRAY['erasures', 'schema_migrations', 'schema_objects', 'data_keys', 'key_grants',
                                         'address_keys',
                                         'audit_keys', 'audit_seals', 'audit_changes',
                                         'tracking_keys', 'archives', 'lock_rows', 'leases',
                                         'maintenance_tasks', 'console_members', 'console_actions',
                                         'console_attempts', 'console_second_factors', 'console_recovery_codes',
                                         'console_challenges',
                                         'inbox_logins', 'inbox_links',
                                         'server_identity', 'outbox_rows', 'email_order', 'marketing_counts',
                                         'order_signals', 'stats_minutes', 'stats_quarters', 'stats_values',
                                         'stats_corrections', 'stats_state', 'refused_rows', 'queue_keys',
                                          'export_parts', 'import_parts',     -- destroyed by triggers of erasures
                                         'channel_providers', 'time_zones', 'time_zone_offsets',
                                         'time_zone_releases']) THEN NULL
                WHEN p_name IN ('idempotent_answers', 'suppression_lines', 'ab_test_recipients', 'channel_consents',
                                  'muted_senders', 'project_rules')
                     OR '[[DELETED_WITH_A_PERSON]]'::jsonb ? p_name
                     THEN 'delete'
                WHEN p_name IN ('webhook_events', 'inbound_events', 'attachments') THEN p_name
                WHEN mailqueue.is_setting_table(p_name) THEN 'tell'
                ELSE 'redact' END
$$;
COMMENT ON FUNCTION mailqueue.privacy_action(text) IS 'What happens to rows of a table that name an erased person.';

CREATE OR REPLACE FUNCTION mailqueue.privacy_tables()
RETURNS TABLE (name text, parent text, action text, pages bigint, step integer)
LANGUAGE sql STABLE
AS $$
    SELECT c.relname::text, p.name, mailqueue.privacy_action(p.name),
           pg_relation_size(c.oid) / current_setting('block_size')::bigint,
           -- About 16 MB at a time, TOAST included.
           greatest(8, least(2000, 2000 * pg_relation_size(c.oid) / greatest(1, pg_table_size(c.oid))))::integer
      FROM pg_class AS c CROSS JOIN LATERAL (SELECT mailqueue.privacy_parent(c.oid) AS name OFFSET 0) AS p
     WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r'
       -- A table that is not searched is not opened.
       AND CASE WHEN mailqueue.privacy_action(c.relname::text) IS NOT NULL THEN pg_relation_size(c.oid) END > 0
       AND mailqueue.privacy_action(p.name) IS NOT NULL AND EXISTS (SELECT FROM mailqueue.text_columns(c.oid))
     -- Rows that move between tables are searched at their source first.
     ORDER BY p.name <> 'email_queue', p.name <> 'inbound_events', p.name, c.relname
$$;
COMMENT ON FUNCTION mailqueue.privacy_tables() IS
    'Tables with rows that may name a person, the action for such rows, and the number of pages of each.';

CREATE OR REPLACE FUNCTION mailqueue.privacy_table(p_name text) RETURNS oid
LANGUAGE sql STABLE
AS $$
    SELECT c.oid FROM pg_class AS c
     WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relname = p_name::name AND c.relkind = 'r'
       AND mailqueue.privacy_action(mailqueue.privacy_parent(c.oid)) IS NOT NULL
       AND EXISTS (SELECT FROM mailqueue.text_columns(c.oid))
$$;
COMMENT ON FUNCTION mailqueue.privacy_table(text) IS
    'A table that may name a person; NULL if it is not one, or was dropped meanwhile.';

CREATE OR REPLACE FUNCTION mailqueue.text_columns(p_table oid) RETURNS TABLE (name text, kind text)
LANGUAGE sql STABLE
AS $$
    SELECT a.attname::text,
           CASE WHEN t.typname IN ('text', 'varchar', 'bpchar') THEN 'text'
                WHEN t.typname IN ('_text', '_varchar') THEN 'list'
                ELSE t.typname END
      FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
     WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       AND t.typname IN ('text', 'varchar', 'bpchar', '_text', '_varchar', 'json', 'jsonb', 'bytea')
$$;
COMMENT ON FUNCTION mailqueue.text_columns(oid) IS 'Columns of a table that can contain text.';
