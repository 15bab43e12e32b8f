-- Lists of mail, opens and clicks that skip rows, for compatible APIs.

-- name: list_messages :many
-- A part of a project's mail, the newest first.
SELECT l.id, l.status, l.category, l.from_email, m.from_name, l.recipient_email, l.recipient_name, l.subject, l.tags,
       m.custom_data, l.created_at, l.finished_at
FROM (SELECT e.id, e.status, e.category, e.from_email, e.recipient_email, e.recipient_name, e.subject, e.tags,
             e.created_at, e.finished_at
      FROM mailqueue.list_emails(%(project_id)s, %(status)s, %(tag)s, %(sent_from)s, %(to)s, %(campaign)s,
                                 %(category)s, %(batch)s, %(since)s, %(until)s, %(before)s, %(limit)s) AS e
      OFFSET %(offset)s) AS l
LEFT JOIN LATERAL (SELECT o.from_name, o.custom_data
                   FROM mailqueue.emails AS o
                   WHERE o.id = l.id
                   ORDER BY o.finished_at DESC NULLS LAST
                   LIMIT 1) AS m ON true
ORDER BY l.id DESC;

-- name: count_messages :value
-- The number of a project's mails, up to a limit.
SELECT count(*)
FROM mailqueue.list_emails(%(project_id)s, %(status)s, %(tag)s, %(sent_from)s, %(to)s, %(campaign)s, %(category)s,
                           %(batch)s, %(since)s, %(until)s, %(before)s, %(limit)s) AS e;

-- name: list_visits :many
-- Opens or clicks of one mail, newest first.
SELECT v.id, v.occurred_at, v.recipient_email, v.data
FROM mailqueue.email_events AS v
WHERE v.email_id = %(email_id)s
  AND v.project_id = %(project_id)s
  AND v.type = %(type)s
ORDER BY v.occurred_at DESC, v.id DESC
LIMIT %(limit)s OFFSET %(offset)s;

-- name: count_visits :value
-- The number of opens or clicks of one mail.
SELECT count(*)
FROM mailqueue.email_events AS v
WHERE v.email_id = %(email_id)s
  AND v.project_id = %(project_id)s
  AND v.type = %(type)s;

-- name: list_project_visits :many
-- Opens or clicks of all mail of a project, newest first.
SELECT v.id, v.occurred_at, coalesce(v.recipient_email, e.recipient_email) AS recipient_email, v.data, v.email_id,
       e.category, e.tags
FROM (SELECT b.id, b.occurred_at, b.recipient_email, b.data, b.email_id
      FROM mailqueue.email_events AS b
      WHERE b.project_id = %(project_id)s
        AND b.type IN ('opened', 'clicked')
        AND b.type = %(type)s
        AND (%(recipient)s::text IS NULL OR lower(b.recipient_email) = lower(%(recipient)s))
        AND (%(tag)s::text IS NULL AND %(category)s::text IS NULL
             OR EXISTS (SELECT FROM mailqueue.emails AS m
                         WHERE m.id = b.email_id
                           AND (%(tag)s::text IS NULL OR m.tags @> ARRAY[%(tag)s::text])
                           AND (%(category)s::text IS NULL OR m.category = %(category)s)))
      ORDER BY b.occurred_at DESC, b.id DESC
      LIMIT %(limit)s OFFSET %(offset)s) AS v
LEFT JOIN LATERAL (SELECT o.recipient_email, o.category, o.tags
                   FROM mailqueue.emails AS o
                   WHERE o.id = v.email_id
                   ORDER BY o.finished_at DESC NULLS LAST
                   LIMIT 1) AS e ON true
ORDER BY v.occurred_at DESC, v.id DESC;

-- name: count_project_visits :value
-- The number of opens or clicks of all mail of a project, up to a limit.
SELECT count(*)
FROM (SELECT
      FROM mailqueue.email_events AS b
      WHERE b.project_id = %(project_id)s
        AND b.type IN ('opened', 'clicked')
        AND b.type = %(type)s
        AND (%(recipient)s::text IS NULL OR lower(b.recipient_email) = lower(%(recipient)s))
        AND (%(tag)s::text IS NULL AND %(category)s::text IS NULL
             OR EXISTS (SELECT FROM mailqueue.emails AS m
                         WHERE m.id = b.email_id
                           AND (%(tag)s::text IS NULL OR m.tags @> ARRAY[%(tag)s::text])
                           AND (%(category)s::text IS NULL OR m.category = %(category)s)))
      LIMIT %(limit)s) AS v;

-- name: list_activity :many
-- What happened to each of these mails: counts of opens and clicks, the newest event, and whether one was delivered or
-- bounced.
SELECT v.email_id, count(*) FILTER (WHERE v.type = 'opened') AS opens,
       count(*) FILTER (WHERE v.type = 'clicked') AS clicks,
       bool_or(v.type = 'delivered') AS is_delivered, bool_or(v.type IN ('hard_bounce', 'soft_bounce')) AS is_bounced,
       max(v.occurred_at) AS last_at
FROM mailqueue.email_events AS v
WHERE v.email_id = ANY (%(ids)s::uuid[])
  AND v.project_id = %(project_id)s
GROUP BY v.email_id;
