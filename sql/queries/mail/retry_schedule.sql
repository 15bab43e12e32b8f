-- Retry schedules of projects.

-- name: set_retry_schedule :run
-- Set the retry schedule of a category of a project, '' for every category without one of its own.
INSERT INTO mailqueue.retry_ladders (project_id, category, steps, max_attempts, soft_wait, soft_retries, on_exhausted)
VALUES (%(project_id)s, %(category)s, %(steps)s::interval[], %(max_attempts)s, %(soft_wait)s, %(soft_retries)s,
        %(on_exhausted)s)
ON CONFLICT (project_id, category) DO UPDATE
SET steps = excluded.steps, max_attempts = excluded.max_attempts, soft_wait = excluded.soft_wait,
    soft_retries = excluded.soft_retries, on_exhausted = excluded.on_exhausted;

-- name: drop_retry_schedule :run
-- Remove the retry schedule of a category, so that the project's applies, or of the project, so that the default
-- applies.
DELETE FROM mailqueue.retry_ladders
WHERE project_id = %(project_id)s
  AND category = %(category)s;

-- name: list_retry_schedules :many
-- The retry schedules of a project, that of all categories first.
SELECT category, steps, max_attempts, soft_wait, soft_retries, on_exhausted
FROM mailqueue.retry_ladders
WHERE project_id = %(project_id)s
ORDER BY category;
