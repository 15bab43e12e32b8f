-- no-transaction
-- 0032_suppressions_by_age.sql
-- Adds:    an index that lists suppressions by their age
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS suppressions_age_idx
    ON mailqueue.suppressions (project_id, id);
