-- Operator actions: on single mails, on all that match a filter, on mail in doubt and after a restore.

-- name: cancel_email :many
-- Cancel unfinished mails: pending and held at once, assigned by their worker before sending.
SELECT c.id, c.result
FROM mailqueue.cancel_emails(%(project_id)s, %(ids)s::uuid[], %(reason)s) AS c;

-- name: hold_email :many
-- Hold pending mails until they are released.
SELECT h.id, h.result
FROM mailqueue.hold_emails(%(project_id)s, %(ids)s::uuid[], %(reason)s) AS h;

-- name: release_email :many
-- Return held mails to their lanes.
SELECT r.id, r.result
FROM mailqueue.release_emails(%(project_id)s, %(ids)s::uuid[]) AS r;

-- name: reschedule_emails :many
-- Change when pending or held mails without an attempt are sent.
SELECT r.id, r.result
FROM mailqueue.reschedule_emails(%(project_id)s, %(ids)s::uuid[], %(at)s::timestamptz) AS r;

-- name: requeue_email :many
-- Queue failed, expired or cancelled mails again.
SELECT r.id, r.result
FROM mailqueue.requeue_emails(%(project_id)s, %(ids)s::uuid[]) AS r;

-- name: resend_email :many
-- Queue sent mails once more, each as a new mail.
SELECT r.id, 'resent as ' || r.new_id AS result
FROM mailqueue.resend_emails(%(project_id)s, %(ids)s::uuid[], %(reason)s) AS r;

-- name: list_suppressed_recipients :many
-- Recipients of a mail of a project that cannot be sent again, because all of them are suppressed; else none.
SELECT s.address
FROM mailqueue.suppressed_recipients(%(project_id)s, %(id)s) AS s;

-- name: find_still_suppressed :many
-- Which of these finished mails cannot be sent again now, because all of their recipients are suppressed.
SELECT s.id, s.reason AS result
FROM mailqueue.still_suppressed(%(project_id)s, %(ids)s::uuid[]) AS s;

-- name: reprioritise_email :many
-- Move unfinished mails to the lanes of another priority.
SELECT r.id, r.result
FROM mailqueue.reprioritise_emails(%(project_id)s, %(ids)s::uuid[], %(priority)s::smallint) AS r;

-- name: resolve_email :many
-- Resolve mails in doubt.
SELECT r.id, r.result
FROM mailqueue.resolve_emails(%(project_id)s, %(ids)s::uuid[], %(was_sent)s, %(note)s, %(by)s) AS r;

-- name: find_email_projects :many
-- The project of each of these mails; unknown ids have none.
SELECT e.id, e.project_id, e.project, e.status
FROM mailqueue.emails AS e
WHERE e.id = ANY (%(ids)s::uuid[]);

-- name: record_operation :value
-- Write one audit row.
SELECT mailqueue.record_operation(%(project_id)s, %(action)s, %(subject)s, %(detail)s::jsonb, %(by)s);

-- name: note_view :run
-- Write an audit row: the actor of the transaction looked at what an email says.
INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
VALUES (%(project_id)s, 'email.viewed', %(subject)s, jsonb_build_object('part', %(part)s::text));

-- name: note_act :run
-- Write an audit row for what the actor of the transaction did.
INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
VALUES (%(project_id)s, %(action)s, %(subject)s, %(detail)s);

-- name: count_matching :value
-- Number of mails that an operation would change.
SELECT mailqueue.count_matching(%(verb)s, %(filter)s::jsonb, %(argument)s::jsonb);

-- name: begin_operation :value
-- Record the start of an operation on all matching mail; its number.
SELECT mailqueue.begin_operation(%(verb)s, %(filter)s::jsonb, %(argument)s::jsonb, %(by)s);

-- name: continue_operation :one
-- Apply an operation to its next batch of mails.
SELECT c.done, c.next_after
FROM mailqueue.continue_operation(%(operation)s, %(after)s::uuid, %(most)s) AS c;

-- name: hold_restored :one
-- Hold a batch of the mail that may have been sent since the backup.
SELECT r.held, r.operation, r.next_after
FROM mailqueue.hold_restored(%(since)s, %(is_trial)s, %(most)s, %(operation)s::bigint, %(after)s::uuid, %(by)s) AS r;

-- name: accept_restored :value
-- Send from this database without holding mail; the operation.
SELECT mailqueue.accept_restored(%(by)s);

-- name: pause_sending :value
-- Pause mail; the number of the operation that moves queued mail.
SELECT mailqueue.pause_sending(%(kind)s, %(project)s, %(name)s,
                               coalesce(%(until)s::timestamptz, clock_timestamp() + %(wait)s::interval), %(reason)s,
                               %(by)s);

-- name: resume_sending :value
-- End a pause; false if there was none.
SELECT mailqueue.resume_sending(%(kind)s, %(project)s, %(name)s, %(by)s);

-- name: list_pauses :many
-- Pauses in force.
SELECT p.project, p.kind, p.name, p.reason, p.until, p.actor, p.since
FROM mailqueue.paused AS p
WHERE %(project)s::text IS NULL OR p.project = %(project)s
ORDER BY p.project, p.kind, p.name;

-- name: list_pauses_of_project :many
-- A page of what is paused now in a project, or in all of them; the pause of the platform has no project and is first.
SELECT p.project, p.kind, p.name, p.reason, p.until, p.actor, p.since
FROM mailqueue.pauses_of_project(%(project_id)s::uuid) AS p
WHERE (%(kind)s::text IS NULL OR p.kind = %(kind)s)
  AND (%(name)s::text IS NULL OR p.name = %(name)s)
  AND (%(after_project)s::text IS NULL
       OR (coalesce(p.project, ''), p.kind, p.name) > (%(after_project)s, %(after_kind)s::text, %(after_name)s::text))
ORDER BY coalesce(p.project, ''), p.kind, p.name
LIMIT %(limit)s;

-- name: campaign_has_emails :value
-- Whether an email of the project, queued or finished, has the campaign.
SELECT mailqueue.campaign_has_emails(%(project_id)s::uuid, %(name)s::text);

-- name: list_newest_campaigns :many
-- Campaigns of the project that have counts, newest first.
SELECT c.name
FROM mailqueue.newest_campaigns(%(project_id)s::uuid, %(limit)s::integer) AS c(name);

-- name: pause_in_project :value
-- Pause mail of a project; the number of the operation that moves queued mail.
SELECT mailqueue.pause_in_project(%(project_id)s::uuid, %(kind)s::text, %(name)s::text,
                                  coalesce(%(until)s::timestamptz, clock_timestamp() + %(wait)s::interval),
                                  %(reason)s::text, %(by)s::text);

-- name: resume_in_project :value
-- End a pause in a project; false if there was none.
SELECT mailqueue.resume_in_project(%(project_id)s::uuid, %(kind)s::text, %(name)s::text, %(by)s::text);
