-- Events of some mails, for Mailgun's API.

-- name: list_events_of_emails :many
-- Events of mails before or after one of them; that a mail was accepted stands in the mail itself. Filtered by type and
-- recipient.
SELECT t.id, t.occurred_at, t.type, t.email_id, t.recipient_email, t.source, t.code, t.detail, t.data
FROM (SELECT v.id, v.occurred_at, v.type, v.email_id, v.recipient_email, v.source, v.code, v.detail, v.data
      FROM mailqueue.email_events AS v
      WHERE v.email_id = ANY (%(ids)s)
        AND v.project_id = %(project_id)s
        AND v.type <> 'queued'
      UNION ALL
      SELECT md5(m.id || ' queued')::uuid, m.created_at, 'queued', m.id, m.recipient_email, NULL, NULL, NULL, NULL
      FROM mailqueue.emails AS m
      WHERE m.id = ANY (%(ids)s)
        AND m.project_id = %(project_id)s
        AND NOT (m.status = 'suppressed' AND m.finished_at = m.created_at)) AS t
WHERE t.type = ANY (%(types)s)
  AND (%(addresses)s::text[] IS NULL OR t.recipient_email IS NULL OR lower(t.recipient_email) = ANY (%(addresses)s))
  AND (%(since)s::timestamptz IS NULL OR t.occurred_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR t.occurred_at <= %(until)s)
  AND (%(at)s::timestamptz IS NULL
       OR CASE WHEN %(is_ascending)s THEN (t.occurred_at, t.id) > (%(at)s, %(at_id)s::uuid)
               ELSE (t.occurred_at, t.id) < (%(at)s, %(at_id)s::uuid) END)
ORDER BY CASE WHEN %(is_ascending)s THEN t.occurred_at END, CASE WHEN %(is_ascending)s THEN t.id END,
         t.occurred_at DESC, t.id DESC
LIMIT %(limit)s;

-- name: list_emails_of_events :many
-- What events say about their mails.
SELECT DISTINCT ON (e.id) e.id, e.created_at, e.from_email, e.from_name, e.subject, e.message_id, e.category, e.tags,
       e.custom_data, e.recipient_email, e.recipient_name,
       EXISTS (SELECT FROM mailqueue.email_events AS v
                WHERE v.email_id = e.id AND v.type IN ('hard_bounce', 'soft_bounce')) AS is_bounced
FROM mailqueue.emails AS e
WHERE e.id = ANY (%(ids)s)
  AND e.project_id = %(project_id)s
ORDER BY e.id, e.finished_at DESC NULLS LAST;
