-- no-transaction
-- 0991_due_mailboxes.sql
-- Adds:    an index by which claims find the inboxes that are due, however many others wait for their next scan
-- Running workers: not affected
-- Locks:   none that writers wait for

CREATE INDEX CONCURRENTLY IF NOT EXISTS mailboxes_due_idx ON mailqueue.mailboxes (run_at) WHERE status = 'pending';
