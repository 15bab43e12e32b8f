-- no-transaction
-- 0031_suppressions_by_hash.sql
-- Adds:    an index that finds a suppression by its hash
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS suppressions_address_hash_idx
    ON mailqueue.suppressions (project_id, address_hash);
