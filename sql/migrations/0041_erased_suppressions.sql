-- no-transaction
-- 0041_erased_suppressions.sql
-- Adds:    an index that keeps suppressions apart that know an address by its hash only
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS suppressions_erased_key
    ON mailqueue.suppressions (project_id, address_hash, category) WHERE address IS NULL;
