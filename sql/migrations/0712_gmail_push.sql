-- 0712_gmail_push.sql
-- Adds:    mailboxes.push_asked_at
-- Running workers: not affected
-- Locks:   mailboxes for a moment, nothing is rewritten

ALTER TABLE mailqueue.mailboxes
    ADD COLUMN push_asked_at timestamptz;                    -- NULL: its server was not asked to push
