-- 0108_maintenance_took.sql
-- Adds:    how long the last run of a maintenance task took
-- Running workers: not affected; they leave it as it is
-- Locks:   maintenance_tasks for a moment: no row is read or written

ALTER TABLE mailqueue.maintenance_tasks ADD COLUMN last_took interval;
