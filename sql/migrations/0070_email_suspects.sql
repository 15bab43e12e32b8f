-- 0070_email_suspects.sql
-- Adds:    email_queue.crashes
-- Running workers: not affected; they claim mail whatever its crashes until they are restarted
-- Locks:   email_queue for a moment, nothing is rewritten

ALTER TABLE mailqueue.email_queue ADD COLUMN crashes smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN mailqueue.email_queue.crashes IS
    'Above 0: its worker died while the mail was handled, so it is handled alone; each further death then counts.';
