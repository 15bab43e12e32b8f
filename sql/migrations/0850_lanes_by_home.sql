-- no-transaction
-- 0850_lanes_by_home.sql
-- Adds:    an index of lanes by the route that they belong to, so that an added account reads those alone that it changes
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS lanes_home_idx
    ON mailqueue.lanes (project_id, (coalesce(home_route, route) COLLATE "C"));
