-- 0080_max_age.sql
-- Adds:    how long a project's mail may wait, by priority
-- Running workers: not affected
-- Locks:   projects for a moment: no row is read or written

ALTER TABLE mailqueue.projects
    ADD COLUMN max_age_hours_critical integer,
    ADD COLUMN max_age_hours_high     integer,
    ADD COLUMN max_age_hours_normal   integer,
    ADD COLUMN max_age_hours_low      integer,
    ADD CONSTRAINT projects_max_age_check CHECK (
        max_age_hours_critical BETWEEN 1 AND 87600 AND max_age_hours_high BETWEEN 1 AND 87600
        AND max_age_hours_normal BETWEEN 1 AND 87600 AND max_age_hours_low BETWEEN 1 AND 87600) NOT VALID;
COMMENT ON COLUMN mailqueue.projects.max_age_hours_critical IS
    'Hours after run_at at which critical mail expires that names no time; NULL: 96.';
COMMENT ON COLUMN mailqueue.projects.max_age_hours_high IS
    'Hours after run_at at which mail of high priority expires that names no time; NULL: 96.';
COMMENT ON COLUMN mailqueue.projects.max_age_hours_normal IS
    'Hours after run_at at which mail of normal priority expires that names no time; NULL: 96.';
COMMENT ON COLUMN mailqueue.projects.max_age_hours_low IS
    'Hours after run_at at which mail of low priority expires that names no time; NULL: 96.';
