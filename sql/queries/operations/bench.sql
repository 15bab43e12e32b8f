-- Benchmarks on a real database: a project of its own, deleted afterwards.

-- name: find_bench_obstacles :one
-- Other mail that waits or is in flight, and workers that would take part in a measurement.
SELECT (SELECT count(*) FROM (SELECT FROM mailqueue.email_queue AS q
         WHERE q.status IN ('pending', 'assigned') LIMIT 1000) AS waiting) AS emails,
       (SELECT count(*) FROM mailqueue.workers AS w
         WHERE w.stopped_at IS NULL AND w.lost_at IS NULL
           AND w.beat_at > clock_timestamp() - interval '30 seconds') AS workers;

-- name: start_bench :value
-- Create the project; triggers create its lanes.
INSERT INTO mailqueue.projects (name) VALUES (%(name)s) RETURNING id;

-- name: add_bench_sender :value
-- Add a sender account that leads to the benchmark's own server, paused.
INSERT INTO mailqueue.sender_accounts
    (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok, status)
VALUES (%(project)s, 'bench', 'bench@example.com', '127.0.0.1', %(port)s, 'none', true, 'paused')
RETURNING id;

-- name: resume_bench_sender :run
-- Activate it.
UPDATE mailqueue.sender_accounts SET status = 'active' WHERE id = %(account)s;

-- name: ping :value
-- Nothing: measures the round trip.
SELECT 1;

-- name: read_bench_progress :one
-- Number of mails of the project that were sent, and the total duration in seconds.
SELECT count(*) AS sent,
       coalesce(extract(epoch FROM max(h.finished_at)), 0)::double precision AS ended_at
FROM mailqueue.email_history AS h
WHERE h.campaign_id = %(name)s AND h.status = 'sent';

-- name: read_instant :value
-- The server's clock, in seconds.
SELECT extract(epoch FROM clock_timestamp())::double precision;

-- name: allow_by_hand :value
-- Allow statements in this transaction that guards refuse outside of functions.
SELECT set_config('mailqueue.by_hand', 'on', true);

-- name: erase_bench :run
-- Delete every row of the project in all tables.
WITH done AS (
    DELETE FROM mailqueue.email_history AS h
     WHERE h.campaign_id = %(name)s AND h.project_id = %(project)s RETURNING h.id, h.content_id, h.content_on
), undone AS (
    DELETE FROM mailqueue.email_queue AS q WHERE q.project_id = %(project)s RETURNING q.id, q.content_id, q.content_on
), mails AS (
    SELECT * FROM done UNION ALL SELECT * FROM undone
), said AS (
    DELETE FROM mailqueue.email_contents AS c USING mails AS m WHERE c.id = m.content_id AND c.created_on = m.content_on
), logged AS (
    DELETE FROM mailqueue.send_logs AS l USING mails AS m WHERE l.email_id = m.id
), told AS (
    DELETE FROM mailqueue.email_events AS e USING mails AS m WHERE e.email_id = m.id
), counted AS (
    DELETE FROM mailqueue.accepted_days AS a WHERE a.project_id = %(project)s
), bounds AS (
    DELETE FROM mailqueue.limits AS m WHERE m.project_id = %(project)s RETURNING m.id
), counters AS (
    DELETE FROM mailqueue.limit_counters AS c USING bounds AS b WHERE c.limit_id = b.id
), days AS (
    DELETE FROM mailqueue.limit_days AS d USING bounds AS b WHERE d.limit_id = b.id
), turns AS (
    DELETE FROM mailqueue.lanes AS l WHERE l.project_id = %(project)s RETURNING l.id
), signals AS (
    DELETE FROM mailqueue.lane_signals AS s USING turns AS t WHERE s.lane_id = t.id
), senders AS (
    DELETE FROM mailqueue.sender_accounts AS s WHERE s.project_id = %(project)s
)
DELETE FROM mailqueue.projects AS p WHERE p.id = %(project)s;
