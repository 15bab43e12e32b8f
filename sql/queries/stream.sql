-- The stream of events and its consumers.

-- name: list_consumers :many
-- Consumers, and how far each is behind.
SELECT c.name, c.is_ordered, c.takes_test, c.position, c.waiting, c.waiting_since, c.handled_at, c.skipped, c.left_out,
       c.left_out_error, c.last_error, c.is_running
FROM mailqueue.list_consumers() AS c;

-- name: replay_consumer :one
-- Have a consumer handle events again; how many, and the time of the first.
SELECT r.events, r.first_at
FROM mailqueue.replay_consumer(%(name)s, %(since)s::timestamptz, %(is_dry)s, %(by)s) AS r;
