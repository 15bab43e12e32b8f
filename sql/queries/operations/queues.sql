-- Rows of the queues besides mail, for operators.

-- name: list_queue_rows :many
-- Rows of one queue or of all, newest first.
SELECT r.queue, r.id, r.project_id, r.status, r.priority, r.run_at, r.attempts, r.max_attempts, r.crashes, r.worker_id,
       r.assigned_at, r.lease_until, r.last_error, r.created_at, r.finished_at
FROM mailqueue.queue_rows(%(queue)s::text, %(status)s::text,
                          (SELECT p.id FROM mailqueue.projects AS p WHERE p.name = %(project)s::text),
                          %(id)s::uuid, %(limit)s::integer) AS r;

-- name: list_queue_keys :many
-- Keys of queues that are in trouble.
SELECT k.queue, k.key, k.subject, k.project, k.circuit, k.failures, k.failing_since, k.blocked_until, k.last_error
FROM mailqueue.list_queue_keys() AS k;

-- name: requeue_queue_rows :many
-- Queue rows again that failed or are held; how many of each queue.
SELECT r.queue, r.rows
FROM mailqueue.requeue_queue_rows(%(ids)s::uuid[], %(by)s::text) AS r
WHERE r.rows > 0;

-- name: cancel_queue_rows :many
-- Fail rows that wait; how many of each queue.
SELECT r.queue, r.rows
FROM mailqueue.cancel_queue_rows(%(ids)s::uuid[], %(by)s::text) AS r
WHERE r.rows > 0;
