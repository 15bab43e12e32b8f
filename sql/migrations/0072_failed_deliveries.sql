-- no-transaction
-- 0072_failed_deliveries.sql
-- Adds:    an index of webhook_deliveries that failed, for the counts and checks of queues
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_failed_idx
    ON mailqueue.webhook_deliveries (finished_at) WHERE status = 'failed';
