-- 0062_webhooks_kernel.sql
-- Adds:    webhook_deliveries.worker_id and crashes, and an index of rows that are handled alone
-- Running workers: not affected; they go on with functions of their own until they are restarted
-- Locks:   webhook_deliveries for a moment, nothing is rewritten; the index is of rows that are there by then: none

ALTER TABLE mailqueue.webhook_deliveries
    ADD COLUMN worker_id integer,
    ADD COLUMN crashes smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN mailqueue.webhook_deliveries.crashes IS
    'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.';
CREATE INDEX webhook_deliveries_suspect_idx ON mailqueue.webhook_deliveries (run_at)
    WHERE status = 'pending' AND crashes > 0;
