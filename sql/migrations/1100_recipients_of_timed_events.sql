-- no-transaction
-- 1100_recipients_of_timed_events.sql
-- Adds:    an index of the unfinished timed events that name a recipient, which end with its contact
-- Running workers: not affected
-- Locks:   none that a writer waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS timed_events_recipient_idx
    ON mailqueue.timed_events (project_id) WHERE recipient IS NOT NULL AND finished_at IS NULL;
