-- Statements of the HTTP API about mail.

-- name: find_suppressions_at_accept :many
-- Why mails were suppressed when they were accepted, in order; NULL for a queued one.
SELECT mailqueue.suppressed_at_accept(e.id)
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS e(id, place)
ORDER BY e.place;

-- name: find_project_email :maybe
-- One mail of a project, finished or not, with the reason for its state. Its lists are empty here: each is read by a
-- statement of its own.
SELECT e.id, e.status, mailqueue.why(e.id) AS why, e.reason,
       (ARRAY['critical', 'high', 'normal', 'low'])[e.priority + 1] AS priority, e.category,
       e.from_email, e.from_name, e.reply_to, e.recipient_email, e.recipient_name, e.subject, e.campaign_id, e.tags,
       e.custom_data, e.sender, e.attempts AS attempt_count,
       e.max_attempts, e.delivery, e.message_id, e.provider_message_id, e.created_at, e.run_at,
       e.run_at AS scheduled_at, e.expires_at, e.finished_at,
       '{}'::text[] AS recipients, '{}'::text[] AS attempts, false AS has_more_attempts,
       '{}'::text[] AS events, NULL AS more_events, '{}'::text[] AS timeline
       [[, e.KEPT_COLUMNS BUT priority, category, campaign_id, tags, custom_data, expires_at, max_attempts, delivery,
                                idempotency_key]]
FROM mailqueue.emails AS e
WHERE e.id = %(id)s
  AND e.project_id = %(project_id)s
ORDER BY e.finished_at DESC NULLS LAST
LIMIT 1;

-- name: list_email_recipients :many
-- The recipients of a message that has several, in their order.
SELECT r.kind, r.address, r.name, r.status, r.reason, r.reply_code, r.settled_at
FROM mailqueue.email_recipients AS r
WHERE r.email_id = %(id)s
ORDER BY r.position;

-- name: list_newest_attempts :many
-- The newest attempts to send a mail, newest first; what was said at the first so many of them.
SELECT l.attempt, l.sent_at, l.status, l.recipient_email, a.name AS sender, l.error_code AS code,
       l.enhanced_code, l.reply, l.response_ms,
       CASE WHEN row_number() OVER (ORDER BY l.sent_at DESC, l.id DESC) <= %(conversations)s::integer
            THEN l.conversation END AS conversation
FROM mailqueue.send_logs AS l
LEFT JOIN mailqueue.sender_accounts AS a ON a.id = l.sender_account_id
WHERE l.email_id = %(id)s
ORDER BY l.sent_at DESC, l.id DESC
LIMIT %(limit)s::integer;

-- name: list_newest_email_events :many
-- The newest other events of a mail, newest first.
SELECT v.id, v.occurred_at, v.type, v.recipient_email, v.source, v.code, v.detail, v.data
FROM mailqueue.email_events AS v
WHERE v.email_id = %(id)s
ORDER BY v.occurred_at DESC, v.id DESC
LIMIT %(limit)s::integer;

-- name: list_email_events :many
-- All events of a mail, oldest first, after one of them. That it was queued and sent stands in the mail itself: these
-- two have ids derived from that of the mail.
WITH mail AS MATERIALIZED (
    SELECT e.id, e.status, e.recipient_email, e.created_at, e.finished_at
    FROM mailqueue.emails AS e
    WHERE e.id = %(id)s
    ORDER BY e.finished_at DESC NULLS LAST
    LIMIT 1
), told AS (
    (SELECT v.id, v.occurred_at, v.type, v.recipient_email, v.source, v.code, v.detail, v.data
     FROM mailqueue.email_events AS v
     WHERE v.email_id = %(id)s
       AND (%(after)s::timestamptz IS NULL OR (v.occurred_at, v.id) > (%(after)s::timestamptz, %(after_id)s::uuid))
     ORDER BY v.occurred_at, v.id
     LIMIT %(limit)s::integer)
    UNION ALL
    SELECT md5(m.id || ' queued')::uuid, m.created_at, 'queued', m.recipient_email, NULL, NULL, NULL, NULL
    FROM mail AS m
    WHERE NOT (m.status = 'suppressed' AND m.finished_at = m.created_at)
    UNION ALL
    SELECT md5(m.id || ' sent')::uuid, m.finished_at, 'sent', m.recipient_email, NULL, NULL, NULL, NULL
    FROM mail AS m
    WHERE m.status = 'sent'
)
SELECT t.id, t.occurred_at, t.type, t.recipient_email, t.source, t.code, t.detail, t.data
FROM told AS t
WHERE %(after)s::timestamptz IS NULL OR (t.occurred_at, t.id) > (%(after)s::timestamptz, %(after_id)s::uuid)
ORDER BY t.occurred_at, t.id
LIMIT %(limit)s::integer;

-- name: find_refusal :maybe
-- Why mail is not accepted at present; NULL while it is accepted.
SELECT mailqueue.refusal_now();

-- name: act_for :value
-- Until the transaction ends, take the rights of role mailqueue_api, if the login may, and see only rows of one
-- project, or of all for '*', and of the key's mode: test, live, or both for NULL. The audit names the given actor.
-- Writes nothing in read-only requests. False for a key that was revoked.
SELECT %(key)s::uuid IS NULL OR cardinality(mailqueue.keys_in_force(ARRAY[%(key)s::uuid])) = 1
FROM (SELECT set_config('mailqueue.project', %(project)s, true), set_config('mailqueue.actor', %(by)s, true),
             set_config('mailqueue.mode', coalesce(%(mode)s::text, ''), true),
             CASE WHEN %(read_only)s THEN set_config('transaction_read_only', 'on', true) END,
             set_config('role', CASE WHEN pg_has_role(session_user, to_regrole('mailqueue_api')::oid,
                                                      CASE WHEN current_setting('server_version_num')::integer < 160000
                                                           THEN 'MEMBER' ELSE 'SET' END)
                                     THEN 'mailqueue_api' ELSE current_setting('role') END, true)) AS s;

-- name: may_act_as_api :value
-- Whether row-level security applies to an API with this login: not if it has the owner's rights and cannot take the
-- role of the API. A login with neither sees nothing anyway.
SELECT coalesce(NOT pg_has_role(session_user, 'mailqueue_owner', 'MEMBER')
                OR pg_has_role(session_user, to_regrole('mailqueue_api')::oid,
                               CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'
                                    ELSE 'SET' END),
                false);
