-- 0105_exhausted_retries.sql
-- Adds:    what becomes of an email whose attempts are used up
-- Running workers: not affected
-- Locks:   retry_ladders for a moment: no row is read or written

ALTER TABLE mailqueue.retry_ladders
    ADD COLUMN on_exhausted text NOT NULL DEFAULT 'fail',    -- fail, or hold for a person
    ADD CONSTRAINT retry_ladders_on_exhausted_check CHECK (on_exhausted IN ('fail', 'hold')) NOT VALID;
