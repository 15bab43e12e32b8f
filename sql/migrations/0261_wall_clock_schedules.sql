-- 0261_wall_clock_schedules.sql
-- Adds:    schedules.is_wall_clock: the time of a schedule that runs once was given on the clock of its time zone
-- Running workers: not affected; schedules of before keep their instants
-- Locks:   schedules, for a moment

ALTER TABLE mailqueue.schedules ADD COLUMN is_wall_clock boolean NOT NULL DEFAULT false;
