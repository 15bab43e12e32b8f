-- 0060_queue_kernel.sql
-- Adds:    workers.queues and inbound_events.crashes
-- Running workers: not affected; they go on with functions of their own until they are restarted
-- Locks:   workers and inbound_events for a moment, nothing is rewritten

ALTER TABLE mailqueue.workers ADD COLUMN queues text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN mailqueue.workers.queues IS
    'Queues of the kernel that this process works on; mail itself is not among them.';

ALTER TABLE mailqueue.inbound_events ADD COLUMN crashes smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN mailqueue.inbound_events.crashes IS
    'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.';
