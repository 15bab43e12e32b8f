-- Timed events and birthday rules.

-- name: fire_timed_events :many
-- Write the mail and webhook calls of claimed events.
SELECT f.id, f.outcome, f.status, f.reason, f.email_id, f.delivery_id
FROM mailqueue.fire_timed_events(%(ids)s::uuid[], %(claims)s::bigint[]) AS f;

-- name: plan_birthdays :value
-- Plan birthdays of contacts whose rule or zone has changed.
SELECT mailqueue.plan_birthdays(%(most)s);

-- name: recompute_timed_events :value
-- Compute events by the present zone rules.
SELECT mailqueue.recompute_timed_events(%(most)s);

-- name: end_delivered_timed_events :maybe
-- End events whose delivery has ended.
SELECT mailqueue.end_delivered_timed_events(%(after)s, %(most)s);

-- name: list_timed_events :many
-- Events of a project, newest first.
SELECT t.id, t.kind, t.status, t.target_timestamp_utc AS at,
       coalesce(to_char(t.target_timestamp_local, 'YYYY-MM-DD"T"HH24:MI:SS'),
                t.target_timestamp_local::text) AS local_at,
       t.target_timezone AS time_zone,
       t.user_id AS contact_id, t.template, t.recipient, t.webhook_id, t.delivery_payload AS payload,
       t.idempotency_key, t.version, t.retry_count, t.failure_reason, t.executed_at, t.email_id, t.delivery_id,
       t.is_test, t.is_birthday, t.created_at, t.updated_at
FROM mailqueue.timed_event_status AS t
WHERE (%(project_id)s::uuid IS NULL OR t.project_id = %(project_id)s)
  AND (%(id)s::uuid IS NULL OR t.id = %(id)s)
  AND (%(kind)s::text IS NULL OR t.kind = %(kind)s)
  AND (%(status)s::text IS NULL OR t.status = %(status)s)
  AND (%(contact_id)s::uuid IS NULL OR t.user_id = %(contact_id)s)
  AND (%(since)s::timestamptz IS NULL OR t.target_timestamp_utc >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR t.target_timestamp_utc < %(until)s)
  AND (%(before)s::uuid IS NULL OR t.id < %(before)s)
ORDER BY t.id DESC
LIMIT %(limit)s;

-- name: list_timed_events_of_status :many
-- Events of a project that have a status, newest first.
SELECT t.id, t.kind, t.status, t.target_timestamp_utc AS at,
       coalesce(to_char(t.target_timestamp_local, 'YYYY-MM-DD"T"HH24:MI:SS'),
                t.target_timestamp_local::text) AS local_at,
       t.target_timezone AS time_zone,
       t.user_id AS contact_id, t.template, t.recipient, t.webhook_id, t.delivery_payload AS payload,
       t.idempotency_key, t.version, t.retry_count, t.failure_reason, t.executed_at, t.email_id, t.delivery_id,
       t.is_test, t.is_birthday, t.created_at, t.updated_at
FROM mailqueue.timed_event_status AS t
WHERE t.project_id = %(project_id)s
  AND t.status = %(status)s
  AND (%(kind)s::text IS NULL OR t.kind = %(kind)s)
  AND (%(contact_id)s::uuid IS NULL OR t.user_id = %(contact_id)s)
  AND (%(since)s::timestamptz IS NULL OR t.target_timestamp_utc >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR t.target_timestamp_utc < %(until)s)
  AND (%(before)s::uuid IS NULL OR t.id < %(before)s)
ORDER BY t.id DESC
LIMIT %(limit)s;

-- name: add_timed_event :one
-- Add an event, or find the one with its idempotency key.
SELECT n.id, n.is_new
FROM mailqueue.add_timed_event(%(project_id)s, %(kind)s, %(at)s, %(local_at)s::timestamp, %(time_zone)s,
                               %(contact_id)s, %(payload)s, %(template)s, %(recipient)s, %(webhook_id)s,
                               %(idempotency_key)s, %(is_test)s, %(by)s) AS n;

-- name: change_timed_event :value
-- Whether there is such an event; its time or payload is changed.
SELECT mailqueue.change_timed_event(%(project_id)s, %(id)s, %(version)s, %(given)s) IS NOT NULL;

-- name: cancel_timed_event :value
-- Whether there is such an event; it is cancelled.
SELECT mailqueue.cancel_timed_event(%(project_id)s, %(id)s, %(version)s, %(by)s);

-- name: find_birthday_rule :maybe
-- The birthday rule of a project.
SELECT b.local_time, b.leap_day, b.template, b.webhook_id, b.payload,
       b.planned_for IS NOT DISTINCT FROM mailqueue.birthday_plan(b) AS is_planned, b.version, b.created_at,
       b.updated_at
FROM mailqueue.birthday_rules AS b
WHERE b.project_id = %(project_id)s
  AND b.is_enabled;

-- name: put_birthday_rule :run
-- Set the birthday rule of a project.
SELECT mailqueue.put_birthday_rule(%(project_id)s, %(local_time)s, %(leap_day)s, %(template)s, %(webhook_id)s,
                                   %(payload)s, %(by)s);

-- name: remove_birthday_rule :value
-- Whether the project had a birthday rule.
SELECT mailqueue.remove_birthday_rule(%(project_id)s, %(by)s);
