-- Webhooks, their deliveries, and the log of attempts.

-- name: find_webhook_project :maybe
-- The id of the project of that name.
SELECT p.id FROM mailqueue.projects AS p WHERE p.name = %(project)s AND p.deleted_at IS NULL;

-- name: count_webhooks :value
-- Number of webhooks of a project; concurrent inserts wait until this transaction ends.
SELECT mailqueue.count_webhooks(%(project_id)s);

-- name: add_webhook :run
-- Add a webhook.
INSERT INTO mailqueue.webhooks (id, project_id, url, description, event_types, format, sealed_secret, public_key)
VALUES (%(id)s, %(project_id)s, %(url)s, %(description)s, %(event_types)s, %(format)s, %(sealed)s, %(public_key)s);

-- name: list_webhooks :many
-- Webhooks after one, in order of creation; of one project, or of all.
SELECT w.id, w.project_id, s.project, w.url, w.description, w.event_types, w.is_enabled, w.disabled_at,
       w.disabled_reason, s.circuit, s.failures, s.failing_since, s.blocked_until,
       CASE WHEN w.previous_until > clock_timestamp() THEN w.previous_until END AS previous_until, w.format,
       w.public_key, w.created_at, w.updated_at
FROM mailqueue.webhooks AS w
JOIN mailqueue.webhook_status AS s ON s.id = w.id
WHERE w.removed_at IS NULL
  AND (%(project_id)s::uuid IS NULL OR w.project_id = %(project_id)s)
  AND (%(id)s::uuid IS NULL OR w.id = %(id)s)
  AND (%(after)s::uuid IS NULL OR w.id > %(after)s)
ORDER BY w.id
LIMIT %(limit)s;

-- name: lock_webhook :value
-- Lock a webhook until the transaction ends; false if the project has no such webhook.
SELECT mailqueue.lock_webhook(%(project_id)s, %(id)s);

-- name: change_webhook :value
-- Change URL and event types of a webhook; false if the project has no such webhook.
SELECT mailqueue.change_webhook(%(project_id)s, %(id)s, %(url)s, %(description)s, %(event_types)s, %(by)s);

-- name: switch_webhook :value
-- Enable or disable a webhook; false if the project has no such webhook.
SELECT mailqueue.switch_webhook(%(project_id)s, %(id)s, %(is_enabled)s, %(by)s);

-- name: remove_webhook :value
-- Remove a webhook with its log; false if the project has no such webhook.
SELECT mailqueue.remove_webhook(%(project_id)s, %(id)s, %(by)s);

-- name: lock_webhook_keys :maybe
-- The secrets of one webhook, locked for a change.
SELECT w.id, w.project_id, w.revision, w.url, w.is_enabled, w.sealed_secret, w.sealed_secret_previous,
       extract(epoch FROM w.previous_until - clock_timestamp())::float8 AS previous_seconds, w.format
FROM mailqueue.webhooks AS w
WHERE w.project_id = %(project_id)s AND w.id = %(id)s AND w.removed_at IS NULL
FOR NO KEY UPDATE;

-- name: read_webhook_keys :many
-- URLs and secrets of webhooks.
SELECT w.id, w.project_id, w.revision, w.url, w.is_enabled, w.sealed_secret, w.sealed_secret_previous,
       extract(epoch FROM w.previous_until - clock_timestamp())::float8 AS previous_seconds, w.format
FROM mailqueue.webhooks AS w
WHERE w.id = ANY (%(ids)s) AND w.removed_at IS NULL;

-- name: replace_webhook_secret :run
-- Replace the secret; the previous one signs as well for that long (NULL: no longer).
UPDATE mailqueue.webhooks
SET sealed_secret = %(sealed)s,
    public_key = %(public_key)s,
    sealed_secret_previous = %(previous)s,
    previous_until = CASE WHEN %(previous)s::bytea IS NOT NULL THEN clock_timestamp() + %(overlap)s::interval END,
    revision = revision + 1,
    updated_at = clock_timestamp()
WHERE id = %(id)s;

-- name: audit_webhook :run
-- Write an audit row for a webhook.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, session_user || ' (' || left(%(by)s, 200) || ')', %(action)s, %(subject)s, %(detail)s);

-- name: list_webhook_deliveries :many
-- Deliveries of a webhook after one, newest first.
SELECT d.id, d.webhook_id, d.event_id, d.type, d.status, d.attempts, d.max_attempts, d.run_at, d.last_code,
       d.last_error, e.email_id, d.is_test, d.created_at, d.finished_at
FROM mailqueue.webhook_deliveries AS d
LEFT JOIN mailqueue.webhook_events AS e ON e.id = d.event_id
WHERE d.project_id = %(project_id)s
  AND d.webhook_id = %(webhook_id)s
  AND coalesce((SELECT mailqueue.mode()), d.is_test) = d.is_test
  AND (%(id)s::uuid IS NULL OR d.id = %(id)s)
  AND (%(before)s::uuid IS NULL OR d.id < %(before)s)
  AND (%(status)s::text IS NULL OR d.status = %(status)s)
  AND (%(type)s::text IS NULL OR d.type = %(type)s)
  AND (%(since)s::timestamptz IS NULL OR d.created_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR d.created_at < %(until)s)
  AND (%(email_id)s::uuid IS NULL
       OR d.event_id IN (SELECT o.id FROM mailqueue.webhook_events AS o WHERE o.email_id = %(email_id)s))
