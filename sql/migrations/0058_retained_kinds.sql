-- 0058_retained_kinds.sql
-- Adds:    retained_kinds, a table of the kinds of records that leave after some days, in place of lists in constraints
-- Running workers: not affected
-- Locks:   retention_rules for a moment; it holds few rows

-- Its rows come from the program at each change of the schema: see functions/upgrade/retained.sql.
CREATE TABLE mailqueue.retained_kinds (
    kind         text    PRIMARY KEY,
    table_name   text    NOT NULL,
    time_column  text    NOT NULL,                           -- the age of a row
    ended_column text,                                       -- null in rows that may not leave yet; NULL: all may
    is_archived  boolean NOT NULL,                           -- leaves by month, to files
    is_swept     boolean NOT NULL,                           -- leaves in batches, by sweep_retained()
    is_global    boolean NOT NULL                            -- no project has a rule of its own
);
COMMENT ON TABLE mailqueue.retained_kinds IS
    'Kinds of records that leave after some days; retention_rules says after how many. Kept by mailqueue migrate: changes made by hand are undone.';

INSERT INTO mailqueue.retained_kinds (kind, table_name, time_column, ended_column, is_archived, is_swept, is_global) VALUES
    ('email_history', 'email_history', 'finished_at', NULL, true, false, false),
    ('send_logs', 'send_logs', 'sent_at', NULL, true, false, false),
    ('email_events', 'email_events', 'occurred_at', NULL, true, false, false),
    ('opens_clicks', 'email_events', 'occurred_at', NULL, true, false, false),
    ('email_contents', 'email_contents', 'created_on', NULL, true, false, false),
    ('attachments', 'attachments', 'created_on', NULL, true, false, false),
    ('idempotency_keys', 'idempotency_keys', 'created_at', NULL, false, false, false),
    ('trap_messages', 'trap_messages', 'received_at', NULL, false, false, true),
    ('webhook_deliveries', 'webhook_deliveries', 'created_at', NULL, false, false, false),
    ('workers', 'workers', 'stopped_at', NULL, false, false, true),
    ('event_keys', 'event_keys', 'recorded_on', NULL, false, false, true),
    ('inbound_events', 'inbound_events', 'received_at', 'finished_at', false, true, true),
    ('limit_days', 'limit_days', 'day', NULL, false, false, true);

-- What these said is said by the trigger of functions/maintenance/retention.sql.
ALTER TABLE mailqueue.retention_rules
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT retention_rules_kind_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT retention_rules_project_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT retention_rules_archived_check,
    -- squawk-ignore adding-foreign-key-constraint,constraint-missing-not-valid
    ADD CONSTRAINT retention_rules_kind_fkey FOREIGN KEY (kind) REFERENCES mailqueue.retained_kinds (kind);
