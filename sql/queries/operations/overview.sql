-- Overview for operators: lanes, accounts, workers, one mail, the books.

-- name: list_lane_depths :many
-- Lanes that have unfinished mail or sent some within five minutes, most urgent first, with their rate and what blocks
-- them.
WITH depth AS (
    SELECT d.lane_id, d.pending, d.due, d.assigned, d.held, d.oldest_due_at,
           CASE WHEN d.due > 0 THEN coalesce(l.blocked_reason, b.why) END AS blocked_reason,
           CASE WHEN d.due > 0 THEN nullif(coalesce(l.blocked_until, b.until), 'infinity') END AS blocked_until
    FROM mailqueue.lane_depths() AS d
    JOIN mailqueue.lanes AS l ON l.id = d.lane_id
    LEFT JOIN LATERAL mailqueue.headroom_now(0) AS b ON true
), flow AS (
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
FROM depth AS d
FULL JOIN flow AS f ON f.lane_id = d.lane_id
JOIN mailqueue.lanes AS l ON l.id = coalesce(d.lane_id, f.lane_id)
JOIN mailqueue.projects AS p ON p.id = l.project_id
LEFT JOIN mailqueue.pauses AS z ON z.project_id = l.project_id AND z.kind = l.pause_kind AND z.value = l.pause_value
ORDER BY l.priority, p.name, l.route;

-- name: list_senders_today :many
-- All sender accounts with the mail they sent today and may still send.
SELECT h.project, h.sender, h.provider, h.status, h.status_reason, h.daily_sent, h.daily_reserved, h.daily_limit,
       h.headroom, h.daily_bounces, h.daily_errors, h.blocked_reason, h.blocked_until
FROM mailqueue.sender_headroom AS h
ORDER BY h.project, h.sender;

-- name: list_workers_seen :many
-- Workers that run or ended within the last quarter of an hour.
SELECT w.id, w.kind, w.host, w.pid, w.version, w.status, w.started_at, w.silence, w.assigned, w.queues, w.assigned_rows
FROM mailqueue.worker_status AS w
WHERE w.ended_at IS NULL
   OR w.ended_at > clock_timestamp() - interval '15 min'
ORDER BY w.id;

-- name: count_emails_by_status :many
-- Number of mails, finished or not, in each status: counted up to count_exactly, otherwise estimated from statistics.
SELECT c.status, c.emails, c.is_estimate
FROM mailqueue.emails_by_status() AS c;

-- name: count_finished_of_project :many
-- Number of finished mails of a project in each status: counted up to count_exactly, otherwise estimated.
SELECT c.status, c.emails, c.is_estimate
FROM mailqueue.finished_by_status(%(project_id)s) AS c;

-- name: explain_email :value
-- The first reason why a mail was not sent, as text; or its outcome.
SELECT mailqueue.why(%(id)s);

-- name: find_archived_email :maybe
-- How to find a mail that is not in the database in the archive; NULL if none is archived.
SELECT mailqueue.archive_words(%(id)s);

-- name: show_attempts :many
-- Every attempt to send a mail, in order.
SELECT l.attempt, l.sent_at, l.status, l.recipient_email, s.name AS sender, l.error_code AS code, l.enhanced_code,
       l.reply, l.response_ms, l.conversation, l.worker_id
FROM mailqueue.send_logs AS l
LEFT JOIN mailqueue.sender_accounts AS s ON s.id = l.sender_account_id
WHERE l.email_id = %(id)s
ORDER BY l.sent_at, l.id;

-- name: has_sent :value
-- Whether an account of a project, or of any, has ever sent mail; the mail trap does not count.
SELECT mailqueue.has_sent(%(project_id)s::uuid);

-- name: read_books :many
-- Accepted mail of each project and day, compared with its outcomes.
SELECT b.project, b.day, b.accepted::bigint, b.sent, b.failed, b.suppressed, b.expired, b.cancelled, b.queued, b.held,
       b.difference::bigint
FROM mailqueue.books AS b
ORDER BY b.day, b.project;

-- name: describe_server :one
-- Version of the server, encoding of the database and default isolation level.
SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::integer AS version_num,
       pg_encoding_to_char(d.encoding)::text AS encoding,
       current_setting('default_transaction_isolation') AS isolation
FROM pg_catalog.pg_database AS d
WHERE d.datname = current_database();

-- name: list_known_roles :many
-- Those of these roles that exist.
SELECT r.rolname::text
FROM pg_catalog.pg_roles AS r
WHERE r.rolname = ANY (%(names)s);

-- name: read_clock :value
-- The server's clock.
SELECT clock_timestamp();

-- name: list_traffic :many
-- How the attempts of a span ended, by minute and project.
SELECT t.minute, t.project_id, t.sent, t.deferred, t.bounced, t.failed
FROM mailqueue.traffic_board(%(since)s::timestamptz, %(until)s::timestamptz) AS t;

-- name: list_account_board :many
-- How the attempts of each sender account ended since a time, and how long servers took; the slowest first.
SELECT b.project, b.sender, b.provider, b.attempts, b.sent, b.deferred, b.bounced, b.failed, b.median_ms, b.p95_ms
FROM mailqueue.account_board(%(since)s::timestamptz) AS b;
