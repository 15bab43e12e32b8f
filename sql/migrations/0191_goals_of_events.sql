-- no-transaction
-- 0191_goals_of_events.sql
-- Adds:    an index that says whether there are goals which events of mails reach
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS sequence_versions_mail_goal_idx ON mailqueue.sequence_versions (sequence_id)
    WHERE goal ->> 'event' IN ('delivered', 'opened', 'clicked', 'bounced');
