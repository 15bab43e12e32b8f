-- Exporting spans of traces.

-- name: begin_trace_page :one
-- What is exported next, and whether it may be: state ready.
SELECT t.state, t.exported_to, t.after_key, t.until, coalesce(t.is_old, false) AS is_old
FROM mailqueue.begin_trace_page(%(holder)s, %(lease)s, %(max_age)s, %(is_start)s) AS t;

-- name: read_trace_page :many
-- The next attempts and events to export, in order.
SELECT s.at, s.key, s.email_id, s.account_id, s.attempt, s.status, s.code, s.enhanced, s.response_ms, s.event_id,
       s.type, s.source, s.occurred_at, s.project_id, s.is_test, s.accepted_at, s.traceparent, s.provider,
       s.waited_from, s.is_first
FROM mailqueue.read_trace_page(%(exported_to)s, %(after_key)s, %(until)s, %(ratio)s, %(limit)s) AS s;

-- name: read_send_stages :many
-- What workers did at attempts of these emails, in the order of time.
SELECT s.email_id, s.noted_at, s.claimed_ms, s.begun_ms, s.composed_ms, s.answered_ms
FROM mailqueue.read_send_stages(%(ids)s::uuid[]) AS s;

-- name: end_trace_page :value
-- Write how far spans are exported; false: another process exports.
SELECT mailqueue.end_trace_page(%(holder)s, %(to)s, %(after)s, %(spans)s, %(left_out)s, %(error)s);

-- name: release_trace_export :run
-- Give up the right to export.
SELECT mailqueue.release_trace_export(%(holder)s);

-- name: read_traced_calls :many
-- The oldest calls of webhooks that wait for their export, in order.
SELECT c.delivery_id, c.tried_at, c.attempt, c.status_code, c.is_error, c.took_ms, c.webhook_id, c.url, c.event_id,
       c.type, c.is_told, c.email_id, c.project_id, c.is_test, c.accepted_at, c.traceparent, c.is_old
FROM mailqueue.read_traced_calls(%(ratio)s, %(max_age)s, %(limit)s) AS c;

-- name: end_traced_calls :run
-- Write that the spans of calls are exported.
SELECT mailqueue.end_traced_calls(%(deliveries)s, %(times)s);
