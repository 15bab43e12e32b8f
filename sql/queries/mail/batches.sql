-- Batches, and mail shown as sent.

-- name: enqueue_shared :many
-- Accept one content for many recipients; a row for each, in order. Invalid content raises 22023.
SELECT s.index AS place, s.id, s.status, s.reason, s.batch_id
FROM mailqueue.enqueue_shared(%(project)s, %(contents)s::jsonb, %(options)s::jsonb, %(recipients)s::jsonb, %(strict)s,
                              %(by)s) AS s;

-- name: find_batch :maybe
-- A batch of a project, with the number of its mails in each state.
SELECT b.id, b.created_at, b.created_by, b.subject, b.recipients, b.rejected, b.counts, b.lists
FROM mailqueue.batch_of(%(project_id)s, %(id)s) AS b;

-- name: sweep_batches :value
-- Delete batches whose mails are old enough for the archive; returns their number.
SELECT mailqueue.sweep_batches();

-- name: try_email :value
-- Dry run of accepting a mail; nothing is stored. Invalid input raises 22023.
SELECT mailqueue.try_email(%(project)s, %(message)s::jsonb);

-- name: read_message_source :maybe
-- A mail of a project with everything its message is built from.
SELECT mailqueue.message_source(%(project_id)s, %(id)s);

-- name: list_project_emails :many
-- A page of a project's mail, the newest first.
SELECT e.id, e.status, e.reason, (ARRAY['critical', 'high', 'normal', 'low'])[e.priority + 1] AS priority, e.category,
       e.from_email, e.recipient_email, e.recipient_name, e.recipients, e.subject,
       e.campaign_id, e.tags, e.sender, e.attempts, e.created_at, e.run_at AS scheduled_at, e.finished_at
FROM mailqueue.list_emails(%(project_id)s, %(status)s, %(tag)s, %(sent_from)s, %(to)s, %(campaign)s, %(category)s,
                           %(batch)s, %(since)s, %(until)s, %(before)s, %(limit)s, %(sender)s, %(data)s::jsonb,
                           %(or_data)s::jsonb, %(contains)s::text, %(template)s::text, %(provider)s::text,
                           %(from_id)s::uuid) AS e;

-- name: emails_looked_from :maybe
-- Id of the oldest mail that a page of a search looks at; NULL where it looks at all that are left.
SELECT mailqueue.emails_looked_from(%(project_id)s, %(before)s::uuid, %(looked)s) AS id;

-- name: find_sender_name :maybe
-- The name of a project's sender account with this id, number or name; a name takes precedence.
SELECT a.name
FROM mailqueue.sender_accounts AS a
WHERE a.project_id = %(project_id)s
  AND (a.name = %(given)s OR a.public_id::text = lower(%(given)s) OR a.id::text = %(given)s)
ORDER BY a.name = %(given)s DESC
LIMIT 1;

-- name: act_on_email :maybe
-- Cancel, release, resend or resolve a mail of a project; no row if there is none, outcome NULL if its state does not
-- allow it.
SELECT a.outcome, a.email_id, a.state
FROM mailqueue.act_on_email(%(project_id)s, %(id)s, %(action)s, %(reason)s, %(by)s) AS a;

-- name: move_email :maybe
-- Send a mail of a project by another account; no row if there is none, outcome NULL if its state does not allow it.
SELECT m.outcome, m.email_id, m.state
FROM mailqueue.move_email(%(project_id)s, %(id)s, %(sender)s::text, %(reason)s, %(by)s) AS m;

-- name: change_email :maybe
-- Change time or priority of a mail of a project; no row if there is none, outcome NULL if its state does not allow it.
SELECT c.outcome, c.state
FROM mailqueue.change_email(%(project_id)s, %(id)s, %(at)s::timestamptz, %(priority)s::text, %(by)s) AS c;

-- name: act_on_batch :maybe
-- Cancel, hold or release mails of a batch; no row if there is none, results NULL if no mail's state allows it.
SELECT a.results, a.counts
FROM mailqueue.act_on_batch(%(project_id)s, %(id)s, %(action)s, %(reason)s, %(by)s) AS a;
