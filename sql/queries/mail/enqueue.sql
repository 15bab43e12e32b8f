-- Handing mail in from Python; what is accepted and in which words it is refused stands in the functions.

-- name: enqueue_batch :many
-- Accept many mails in the caller's transaction; a row for each in order, also for those refused.
SELECT b.index, b.id, b.status, b.reason
FROM mailqueue.enqueue_batch(%(project)s, %(messages)s::jsonb) AS b
ORDER BY b.index;
