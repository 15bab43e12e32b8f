-- What the HTTP API accepts and shows.

-- name: find_suppression_at_accept :maybe
-- Why a mail was suppressed when it was accepted; no row where it was queued.
SELECT e.reason
FROM mailqueue.emails AS e
WHERE e.id = %(id)s
  AND e.status = 'suppressed'
  AND e.finished_at = e.created_at;

-- name: find_project_email :maybe
-- One mail of a project, finished or not, with the reason why it is where it is.
SELECT e.id, e.status, mailqueue.why(e.id) AS why, e.reason, e.priority, e.category, e.recipient_email,
       e.recipient_name, e.subject, e.campaign_id, e.tags, e.custom_data, e.sender, e.attempts,
       e.max_attempts, e.delivery, e.message_id, e.provider_message_id, e.created_at, e.run_at,
       e.expires_at, e.finished_at
FROM mailqueue.emails AS e
WHERE e.id = %(id)s
  AND e.project_id = %(project_id)s;

-- name: list_email_recipients :many
-- The recipients of a message that has several, in their order.
SELECT r.kind, r.address, r.name, r.status, r.reason, r.reply_code, r.settled_at
FROM mailqueue.email_recipients AS r
WHERE r.email_id = %(id)s
ORDER BY r.position;

-- name: list_email_attempts :many
-- Every attempt to hand a mail over, oldest first.
SELECT l.attempt, l.sent_at, l.status, l.recipient_email, a.name AS sender, l.error_code AS code,
       l.enhanced_code, l.reply, l.response_ms
FROM mailqueue.send_logs AS l
LEFT JOIN mailqueue.sender_accounts AS a ON a.id = l.sender_account_id
WHERE l.email_id = %(id)s
ORDER BY l.sent_at, l.id;

-- name: list_email_events :many
-- What else happened to a mail, oldest first.
SELECT v.occurred_at, v.type, v.recipient_email, v.detail
FROM mailqueue.email_events AS v
WHERE v.email_id = %(id)s
ORDER BY v.occurred_at, v.id;

-- name: answer_ready :value
-- True when the database answers and the schema is there.
SELECT to_regclass('mailqueue.email_queue') IS NOT NULL;
