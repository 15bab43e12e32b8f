-- no-transaction
-- 0850_lanes_by_home.sql
-- Adds:    an index of the lanes that stand beside others, so that an added account reads those alone that it changes.
--          Ordinary lanes are not in it: claims write them anew in each index, and they are found by their route.
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS lanes_home_idx ON mailqueue.lanes (project_id, home_route, priority)
 WHERE home_route IS NOT NULL;
