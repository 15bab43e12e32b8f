-- no-transaction
-- 0096_due_order.sql
-- Adds:    the order in which mail of a lane is claimed, without ids, which cost each mail 16 bytes
-- Running workers: not affected
-- Locks:   none that anybody waits for
-- Claims mark the entries of mail that has gone, one by one: they are not merged.
CREATE INDEX CONCURRENTLY IF NOT EXISTS email_queue_due_idx
    ON mailqueue.email_queue (lane_id, run_at) WITH (deduplicate_items = off) WHERE status = 'pending';
