-- 0049_marks_newest_first.sql
-- Alters:  send_intents: its rows are found newest version first
-- Running workers: go on; a mark that is being written is waited for
-- Locks:   send_intents for a moment: it holds a row for each worker

-- No unique index on purpose: under a long snapshot every look-up by one would walk all dead versions.
ALTER TABLE mailqueue.send_intents
    ADD COLUMN rev bigint NOT NULL DEFAULT 0,               -- rises with each mark; the newest row counts
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT send_intents_pkey;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX send_intents_newest_idx ON mailqueue.send_intents (worker_id, rev DESC);
