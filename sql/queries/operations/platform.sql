-- The whole installation: pausing all sending, and workers that claim nothing more.

-- name: find_platform_pause :maybe
-- The pause of all sending that is in force.
SELECT NULL AS project, 'platform' AS kind, 'platform' AS name, z.reason, z.until, z.actor, z.since
FROM mailqueue.platform_pause() AS z
WHERE z.since IS NOT NULL;

-- name: pause_platform :value
-- Pause all sending; the number of the operation.
SELECT mailqueue.pause_platform(coalesce(%(until)s::timestamptz, clock_timestamp() + %(wait)s::interval),
                                %(reason)s::text, %(by)s::text);

-- name: resume_platform :value
-- End the pause of all sending; false if there was none.
SELECT mailqueue.resume_platform(%(by)s::text);

-- name: count_waiting :one
-- Number of queued emails that a pause would stop, of the first 100,000.
SELECT c.emails, c.is_more
FROM mailqueue.count_waiting(%(project_id)s::uuid, %(kind)s::text, %(name)s::text) AS c;

-- name: drain_workers :many
-- Let workers claim nothing more, or claim again; ids of those that were changed.
SELECT d.id
FROM mailqueue.drain_workers(%(worker)s::integer, %(host)s::text, %(is_drained)s, %(by)s::text) AS d(id);
