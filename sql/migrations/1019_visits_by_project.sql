-- 1019_visits_by_project.sql
-- Adds:    an index that lists the opens and clicks of a project by their time
-- Running workers: of the release before work on
-- Locks:   email_events while an index of opens and clicks is built: some seconds for ten million

-- A partitioned table is not indexed concurrently; mail that is not tracked pays nothing.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_events_visits_idx ON mailqueue.email_events (project_id, type, occurred_at, id)
    WHERE type IN ('opened', 'clicked');
