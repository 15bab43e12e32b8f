-- What came back about mail that left.

-- name: record_events :many
-- Record what happened to mails with all that follows from it; gives for each of them, in their order, what became of it.
SELECT r.n, r.result
FROM mailqueue.record_events(%(events)s::jsonb) AS r
ORDER BY r.n;
