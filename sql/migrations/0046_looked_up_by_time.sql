-- 0046_looked_up_by_time.sql
-- Adds:    indexes of refusals and pauses by their end
-- Running workers: go on
-- Locks:   refusals and pauses against writing while the indexes are built: a moment, they hold few rows

-- Each accepted mail looks for refusals in force, each mark for pauses. Without an index the plan of that look-up scans, and
-- where sequential scans are turned off its cost makes PostgreSQL compile it.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX refusals_valid_until_idx ON mailqueue.refusals (valid_until);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX pauses_until_idx ON mailqueue.pauses (until);
