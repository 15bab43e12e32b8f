-- Claiming, marking and settling email, and reading the content of claimed mail.

-- name: gather_lanes :one
-- Wake lanes that got mail or whose block ended; the wait in seconds until the next block ends. The commit need not be
-- on disk; set here, because a setting of a function ends before the commit.
SELECT g.woken, extract(epoch FROM g.next_wake)::double precision AS next_wake
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS s
CROSS JOIN mailqueue.gather_lanes() AS g;

-- name: claim_emails :many
-- Claim up to a batch of due mail for one worker, with limits reserved, and read its contents and recipients. Rows
-- locked by other claims are skipped; accounts whose servers do not respond to this worker are avoided. Rows of the
-- kind claim are followed by those of the kind content, and by one of the kind verdict: whether more can be claimed
-- now, and the seconds until the next block of a lane ends.
SELECT kind, send_at, id, claim_no, assigned_to, account_revision, project_id, attempts, recipients, unknowns,
       expires_at, category, recipient_email, recipient_name, custom_data, content_id, content_on, several,
       found_content_id, subject, html_body, text_body, from_email, from_name, reply_to, headers, files,
       template_version_id, template_language, tracking_options, header_recipients, verdict, reason, stopped, is_left,
       extract(epoch FROM next_wake)::double precision AS next_wake
FROM mailqueue.claim_and_read(%(worker)s, %(limit)s, %(lease)s, %(avoid)s, true, %(may_mark)s);

-- name: claim_emails_unread :many
-- Claim without contents, where one of them could not be read.
SELECT id, claim_no, assigned_to, account_revision, project_id, attempts, recipients, unknowns, expires_at, category,
       recipient_email, recipient_name, custom_data, content_id, content_on
FROM mailqueue.claim_emails(%(worker)s, %(limit)s, %(lease)s, %(avoid)s);

-- name: claim_suspect :many
-- Claim one due mail whose worker stopped while handling it.
SELECT id, claim_no, assigned_to, account_revision, project_id, attempts, recipients, unknowns, expires_at, category,
       recipient_email, recipient_name, custom_data, content_id, content_on
FROM mailqueue.claim_suspect(%(worker)s, %(lease)s);

-- name: find_claims :many
-- Mail that this worker holds by claims after the last one it received.
SELECT id, claim_no, assigned_to, account_revision, project_id, attempts, recipients, unknowns, expires_at, category,
       recipient_email, recipient_name, custom_data, content_id, content_on
FROM mailqueue.find_claims(%(worker)s, %(after)s);

-- name: read_contents :many
-- Content of these mails.
SELECT c.id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers, c.files,
       c.template_version_id, c.template_language, c.tracking_options,
       c.header_recipients
FROM mailqueue.email_contents AS c
WHERE c.id = ANY (%(ids)s::bigint[]) AND c.created_on = ANY (%(days)s);

-- name: read_attachments :many
-- The bytes of these files, or their locations with size and hash.
SELECT a.id, a.octets, a.location, a.sha256, a.bytes
FROM mailqueue.attachments AS a
WHERE a.id = ANY (%(ids)s) AND a.created_on = ANY (%(days)s);

-- name: read_tags :many
-- Tags of these mails, for those that have any.
SELECT q.id, q.tags
FROM mailqueue.email_queue AS q
WHERE q.id = ANY (%(ids)s) AND cardinality(q.tags) > 0;

-- name: read_recipients :many
-- All recipients of messages that have several, in order.
SELECT r.email_id, r.kind, r.address, r.name, r.status
FROM mailqueue.email_recipients AS r
WHERE r.email_id = ANY (%(ids)s::uuid[])
ORDER BY r.email_id, r.position;

-- name: settle_and_mark :many
-- In one commit: marks mail that is about to be sent, with the last check of each, and settles outcomes of other mail.
-- If all marked mail may be sent, it is one row, known; without that row the worker was declared lost. Outcomes whose
-- claim was lost are returned as moved_on.
WITH marked AS MATERIALIZED (
    SELECT m.id, m.verdict, m.reason, m.stopped
    FROM mailqueue.mark_emails(%(worker)s, %(new_ids)s::uuid[], %(new_claims)s::bigint[], %(open_ids)s::uuid[],
        %(open_claims)s::bigint[]) AS m
)
SELECT m.id, m.verdict, m.reason, m.stopped FROM marked AS m WHERE m.verdict <> 'go' OR m.stopped IS NOT NULL
UNION ALL
SELECT NULL, 'known', NULL, NULL WHERE EXISTS (SELECT FROM marked)
UNION ALL
SELECT s.id, 'moved_on', NULL, NULL
FROM unnest(mailqueue.settle_emails(%(ids)s::uuid[], %(claims)s::bigint[], %(outcomes)s::text[], %(reasons)s::text[],
    %(waits)s::interval[], %(spent)s::integer[], %(left)s::integer[], %(logs)s::text[], %(message_ids)s::text[],
    %(provider_ids)s::text[], %(codes)s::text[], %(enhanced)s::text[], %(replies)s::text[], %(ms)s::integer[],
    %(hard)s::boolean[], %(conversations)s::text[])) AS s(id);

-- name: note_send_stages :run
-- Record what a worker did at attempts of emails whose spans are exported.
SELECT mailqueue.note_send_stages(%(ids)s::uuid[], %(claimed)s::integer[], %(begun)s::integer[],
    %(composed)s::integer[], %(answered)s::integer[]);

-- name: settle_recipients :run
-- Settle single recipients, in the transaction that settles their messages.
SELECT mailqueue.settle_recipients(%(ids)s::uuid[], %(claims)s::bigint[], %(addresses)s::text[], %(statuses)s::text[],
    %(reasons)s::text[], %(codes)s::text[], %(hards)s::boolean[]);

-- name: shorten_email :run
-- Cut long texts of a claimed email that no index of history can hold.
SELECT mailqueue.shorten_email(%(id)s, %(claim)s);

-- name: hold_unrecorded :value
-- Hold a claimed email whose outcome is refused; false if its claim moved on.
SELECT mailqueue.hold_unrecorded(%(id)s, %(claim)s, %(spent)s, %(reason)s);

-- name: ensure_partitions :value
-- Create the partitions of the coming months; the number that was missing.
SELECT mailqueue.ensure_partitions(%(months)s);

-- name: rest_sender :run
-- Open the circuit of an account after a failed connection.
SELECT mailqueue.rest_sender(%(account)s, %(reason)s);

-- name: rest_sender_for :run
-- Open the circuit of an account for as long as its provider asked, or for longer each time without a time; for all
-- processes.
SELECT mailqueue.rest_sender_for(%(account)s, %(reason)s, %(wait)s::interval, %(is_quota)s::boolean);

-- name: report_failures :run
-- Record failures that are or may be due to the account or its server; too many open its circuit.
SELECT mailqueue.report_failures(%(account)s, %(kinds)s::text[], %(domains)s::text[], %(details)s::text[],
    %(emails)s::uuid[], %(refusals)s::text[]);

-- name: sender_answered :run
-- Close the circuit of an account whose server accepts connections again.
SELECT mailqueue.sender_answered(%(account)s);

-- name: suspend_sender :run
-- Suspend an account whose own server refuses it.
SELECT mailqueue.suspend_sender(%(account)s, %(reason)s);
