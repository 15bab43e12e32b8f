-- What an operator asks: what waits, what became of one mail, is the set-up sound, do the books add up.

-- name: list_lane_depths :many
-- Lanes that have unfinished mail or sent some within five minutes, most urgent first, with their rate and what blocks them.
WITH flow AS (
    SELECT h.lane_id, count(*) AS sent
    FROM mailqueue.email_history AS h
    WHERE h.finished_at > now() - interval '5 min' AND h.status = 'sent'
    GROUP BY h.lane_id
)
SELECT p.name AS project, l.priority, coalesce(nullif(coalesce(l.home_route, l.route), ''), 'default') AS route,
       coalesce(d.pending, 0) AS pending, coalesce(d.due, 0) AS due, coalesce(d.assigned, 0) AS assigned,
       coalesce(d.held, 0) AS held, d.oldest_due_at, clock_timestamp() - d.oldest_due_at AS oldest_wait,
       (coalesce(f.sent, 0) / 5.0)::float8 AS sent_per_minute,
       CASE WHEN d.blocked_reason NOT IN ('empty', 'not_due', 'recheck') THEN d.blocked_reason END AS blocked_reason,
       CASE d.blocked_reason
            WHEN 'set_aside' THEN l.pause_kind || ' ' || l.pause_value || ' is paused' || coalesce(': ' || z.reason, '')
            WHEN 'domain_rate' THEN 'the rate of ' || l.pause_value
            WHEN 'brake' THEN 'MAILQUEUE_MAX_SEND_RATE' END AS blocked_by,
       CASE WHEN d.blocked_reason NOT IN ('empty', 'not_due', 'recheck') THEN d.blocked_until END AS blocked_until
FROM mailqueue.queue_depth AS d
FULL JOIN flow AS f ON f.lane_id = d.lane_id
JOIN mailqueue.lanes AS l ON l.id = coalesce(d.lane_id, f.lane_id)
JOIN mailqueue.projects AS p ON p.id = l.project_id
LEFT JOIN mailqueue.pauses AS z ON z.project_id = l.project_id AND z.kind = l.pause_kind AND z.value = l.pause_value
ORDER BY l.priority, p.name, l.route;

-- name: list_senders_today :many
-- Every sender account with what it sent today and may still send.
SELECT h.project, h.sender, h.provider, h.status, h.status_reason, h.daily_sent, h.daily_reserved, h.daily_limit,
       h.headroom, h.daily_bounces, h.daily_errors, h.blocked_reason, h.blocked_until
FROM mailqueue.sender_headroom AS h
ORDER BY h.project, h.sender;

-- name: list_workers_seen :many
-- Workers that run or ended within the last quarter of an hour.
SELECT w.id, w.kind, w.host, w.pid, w.version, w.status, w.started_at, w.silence, w.assigned
FROM mailqueue.worker_status AS w
WHERE w.ended_at IS NULL
   OR w.ended_at > clock_timestamp() - interval '15 min'
ORDER BY w.id;

-- name: count_emails_by_status :many
-- All mail, finished or not, by what it is now.
SELECT q.status, count(*) AS emails
FROM mailqueue.email_queue AS q
GROUP BY q.status
UNION ALL
SELECT h.status, count(*)
FROM mailqueue.email_history AS h
GROUP BY h.status;

-- name: show_email :maybe
-- One mail, finished or not.
SELECT e.id, e.project, e.project_id, e.status, e.reason, e.priority, e.category, e.recipient_email, e.recipient_name,
       e.subject, e.campaign_id, e.tags, e.created_at, e.run_at, e.finished_at, e.expires_at, e.attempts,
       e.max_attempts, e.recipients, e.delivery, e.sender, e.worker_id, e.last_error, e.message_id
FROM mailqueue.emails AS e
WHERE e.id = %(id)s
ORDER BY e.finished_at DESC NULLS LAST
LIMIT 1;

-- name: explain_email :value
-- The first reason a mail has not been sent, in words; or what became of it.
SELECT mailqueue.why(%(id)s);

-- name: show_attempts :many
-- Every try to hand a mail over, in order.
SELECT l.attempt, l.sent_at, l.status, s.name AS sender, l.worker_id, l.error_code, l.enhanced_code, l.reply,
       l.response_ms
FROM mailqueue.send_logs AS l
LEFT JOIN mailqueue.sender_accounts AS s ON s.id = l.sender_account_id
WHERE l.email_id = %(id)s
ORDER BY l.sent_at, l.id;

-- name: show_recipients :many
-- The recipients of a mail that has several, in order.
SELECT r.kind, r.address, r.name, r.status, r.reason, r.reply_code, r.settled_at
FROM mailqueue.email_recipients AS r
WHERE r.email_id = %(id)s
ORDER BY r.position;

-- name: read_books :many
-- Accepted mail of each project and day against what became of it.
SELECT b.project, b.day, b.accepted::bigint, b.sent, b.failed, b.suppressed, b.expired, b.cancelled, b.queued, b.held,
       b.difference::bigint
FROM mailqueue.books AS b
ORDER BY b.day, b.project;

-- name: describe_server :one
-- What the server is and how it keeps what it says it has written.
SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::integer AS version_num,
       pg_encoding_to_char(d.encoding)::text AS encoding,
       current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('default_transaction_isolation') AS isolation
FROM pg_catalog.pg_database AS d
WHERE d.datname = current_database();

-- name: list_known_roles :many
-- Which of these roles the server knows.
SELECT r.rolname::text
FROM pg_catalog.pg_roles AS r
WHERE r.rolname = ANY (%(names)s);

-- name: list_partition_ends :many
-- Until which day each partitioned table has partitions, and how many days that leaves.
SELECT p.relname::text AS name,
       (max(to_date(right(c.relname, 7), 'YYYY_MM')) + interval '1 month')::date AS until,
       (max(to_date(right(c.relname, 7), 'YYYY_MM')) + interval '1 month')::date
           - (clock_timestamp() AT TIME ZONE 'UTC')::date AS days_left
FROM pg_catalog.pg_class AS p
LEFT JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.oid
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
WHERE p.relnamespace = 'mailqueue'::regnamespace
  AND p.relkind = 'p'
GROUP BY p.relname
ORDER BY p.relname;

-- name: list_lanes_without_sender :many
-- Projects and routes with unfinished mail that no sender account will ever take.
SELECT p.name AS project, CASE l.route WHEN '' THEN 'default' ELSE l.route END AS route
FROM mailqueue.lanes AS l
JOIN mailqueue.projects AS p ON p.id = l.project_id
WHERE l.account_limits = '{}'
  AND EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.lane_id = l.id)
GROUP BY p.name, l.route
ORDER BY p.name, l.route;

-- name: list_long_transactions :many
-- Transactions older than a minute in this database; they keep dead rows from being removed.
SELECT a.pid, a.application_name, coalesce(a.state, '') AS state,
       clock_timestamp() - a.xact_start AS age
FROM pg_catalog.pg_stat_activity AS a
WHERE a.datname = current_database()
  AND a.backend_type = 'client backend'
  AND a.pid <> pg_backend_pid()
  AND a.xact_start < clock_timestamp() - %(older_than)s::interval
ORDER BY a.xact_start;

-- name: count_stale_waiters :value
-- Parked workers that are no more: each keeps every commit ringing.
SELECT count(*)
FROM mailqueue.waiters AS x
LEFT JOIN mailqueue.workers AS w ON w.id = x.worker_id
WHERE w.id IS NULL
   OR w.stopped_at IS NOT NULL
   OR w.lost_at IS NOT NULL
   OR w.beat_at < clock_timestamp() - interval '10 min';
