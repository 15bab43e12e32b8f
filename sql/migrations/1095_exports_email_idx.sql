-- no-transaction
-- 1095_exports_email_idx.sql
-- Adds:    the index that finds the export of an email's link
-- Running workers: not affected
-- Locks:   none that a writer waits for
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS exports_email_idx ON mailqueue.exports (email_id)
    WHERE email_id IS NOT NULL;
