-- Events of sent mail.

-- name: record_events :many
-- Record events with all consequences; returns the result of each, in order.
SELECT r.n, r.result
FROM mailqueue.record_events(%(events)s::jsonb) AS r
ORDER BY r.n;

-- name: list_events :many
-- Events, the latest recorded first, after one of them; filtered by mail, type or project.
SELECT v.id, v.occurred_at, p.name AS project, v.email_id, v.type, v.recipient_email, a.name AS sender, v.source,
       v.code, v.detail, v.suppresses, v.data
FROM mailqueue.email_events AS v
JOIN mailqueue.projects AS p ON p.id = v.project_id
LEFT JOIN mailqueue.sender_accounts AS a ON a.id = v.sender_account_id
WHERE (%(email_id)s::uuid IS NULL OR v.email_id = %(email_id)s)
  AND (%(project)s::text IS NULL OR p.name = %(project)s)
  AND (%(type)s::text IS NULL OR v.type = %(type)s)
  AND (%(id)s::uuid IS NULL OR v.id = %(id)s)
  AND (%(before)s::uuid IS NULL OR v.id < %(before)s)
ORDER BY v.id DESC
LIMIT %(limit)s;

-- name: list_recipient_events :many
-- All events of a project's mail to one address, newest first, after one of them.
SELECT r.id, r.occurred_at, r.type, r.email_id, r.subject, r.campaign_id, r.source, r.code, r.detail, r.data
FROM mailqueue.recipient_events(%(project_id)s, %(address)s, %(before)s, %(before_id)s, %(limit)s) AS r;

-- name: list_notices :many
-- Notices for administrators of projects, newest first.
SELECT n.id, n.noticed_at, p.name AS project, n.kind, a.name AS sender, n.email_id, n.told, n.seen_at, n.seen_by
FROM mailqueue.notices AS n
JOIN mailqueue.projects AS p ON p.id = n.project_id
LEFT JOIN mailqueue.sender_accounts AS a ON a.id = n.sender_account_id
WHERE (%(project)s::text IS NULL OR p.name = %(project)s)
  AND (%(is_all)s OR n.seen_at IS NULL)
ORDER BY n.id DESC
LIMIT %(limit)s;

-- name: see_notices :value
-- Mark the notices of a project, or of all, as seen; returns the number of new ones.
SELECT mailqueue.see_notices(%(project_id)s::uuid, %(by)s);

-- name: list_sender_rates :many
-- Mail that accounts sent within the window of rates, with bounces and complaints.
SELECT r.project, r.sender, r.status, r.since, r.sent, r.hard_bounces, r.soft_bounces, r.about_us, r.complaints,
       r.bounce_rate::float8 AS bounce_rate, r.complaint_rate::float8 AS complaint_rate,
       round(r.bounce_warn, 9)::float8 AS bounce_warn, round(r.bounce_pause, 9)::float8 AS bounce_pause,
       round(r.complaint_warn, 9)::float8 AS complaint_warn, round(r.complaint_pause, 9)::float8 AS complaint_pause,
       r.state, r.found
FROM mailqueue.sender_rates AS r
WHERE (%(project)s::text IS NULL OR r.project = %(project)s)
  AND (%(account)s::integer IS NULL OR r.sender_account_id = %(account)s)
ORDER BY r.project, r.sender;

-- name: set_sender_thresholds :run
-- Set the rates above which an account is warned and paused.
UPDATE mailqueue.sender_accounts
SET bounce_warn = %(bounce_warn)s,
    bounce_pause = %(bounce_pause)s,
    complaint_warn = %(complaint_warn)s,
    complaint_pause = %(complaint_pause)s,
    updated_at = now()
WHERE id = %(id)s;

-- name: note_sender_thresholds :run
-- Write an audit row for a change of an account's thresholds.
INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
VALUES (%(project_id)s, %(by)s, 'sender.thresholds_changed', %(subject)s, %(detail)s);
