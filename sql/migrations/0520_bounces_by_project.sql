-- 0520_bounces_by_project.sql
-- Adds:    an index that lists the bounces and complaints of a project by their time
-- Running workers: of the release before work on
-- Locks:   email_events while an index of few rows is built: a second for some million rows

-- Few events are of these kinds, and only they pay for it.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_events_bounces_idx ON mailqueue.email_events (project_id, occurred_at, id)
    WHERE type IN ('hard_bounce', 'soft_bounce', 'complaint');
