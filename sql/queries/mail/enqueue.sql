-- Enqueueing from Python; the SQL functions have the rules and the wording of errors.

-- name: enqueue_batch :many
-- Accept many mails in the caller's transaction; a row for each in order, including rejected ones.
SELECT b.index, b.id, b.status, b.reason, b.refusal
FROM mailqueue.accept_batch(%(project)s, %(messages)s::jsonb) AS b
ORDER BY b.index;
