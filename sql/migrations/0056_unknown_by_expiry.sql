-- no-transaction
-- 0056_unknown_by_expiry.sql
-- Adds:    an index that lists queued mail of unknown fate by its expiry
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS email_queue_unknown_idx
    ON mailqueue.email_queue (expires_at) WHERE status = 'pending' AND unknowns > 0;
