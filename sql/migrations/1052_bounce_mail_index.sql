-- no-transaction
-- 1052_bounce_mail_index.sql
-- Adds:    an index of a project's bounce mail, newest first
-- Running workers: not affected
-- Locks:   none that a writer waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS inbound_events_mail_idx
    ON mailqueue.inbound_events (project_id, id) WHERE provider = 'smtp';
