-- no-transaction
-- 0065_inbound_suspects.sql
-- Adds:    an index of inbound_events that are handled alone
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS inbound_events_suspect_idx
    ON mailqueue.inbound_events (run_at) WHERE status = 'pending' AND crashes > 0;
