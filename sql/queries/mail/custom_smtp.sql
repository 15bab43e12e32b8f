-- Mail with a custom SMTP server, sent while the caller waits or later.

-- name: begin_custom_smtp_now :one
-- Accept, claim and mark one mail in one commit; state is sending, suppressed or duplicate. Invalid input raises 22023,
-- a limit 53400.
SELECT b.id, b.state, b.reason, b.worker_id, b.claim_no, b.recipients, b.category, b.recipient_email, b.recipient_name,
       b.content_id, b.content_on, b.subject, b.html_body, b.text_body, b.from_email, b.from_name, b.reply_to,
       b.headers, b.files, b.tracking_options, b.project_id
FROM mailqueue.begin_custom_smtp_now(%(project)s, %(message)s::jsonb, %(host)s, %(pid)s, %(version)s) AS b;

-- name: settle_custom_smtp :value
-- Record the outcome; false if rescue held the mail meanwhile.
SELECT mailqueue.settle_custom_smtp(%(worker)s, %(id)s, %(claim)s, %(outcome)s, %(reason)s, %(wait)s, %(spent)s,
    %(left)s, %(log)s, %(message_id)s, %(code)s,
    %(enhanced)s, %(reply)s, %(ms)s, %(hard)s, %(addresses)s::text[], %(statuses)s::text[], %(reasons)s::text[],
    %(codes)s::text[],
    %(hards)s::boolean[], %(conversation)s);

-- name: queue_custom_smtp :one
-- Accept one mail that is sent later by a custom SMTP server; state is queued, suppressed or duplicate. Invalid input
-- raises 22023.
SELECT i.id, i.state, i.reason
FROM mailqueue.queue_custom_smtp(%(project)s, %(message)s::jsonb, %(id)s, %(sealed)s) AS i;

-- name: queue_shared_custom_smtp :many
-- Accept one content for many recipients, each mail with a custom SMTP server; a row for each, in order. Invalid
-- content raises 22023.
SELECT s.index AS place, s.id, s.status, s.reason, s.batch_id
FROM mailqueue.queue_shared_custom_smtp(%(project)s, %(contents)s::jsonb, %(options)s::jsonb, %(recipients)s::jsonb,
                                   %(strict)s, %(by)s, %(servers)s::uuid[], %(sealed)s::bytea[]) AS s;

-- name: begin_custom_smtp :one
-- Mark the mail of a claimed row of custom_smtp_servers; state is marked, finished, held, waiting or lost.
SELECT state, reason, wait, worker_id, id, claim_no, assigned_to, account_revision, project_id, attempts, recipients,
       unknowns, expires_at, category, recipient_email, recipient_name, custom_data, content_id, content_on
FROM mailqueue.begin_custom_smtp(%(server)s, %(claim)s, %(host)s, %(pid)s, %(version)s);

-- name: due_custom_smtp :many
-- Those of the servers whose mail is still to be sent, and when.
SELECT id, run_at
FROM mailqueue.due_custom_smtp(%(ids)s::uuid[]);

-- name: sweep_custom_smtp_servers :value
-- Delete servers whose mail is finished, held or expired; returns their number.
SELECT mailqueue.sweep_custom_smtp_servers();
