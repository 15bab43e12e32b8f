-- 1016_traced_calls.sql
-- Adds:    awaits_trace of webhook_attempts: calls whose span is not exported yet
-- Running workers: go on; calls by those of the version before have no span
-- Locks:   webhook_attempts for a moment: no row is read or written

ALTER TABLE mailqueue.webhook_attempts ADD COLUMN awaits_trace boolean;
