-- 0047_lock_rows.sql
-- Adds:    lock_rows
-- Running workers: go on
-- Locks:   none that others wait for

-- Rows that are locked and never written: a lock on a row is taken by those only who may write its table, and leaves no dead row.
CREATE TABLE mailqueue.lock_rows (
    name text NOT NULL PRIMARY KEY
);
INSERT INTO mailqueue.lock_rows (name) SELECT n::text FROM generate_series(0, 1023) AS n;
INSERT INTO mailqueue.lock_rows (name) VALUES ('partitions'), ('send rate'), ('lanes of domains');
COMMENT ON TABLE mailqueue.lock_rows IS
    'Rows to lock for the length of one transaction, by functions only: three by name, and 0 to 1023 for lock_key(). Never written.';
