-- Sender accounts. Triggers keep revision, limits and lanes up to date.

-- name: next_sender_id :value
-- An id for a new account, known before its row so that its password can be sealed for it.
SELECT nextval(pg_get_serial_sequence('mailqueue.sender_accounts', 'id'))::integer;

-- name: add_sender :run
-- Add a sender account, active at once.
INSERT INTO mailqueue.sender_accounts (
    id, project_id, name, provider, email, display_name, smtp_host, smtp_port, smtp_username,
    smtp_password, smtp_tls, is_private_ok, priority, daily_limit, hourly_limit, minute_limit, rate_per_second, burst,
    batch_size, send_delay_ms, max_connections, time_zone, warm_up, notes, api_url, provider_settings, is_fallback)
VALUES (
    %(id)s, %(project_id)s, %(name)s, %(provider)s, %(email)s, %(display_name)s, %(smtp_host)s,
    %(smtp_port)s, %(smtp_username)s, %(smtp_password)s, %(smtp_tls)s, %(is_private_ok)s,
    %(priority)s, %(daily_limit)s, %(hourly_limit)s, %(minute_limit)s, %(rate_per_second)s, %(burst)s, %(batch_size)s,
    %(send_delay_ms)s, %(max_connections)s, %(time_zone)s, %(warm_up)s::integer[], %(notes)s,
    %(api_url)s, %(provider_settings)s::jsonb, %(is_fallback)s);

-- name: find_sender :maybe
-- One account of a project by its name.
SELECT a.id, a.public_id, a.project_id, p.name AS project, a.name, a.provider, a.email, a.display_name,
       a.smtp_host, a.smtp_port, a.smtp_username, mailqueue.sealed_password(a.id) AS smtp_password, a.smtp_tls,
       a.is_private_ok, a.priority, a.daily_limit, a.hourly_limit, a.minute_limit,
       a.rate_per_second::double precision, a.burst, a.batch_size,
       a.send_delay_ms, a.max_connections, a.time_zone, a.warm_up, a.status, a.status_reason, a.status_until,
       a.revision, a.notes, a.api_url, a.provider_settings, a.is_fallback, a.created_at, a.updated_at
FROM mailqueue.sender_accounts AS a
JOIN mailqueue.projects AS p ON p.id = a.project_id
WHERE p.name = %(project)s
  AND a.name = %(name)s;

-- name: find_sender_by_id :maybe
-- One account by its id.
SELECT a.id, a.public_id, a.project_id, p.name AS project, a.name, a.provider, a.email, a.display_name,
       a.smtp_host, a.smtp_port, a.smtp_username, mailqueue.sealed_password(a.id) AS smtp_password, a.smtp_tls,
       a.is_private_ok, a.priority, a.daily_limit, a.hourly_limit, a.minute_limit,
       a.rate_per_second::double precision, a.burst, a.batch_size,
       a.send_delay_ms, a.max_connections, a.time_zone, a.warm_up, a.status, a.status_reason, a.status_until,
       a.revision, a.notes, a.api_url, a.provider_settings, a.is_fallback, a.created_at, a.updated_at
FROM mailqueue.sender_accounts AS a
JOIN mailqueue.projects AS p ON p.id = a.project_id
WHERE a.id = %(id)s;

-- name: find_sender_id :maybe
-- The number of a project's account by its id in the HTTP API, or by the number itself.
SELECT a.id
FROM mailqueue.sender_accounts AS a
JOIN mailqueue.projects AS p ON p.id = a.project_id
WHERE p.name = %(project)s
  AND (a.public_id::text = lower(%(given)s) OR a.id::text = %(given)s);

-- name: list_senders :many
-- The accounts of a project, or of all, in the order they are tried.
SELECT a.id, a.public_id, a.project_id, p.name AS project, a.name, a.provider, a.email, a.display_name,
       a.smtp_host, a.smtp_port, a.smtp_username, mailqueue.sealed_password(a.id) AS smtp_password, a.smtp_tls,
       a.is_private_ok, a.priority, a.daily_limit, a.hourly_limit, a.minute_limit,
       a.rate_per_second::double precision, a.burst, a.batch_size,
       a.send_delay_ms, a.max_connections, a.time_zone, a.warm_up, a.status, a.status_reason, a.status_until,
       a.revision, a.notes, a.api_url, a.provider_settings, a.is_fallback, a.created_at, a.updated_at
FROM mailqueue.sender_accounts AS a
JOIN mailqueue.projects AS p ON p.id = a.project_id
WHERE (%(project)s::text IS NULL OR p.name = %(project)s)
ORDER BY p.name, a.priority, a.id;

-- name: lock_sender :maybe
-- Lock an account until the caller commits, to serialise changes.
SELECT id
FROM mailqueue.sender_accounts
WHERE id = %(id)s
FOR NO KEY UPDATE;

-- name: set_sender_status :run
-- Set the status of an account, from the next claim on; until a point in time or for a duration.
UPDATE mailqueue.sender_accounts
SET status = %(status)s,
    status_reason = %(reason)s,
    status_until = coalesce(%(until)s::timestamptz, clock_timestamp() + %(wait)s::interval)
