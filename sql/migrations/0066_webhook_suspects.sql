-- no-transaction
-- 0066_webhook_suspects.sql
-- Adds:    an index of webhook_deliveries that are handled alone
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_suspect_idx
    ON mailqueue.webhook_deliveries (run_at) WHERE status = 'pending' AND crashes > 0;
