-- Administration over all projects.

-- name: add_administrator :value
-- Add an administrator, who authenticates by a token; only the hash of the token is stored.
SELECT mailqueue.add_administrator(%(name)s::text, %(hash)s::bytea, %(hint)s::text, %(expires_at)s::timestamptz,
                                   %(by)s::text);

-- name: revoke_administrator :value
-- Revoke an administrator's token immediately.
SELECT mailqueue.revoke_administrator(%(name)s::text, %(by)s::text);

-- name: find_administrator :maybe
-- Name of the administrator with a valid token of that hash.
SELECT mailqueue.find_administrator(%(hash)s::bytea);

-- name: list_administrators :many
-- All administrators with a token, valid or not, newest first.
SELECT a.id, a.name, a.hint, a.created_by, a.created_at, a.expires_at, a.revoked_at, a.last_used_at
FROM mailqueue.administrators AS a
ORDER BY a.created_at DESC, a.id DESC;

-- name: list_settings :many
-- Every setting and flag of the installation, by name.
SELECT s.name, s.value, s.kind, s.meaning, s.changed_at
FROM mailqueue.settings_of_installation() AS s;

-- name: change_setting :value
-- Change a setting or flag; false if it had that value.
SELECT mailqueue.change_setting(%(name)s::text, %(value)s::text, %(by)s::text);

-- name: revoke_keys :many
-- Revoke keys of all projects: of a project, with a prefix, with a hash; all without a filter.
SELECT r.project, r.name, r.hint
FROM mailqueue.revoke_keys(%(project)s::text, %(prefix)s::text, %(hash)s::bytea, %(reason)s::text, %(by)s::text) AS r;

-- name: search_events :many
-- Events and attempts of all projects, each newest first, with a limit for each.
SELECT e.source, e.event_id, e.attempt_id, e.occurred_at, e.type, e.project, e.email_id, e.recipient, e.sender, e.detail
FROM mailqueue.search_events(%(project_id)s::uuid, %(type)s::text, %(recipient)s::text, %(since)s::timestamptz,
                             %(until)s::timestamptz,
                             %(before_event)s::uuid, %(before_attempt)s::bigint, %(most)s::integer) AS e;

-- name: list_queue_board :many
-- Unfinished mail of each lane of all projects, most urgent first.
SELECT q.project, q.priority, q.route, q.pending, q.due, q.assigned, q.held, q.oldest_due_at, q.blocked_reason,
       q.blocked_until, q.is_estimate
FROM mailqueue.queue_board() AS q;

-- name: list_queue_states :many
-- State of each queue besides mail.
SELECT c.queue, c.due, c.oldest_due AS oldest_due_at, c.scheduled, c.assigned, c.suspects AS alone,
       c.failed AS failed_last_day, c.workers
FROM mailqueue.queue_counts() AS c
ORDER BY c.queue;

-- name: count_outcome_board :many
-- Number of mails in each status: counted up to count_exactly, otherwise estimated from statistics.
SELECT s.status, s.emails, s.is_estimate
FROM mailqueue.outcome_board() AS s;

-- name: list_flow_board :many
-- Outcomes of attempts in the last minute, five minutes and hour.
SELECT f.minutes, f.sent, f.deferred, f.bounced, f.failed, f.sent_per_second
FROM mailqueue.flow_board() AS f;

-- name: list_worker_board :many
-- Workers that run or ended within the last hour, newest first.
SELECT w.id, w.kind, w.host, w.pid, w.version, w.status, w.started_at, w.beat_at,
       extract(epoch FROM w.silence)::double precision AS silent_seconds, w.assigned, w.is_parked, w.ended_at,
       w.queues, w.assigned_rows
FROM mailqueue.worker_status AS w
WHERE w.ended_at IS NULL
   OR w.ended_at > clock_timestamp() - interval '1 hour'
ORDER BY w.id DESC;

-- name: list_provider_board :many
-- All sender accounts; those that need attention first.
SELECT b.project, b.sender, b.provider, b.status, b.status_reason, b.circuit, b.circuit_since, b.next_probe_at,
       b.recent_failures, b.recent_sent, b.failures, b.last_errors, b.last_failed_at, b.recommendation, b.daily_sent,
       b.daily_limit, b.headroom, b.blocked_reason, b.blocked_until
FROM mailqueue.provider_board() AS b;

-- name: list_health_board :many
-- Result of each check of the installation.
SELECT h.name, h.state, h.found, h.fix
FROM mailqueue.health_board() AS h;

-- name: list_project_retention :many
-- How long each kind of record of a project is kept.
SELECT r.kind, r.hot_days, r.warm_days, r.keep_days, r.is_own
FROM mailqueue.retention AS r
WHERE r.project_id = %(project_id)s::uuid
ORDER BY r.kind;
