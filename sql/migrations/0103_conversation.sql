-- 0103_conversation.sql
-- Adds:    what was said at attempts that were not accepted
-- Running workers: not affected
-- Locks:   send_logs for a moment

ALTER TABLE mailqueue.send_logs ADD COLUMN conversation jsonb;
