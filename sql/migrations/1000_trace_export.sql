-- 1000_trace_export.sql
-- Adds:    trace_export: how far attempts and events are exported as spans of traces
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.trace_export (
    name          text        NOT NULL DEFAULT 'all' PRIMARY KEY,
    exported_to   timestamptz NOT NULL,                      -- what was written before is exported
    after_key     text        NOT NULL DEFAULT '',           -- of what was written at that time, up to this
    horizon       timestamptz NOT NULL,                      -- no transaction commits what was written before
    open_writers  text[]      NOT NULL DEFAULT '{}',         -- transactions that the horizon waits for
    holder        uuid,                                      -- process that exports; NULL: none
    lease_until   timestamptz,
    spans         bigint      NOT NULL DEFAULT 0,
    left_out      bigint      NOT NULL DEFAULT 0,
    last_error    text,                                      -- NULL: the collector took the last page
    exported_at   timestamptz,

    CONSTRAINT trace_export_name_check CHECK (name = 'all'),
    CONSTRAINT trace_export_lease_check CHECK ((holder IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.trace_export IS
    'How far attempts and events of emails are exported as spans of traces: one row once it was turned on.';
