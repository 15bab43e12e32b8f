-- no-transaction
-- 0071_email_suspects_index.sql
-- Adds:    an index of queued mail that is handled alone
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS email_queue_suspect_idx
    ON mailqueue.email_queue (run_at) WHERE status = 'pending' AND crashes > 0;
