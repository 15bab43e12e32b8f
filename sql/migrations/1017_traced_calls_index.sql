-- no-transaction
-- 1017_traced_calls_index.sql
-- Adds:    an index of the calls of webhooks whose span is not exported yet
-- Running workers: not affected
-- Locks:   none that a writer waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_attempts_trace_idx
    ON mailqueue.webhook_attempts (tried_at) WHERE awaits_trace;
