-- no-transaction
-- 0095_newest_queued.sql
-- Adds:    the order in which the newest queued mail is shown
-- Running workers: not affected
-- Locks:   none that anybody waits for
-- Not of assigned mail, which is never much: a claim does not write to it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS email_queue_created_at_idx
    ON mailqueue.email_queue (created_at) WHERE status <> 'assigned';
