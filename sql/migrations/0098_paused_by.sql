-- 0098_paused_by.sql
-- Adds:    who paused a project or a sender account, and when
-- Running workers: not affected
-- Locks:   projects and sender_accounts for a moment: no row is read or written

ALTER TABLE mailqueue.projects
    ADD COLUMN paused_by text,
    ADD COLUMN paused_at timestamptz;
ALTER TABLE mailqueue.sender_accounts
    ADD COLUMN paused_by text,
    ADD COLUMN paused_at timestamptz;
