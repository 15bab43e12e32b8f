-- 0101_sender_last_used.sql
-- Adds:    the time at which a sender account was last used
-- Running workers: not affected
-- Locks:   sender_accounts for a moment: no row is read or written

ALTER TABLE mailqueue.sender_accounts ADD COLUMN last_used_at timestamptz;
