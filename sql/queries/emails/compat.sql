-- Statements that only the compatible APIs use.

-- name: keep_batch :run
-- Store mails of one request as a batch with the id of the first.
SELECT mailqueue.keep_batch(%(project_id)s, %(ids)s::uuid[], %(subject)s, %(by)s);

-- name: reschedule_email :maybe
-- Change when a mail without an attempt is sent; no row if the project has no such mail.
SELECT r.outcome, r.state
FROM mailqueue.reschedule_email(%(project_id)s, %(id)s, %(at)s, %(by)s) AS r;

-- name: list_newer_ids :many
-- Ids of the next newer mails after one, oldest first.
SELECT n.id
FROM mailqueue.newer_emails(%(project_id)s, %(after)s, %(limit)s) AS n;

-- name: list_named_emails :many
-- Mails of a project by their ids, newest first, each with its last event.
SELECT e.id, e.status, e.from_email, e.from_name, e.reply_to, e.recipient_email, e.recipient_name, e.subject,
       e.created_at, e.run_at,
       (SELECT v.type FROM mailqueue.email_events AS v WHERE v.email_id = e.id
         ORDER BY v.occurred_at DESC, v.id DESC LIMIT 1) AS last_event
FROM mailqueue.emails AS e
WHERE e.id = ANY (%(ids)s)
  AND e.project_id = %(project_id)s
ORDER BY e.id DESC;

-- name: list_recipients_of_emails :many
-- The recipients of those mails that have several, in their order.
SELECT r.email_id, r.kind, r.address, r.name, r.status
FROM mailqueue.email_recipients AS r
WHERE r.email_id = ANY (%(ids)s)
  AND r.project_id = %(project_id)s
ORDER BY r.email_id, r.position;
