-- 1012_tell_failures.sql
-- Adds:    tell_failures of notification_channels and mailboxes: a refused mail about an error is tried again soon
-- Running workers: not affected
-- Locks:   notification_channels and mailboxes for a moment: no row is read or written

ALTER TABLE mailqueue.notification_channels ADD COLUMN tell_failures smallint NOT NULL DEFAULT 0;
ALTER TABLE mailqueue.mailboxes ADD COLUMN tell_failures smallint NOT NULL DEFAULT 0;
