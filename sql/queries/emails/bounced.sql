-- Bounces and complaints of a project, for compatible APIs.

-- name: list_bounces :many
-- Bounces and complaints, newest first. An address is inactive while its suppression lasts.
SELECT v.id, v.occurred_at, v.type, v.email_id, coalesce(v.recipient_email, e.recipient_email) AS recipient_email,
       v.code, v.detail, e.subject, e.from_email, e.category, e.tags,
       EXISTS (SELECT FROM mailqueue.suppressions AS s
                WHERE s.project_id = v.project_id AND s.category = '' AND s.expires_at > now()
                  AND s.address = mailqueue.address_key(coalesce(v.recipient_email, e.recipient_email))
                  AND s.reason = ANY (%(reasons)s)) AS is_inactive,
       EXISTS (SELECT FROM mailqueue.bounce_dump(v.project_id, v.id, v.occurred_at)) AS has_dump
FROM (SELECT b.*
      FROM mailqueue.email_events AS b
      WHERE b.project_id = %(project_id)s
        AND b.type IN ('hard_bounce', 'soft_bounce', 'complaint')
        AND b.type = ANY (%(types)s)
        AND (%(number)s::bigint IS NULL
             OR %(number)s = (('x' || encode(substring(sha256(uuid_send(b.id)) FROM 1 FOR 8), 'hex'))::bit(64) >> 11
                              )::bigint)
        AND (%(email_id)s::uuid IS NULL OR b.email_id = %(email_id)s)
        AND (%(address)s::text IS NULL OR position(lower(%(address)s) IN lower(b.recipient_email)) > 0)
        AND (%(tag)s::text IS NULL
             OR EXISTS (SELECT FROM mailqueue.emails AS t WHERE t.id = b.email_id AND t.tags @> ARRAY[%(tag)s::text]))
        AND (%(since)s::timestamptz IS NULL OR b.occurred_at >= %(since)s)
        AND (%(until)s::timestamptz IS NULL OR b.occurred_at <= %(until)s)
      ORDER BY b.occurred_at DESC, b.id DESC
      LIMIT %(limit)s OFFSET %(offset)s) AS v
LEFT JOIN LATERAL (SELECT m.subject, m.from_email, m.category, m.tags, m.recipient_email
                   FROM mailqueue.emails AS m
                   WHERE m.id = v.email_id
                   ORDER BY m.finished_at DESC NULLS LAST
                   LIMIT 1) AS e ON true
ORDER BY v.occurred_at DESC, v.id DESC;

-- name: count_bounces :many
-- The number of bounces and complaints of each type.
SELECT b.type, count(*) AS events
FROM mailqueue.email_events AS b
WHERE b.project_id = %(project_id)s
  AND b.type IN ('hard_bounce', 'soft_bounce', 'complaint')
  AND b.type = ANY (%(types)s)
  AND (%(email_id)s::uuid IS NULL OR b.email_id = %(email_id)s)
  AND (%(address)s::text IS NULL OR position(lower(%(address)s) IN lower(b.recipient_email)) > 0)
  AND (%(tag)s::text IS NULL
       OR EXISTS (SELECT FROM mailqueue.emails AS t WHERE t.id = b.email_id AND t.tags @> ARRAY[%(tag)s::text]))
  AND (%(since)s::timestamptz IS NULL OR b.occurred_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR b.occurred_at <= %(until)s)
GROUP BY b.type
ORDER BY b.type;

-- name: list_bounced_tags :many
-- Tags of the mail that bounced or was complained about, in order.
SELECT DISTINCT t.tag
FROM mailqueue.email_events AS b
JOIN mailqueue.emails AS m ON m.id = b.email_id
CROSS JOIN LATERAL unnest(m.tags) AS t (tag)
WHERE b.project_id = %(project_id)s
  AND b.type IN ('hard_bounce', 'soft_bounce', 'complaint')
ORDER BY t.tag
LIMIT %(limit)s;

-- name: count_suppressed :value
-- The number of addresses that are suppressed for some reasons in one of the categories.
SELECT count(DISTINCT s.address)
FROM mailqueue.suppressions AS s
WHERE s.project_id = %(project_id)s
  AND s.expires_at > now()
  AND s.reason = ANY (%(reasons)s)
  AND s.category = ANY (%(categories)s);
