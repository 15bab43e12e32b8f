-- no-transaction
-- 0851_lanes_by_rule.sql
-- Adds:    an index of the lanes of routing rules that are gone: such lanes have 0 as their rule
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS lanes_rule_idx ON mailqueue.lanes (project_id) WHERE rule_id = 0;
