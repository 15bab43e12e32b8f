-- Claiming, marking and settling email, and reading what a claimed mail says.

-- name: gather_lanes :one
-- Wake lanes that got mail or whose block is over; the wait in seconds until the next block ends.
SELECT g.woken, extract(epoch FROM g.next_wake)::double precision AS next_wake
FROM mailqueue.gather_lanes() AS g;

-- name: claim_emails :many
-- Take up to a batch of due mail for one worker, limits reserved. Rows others are claiming are skipped, not waited for.
SELECT id, claim_no, assigned_to, account_revision, project_id, attempts, recipients, unknowns, expires_at, category,
       recipient_email, recipient_name, custom_data, content_id, content_on
FROM mailqueue.claim_emails(%(worker)s, %(limit)s, %(lease)s);

-- name: read_contents :many
-- What these mails say.
SELECT c.id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers
FROM mailqueue.email_contents AS c
WHERE c.id = ANY (%(ids)s) AND c.created_on = ANY (%(days)s);

-- name: read_recipients :many
-- All recipients of messages that have several, in order.
SELECT r.email_id, r.kind, r.address, r.name, r.status
FROM mailqueue.email_recipients AS r
WHERE r.email_id = ANY (%(ids)s)
ORDER BY r.email_id, r.position;

-- name: write_down :many
-- In one commit: what is about to be handed over, with the last look at each, and what became of other mail.
-- Outcomes whose claim had moved on come back as moved_on; no marks when the worker was declared lost.
SELECT m.id, m.verdict, m.reason, m.stopped
FROM mailqueue.mark_emails(%(worker)s, %(new_ids)s::uuid[], %(new_claims)s::bigint[], %(open_ids)s::uuid[],
    %(open_claims)s::bigint[]) AS m
UNION ALL
SELECT s.id, 'moved_on', NULL, NULL
FROM unnest(mailqueue.settle_emails(%(ids)s::uuid[], %(claims)s::bigint[], %(outcomes)s::text[], %(reasons)s::text[],
    %(waits)s::interval[], %(spent)s::integer[], %(left)s::integer[], %(logs)s::text[], %(message_ids)s::text[],
    %(provider_ids)s::text[], %(codes)s::text[], %(enhanced)s::text[], %(replies)s::text[], %(ms)s::integer[],
    %(hard)s::boolean[])) AS s(id);

-- name: settle_recipients :run
-- Record what became of single recipients, in the transaction that settles their messages.
SELECT mailqueue.settle_recipients(%(ids)s::uuid[], %(claims)s::bigint[], %(addresses)s::text[], %(statuses)s::text[],
    %(reasons)s::text[], %(codes)s::text[], %(hard)s::boolean[]);

-- name: ensure_partitions :value
-- Make the partitions of the coming months; says how many were missing.
SELECT mailqueue.ensure_partitions(%(months)s);

-- name: rest_sender :run
-- Let an account rest after a failed connection; its lanes wait.
SELECT mailqueue.rest_sender(%(account)s, %(reason)s);

-- name: sender_answered :run
-- The account's server accepts connections again.
SELECT mailqueue.sender_answered(%(account)s);

-- name: suspend_sender :run
-- Stop an account whose own server refuses us.
SELECT mailqueue.suspend_sender(%(account)s, %(reason)s);
