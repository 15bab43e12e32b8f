-- 0062_webhooks_kernel.sql
-- Adds:    webhook_deliveries.worker_id and crashes
-- Running workers: not affected; they go on with functions of their own until they are restarted
-- Locks:   webhook_deliveries for a moment, nothing is rewritten

ALTER TABLE mailqueue.webhook_deliveries
    ADD COLUMN worker_id integer,
    ADD COLUMN crashes smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN mailqueue.webhook_deliveries.crashes IS
    'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.';