ORDER BY d.id DESC
LIMIT %(limit)s;

-- name: read_webhook_event :maybe
-- The payload of one event.
SELECT e.payload FROM mailqueue.webhook_events AS e WHERE e.project_id = %(project_id)s AND e.id = %(id)s;

-- name: list_webhook_attempts :many
-- Every call of a delivery, in order.
SELECT a.attempt, a.tried_at, a.status_code, a.error, a.took_ms, a.request_headers, a.response
FROM mailqueue.webhook_attempts AS a
WHERE a.project_id = %(project_id)s AND a.delivery_id = %(delivery_id)s
ORDER BY a.tried_at;

-- name: retry_webhook_deliveries :value
-- Deliver again what is finished; returns the number of deliveries.
SELECT mailqueue.retry_webhook_deliveries(%(project_id)s, %(webhook_id)s, %(ids)s::uuid[], %(statuses)s::text[],
    %(types)s::text[],
    %(since)s::timestamptz, %(until)s::timestamptz, %(most)s, %(by)s);

-- name: count_webhook_retries :value
-- Number of finished deliveries that a retry would deliver again.
SELECT count(*)::integer
FROM mailqueue.ended_webhook_deliveries(%(project_id)s, %(webhook_id)s, NULL, %(statuses)s::text[], %(types)s::text[],
                                        %(since)s::timestamptz, %(until)s::timestamptz, %(most)s);

-- name: log_webhook_test :maybe
-- Log a test; the id of its delivery.
SELECT mailqueue.log_webhook_test(%(project_id)s, %(webhook_id)s, %(event_id)s, %(type)s, %(payload)s::json, %(at)s,
    %(code)s, %(error)s,
    %(took_ms)s, %(headers)s, %(response)s);

-- name: claim_webhook_calls :many
-- Take due deliveries for a worker, with what they send.
SELECT c.id, c.claim_no, c.webhook_id, c.project_id, c.event_id, c.type, c.attempts, c.revision, c.payload
FROM mailqueue.claim_webhook_calls(%(worker)s, %(limit)s, %(lease)s, %(alone)s, %(first)s, %(keys)s::text[],
                                   %(rooms)s::integer[]) AS c;

-- name: read_webhook_payloads :many
-- What claimed deliveries send, and the revisions of their endpoints.
SELECT p.id, p.revision, p.payload FROM mailqueue.webhook_payloads(%(ids)s::uuid[]) AS p;

-- name: are_calls_traced :value
-- Whether calls are marked for the export of their spans.
SELECT mailqueue.are_calls_traced();

-- name: read_webhook_emails :many
-- Emails as events in the formats of providers describe them.
SELECT m.id, m.first_id, m.created_at, m.from_email, m.from_name, m.subject, m.headers, m.message_id, m.recipients,
       m.is_bounced
FROM mailqueue.webhook_emails(%(ids)s::uuid[]) AS m;

-- name: read_webhook_email :maybe
-- An email of a project as events in the formats of providers describe it.
SELECT m.id, m.first_id, m.created_at, m.from_email, m.from_name, m.subject, m.headers, m.message_id, m.recipients,
       m.is_bounced
FROM mailqueue.webhook_email(%(project_id)s, %(id)s) AS m;

-- name: settle_webhook_calls :many
-- Write outcomes of deliveries and log their calls; returns deliveries whose claim no longer holds, and endpoints that
-- are left alone now.
SELECT s.id, s.is_lost
FROM mailqueue.settle_webhook_calls(%(ids)s::uuid[], %(claims)s::bigint[], %(outcomes)s::text[], %(statuses)s::text[],
                                    %(waits)s::interval[], %(runs)s::timestamptz[], %(reasons)s::text[],
                                    %(values)s::jsonb, %(results)s::text[], %(codes)s::integer[],
                                    %(errors)s::text[], %(minimum_waits)s::interval[], %(rests)s::boolean[],
                                    %(times)s::timestamptz[], %(took)s::integer[], %(headers)s::jsonb,
                                    %(responses)s::text[]) AS s;

-- name: tidy_webhooks :value
-- Cancel deliveries of endpoints that are gone and delete those of removed ones; returns the number of rows.
SELECT mailqueue.tidy_webhooks(%(most)s);

-- name: list_deliveries_of_email :many
-- Deliveries to webhooks of the newest events of an email, oldest first.
SELECT t.id, t.webhook_id, t.url, t.type, t.status, t.attempts, t.last_code, t.last_error, t.created_at, t.finished_at
FROM mailqueue.deliveries_of_email(%(project_id)s::uuid, %(email_id)s::uuid) AS t;
