-- Enqueueing from Python; the SQL functions have the rules and the wording of errors.

-- name: enqueue_batch :many
-- Accept many mails in the caller's transaction; a row for each in order, including rejected ones. Raises MQ004 if a
-- key is no longer valid.
SELECT b.index, b.id, b.status, b.reason, b.refusal
FROM mailqueue.accept_batch(
        mailqueue.project_of_keys(%(project)s, %(keys)s::uuid[]), %(messages)s::jsonb) AS b
ORDER BY b.index;
