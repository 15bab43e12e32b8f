-- no-transaction
-- 0240_failed_deliveries.sql
-- Adds:    an index of webhook_deliveries that were not delivered, so that they are found and counted among many
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_undelivered_idx
    ON mailqueue.webhook_deliveries (webhook_id, id) WHERE status IN ('failed', 'cancelled');
