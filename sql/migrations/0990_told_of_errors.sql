-- 0990_told_of_errors.sql
-- Adds:    tell_at and told_at of notification_channels and mailboxes: persons are mailed of errors
-- Running workers: not affected; those of the release before mail nothing
-- Locks:   notification_channels and mailboxes for a moment; index builds on both

ALTER TABLE mailqueue.notification_channels
    ADD COLUMN tell_at timestamptz,                          -- NULL: there is nothing to tell
    ADD COLUMN told_at timestamptz;                          -- NULL: not yet
ALTER TABLE mailqueue.mailboxes
    ADD COLUMN tell_at timestamptz,
    ADD COLUMN told_at timestamptz;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX notification_channels_tell_idx ON mailqueue.notification_channels (tell_at) WHERE tell_at IS NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX mailboxes_tell_idx ON mailqueue.mailboxes (tell_at) WHERE tell_at IS NOT NULL;