WHERE id = %(id)s;

-- name: set_sender_limits :run
-- Set the limits of an account, from the next claim on.
UPDATE mailqueue.sender_accounts
SET daily_limit = %(daily_limit)s,
    hourly_limit = %(hourly_limit)s,
    minute_limit = %(minute_limit)s,
    rate_per_second = %(rate_per_second)s,
    burst = %(burst)s,
    batch_size = %(batch_size)s,
    send_delay_ms = %(send_delay_ms)s,
    max_connections = %(max_connections)s,
    time_zone = %(time_zone)s,
    warm_up = %(warm_up)s::integer[]
WHERE id = %(id)s;

-- name: set_sender_fallback :run
-- Use an account only while no account before it may send, or like any other.
UPDATE mailqueue.sender_accounts
SET is_fallback = %(is_fallback)s
WHERE id = %(id)s;

-- name: is_time_zone :value
-- Whether the database knows a time zone of this name.
SELECT EXISTS (SELECT FROM pg_catalog.pg_timezone_names WHERE name = %(time_zone)s);

-- name: list_headroom :many
-- Mail that the named accounts sent today and may still send.
SELECT sender_account_id, status, daily_sent::integer, daily_reserved::integer,
       daily_bounces::integer, daily_errors::integer, daily_limit AS limit_today, headroom::integer, warm_up_stage,
       last_reset_at, next_reset_at, blocked_reason, blocked_until, hourly_headroom, minute_headroom,
       last_used_at
FROM mailqueue.sender_headroom
WHERE sender_account_id = ANY (%(account_ids)s::integer[]);

-- name: read_project_from :one
-- The From settings of a project.
SELECT p.from_email, p.from_name, p.reply_to, p.bounce_address, p.bounce_domain
FROM mailqueue.projects AS p
WHERE p.id = %(project_id)s;

-- name: keep_trap_accounts :run
-- Add the trap account to every project, or update it; it is used by projects without another account.
INSERT INTO mailqueue.sender_accounts AS a
    (project_id, name, provider, smtp_host, smtp_port, smtp_tls, email, display_name, is_private_ok, priority)
SELECT p.id, 'trap', 'trap', %(host)s, %(port)s, 'none', 'no-reply@mailqueue.example', 'mailqueue', true, 32767
FROM mailqueue.projects AS p
ON CONFLICT (project_id, name) DO UPDATE
SET smtp_host = excluded.smtp_host, smtp_port = excluded.smtp_port, status = 'active', status_reason = NULL
WHERE a.provider = 'trap'
  AND (a.smtp_host, a.smtp_port, a.status) IS DISTINCT FROM (excluded.smtp_host, excluded.smtp_port, 'active');

-- name: pause_trap_accounts :run
-- Pause the trap accounts: their mail waits, with that reason.
UPDATE mailqueue.sender_accounts AS a
SET status = 'paused', status_reason = 'the trap is off', paused_by = 'mailqueue'
WHERE a.provider = 'trap' AND a.status = 'active';

-- name: list_health :many
-- State of the accounts of a project, or of all, or of one.
SELECT h.project, h.sender, h.provider, h.status, h.status_reason, h.circuit, h.circuit_since, h.next_probe_at,
       h.openings, h.recent_failures, h.recent_domains, h.recent_sent, h.failures, h.last_errors, h.last_failed_at,
       h.recommendation
FROM mailqueue.sender_health AS h
WHERE (%(project)s::text IS NULL OR h.project = %(project)s)
  AND (%(name)s::text IS NULL OR h.sender = %(name)s)
ORDER BY h.project, h.sender_account_id;

-- name: change_sender :run
-- Change an account, for mail that is claimed from now on.
UPDATE mailqueue.sender_accounts
SET email = %(email)s,
    display_name = %(display_name)s,
    smtp_host = %(smtp_host)s,
    smtp_port = %(smtp_port)s,
    smtp_username = %(smtp_username)s,
    smtp_password = %(smtp_password)s,
    smtp_tls = %(smtp_tls)s,
    is_private_ok = %(is_private_ok)s,
    api_url = %(api_url)s,
    provider_settings = %(provider_settings)s::jsonb,
    priority = %(priority)s,
    is_fallback = %(is_fallback)s,
    notes = %(notes)s
WHERE id = %(id)s;

-- name: remove_sender :value
-- Delete an account; false if there is none. Raises 55006 while it is in use.
SELECT mailqueue.remove_sender(%(project_id)s, %(id)s, %(by)s);

-- name: prefer_sender :value
-- Make an account the first that is tried; false if there is none.
SELECT mailqueue.prefer_sender(%(project_id)s, %(id)s);

-- name: route_to_sender :run
-- Use an account for mail of these categories to these domains. Raises 22023 naming the field.
SELECT mailqueue.route_to_sender(%(project_id)s, %(id)s, %(categories)s::text[], %(domains)s::text[], %(by)s);

-- name: note_sender_change :run
-- Write an audit row for a change of an account.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, %(by)s, %(action)s, %(subject)s, %(detail)s);
