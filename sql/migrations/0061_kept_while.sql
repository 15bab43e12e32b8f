-- 0061_kept_while.sql
-- Adds:    retained_kinds.else_column and kept_while, so that one function deletes kinds that had statements of their own
-- Running workers: not affected
-- Locks:   none but retained_kinds, which holds few rows

ALTER TABLE mailqueue.retained_kinds
    ADD COLUMN else_column text,                             -- the age of rows in which time_column is null
    ADD COLUMN kept_while  text;                             -- condition under which a row o stays after its retention
