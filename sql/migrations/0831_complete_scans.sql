-- 0831_complete_scans.sql
-- Adds:    mailboxes.caught_up_at, by which mail of a backlog is told from mail that was moved
-- Running workers: not affected
-- Locks:   mailboxes for a moment, nothing is rewritten

ALTER TABLE mailqueue.mailboxes ADD COLUMN caught_up_at timestamptz;
