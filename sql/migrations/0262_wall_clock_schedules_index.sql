-- no-transaction
-- 0262_wall_clock_schedules_index.sql
-- Adds:    an index of schedules that run once and are computed again by newer rules of time zones
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS schedules_wall_clock_idx ON mailqueue.schedules (zone_release, id)
    WHERE finished_at IS NULL AND is_wall_clock;
