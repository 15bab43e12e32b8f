-- 0097_newest_finished.sql
-- Adds:    the order in which the newest finished mail is shown. In exchange one index of send_logs instead of two,
--          smaller keys of queued mail and of signals, and sequences that give a session many numbers at once
-- Running workers: not affected
-- Locks:   email_history against writing and send_logs while their indexes are built: as long as it takes to read them.
--          lane_signals while it is rewritten: a moment, it holds few rows

-- Concurrent builds are not possible on partitioned tables.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_created_at_idx ON mailqueue.email_history (created_at);

-- Each attempt wrote to two indexes. Nothing looks for an attempt by its id alone. A key of a partitioned table cannot be
-- built beforehand.
ALTER TABLE mailqueue.send_logs
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT send_logs_pkey,
    -- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
    ADD CONSTRAINT send_logs_pkey PRIMARY KEY (email_id, sent_at, id);
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX mailqueue.send_logs_email_idx;

-- email_queue_due_idx takes its place.
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX mailqueue.email_queue_claim_idx;
-- squawk-ignore renaming-object
ALTER INDEX mailqueue.email_queue_due_idx RENAME TO email_queue_claim_idx;

-- Signals are read in the order of their transactions, and deleted by their place in the table. One is written by a call,
-- which cannot bring 2 GiB.
ALTER TABLE mailqueue.lane_signals
    -- squawk-ignore ban-drop-column
    DROP COLUMN id,
    -- squawk-ignore changing-column-type
    ALTER COLUMN bytes TYPE integer;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX lane_signals_order_idx ON mailqueue.lane_signals (xid);
DELETE FROM mailqueue.usage_carries;
-- squawk-ignore renaming-column
ALTER TABLE mailqueue.usage_carries RENAME COLUMN first_id TO first_place;

-- A session takes several numbers at once: ids tell rows apart, between sessions they have no order.
ALTER SEQUENCE mailqueue.email_contents_id_seq CACHE 32;
ALTER SEQUENCE mailqueue.send_logs_id_seq CACHE 32;
