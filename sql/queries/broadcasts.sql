-- Broadcasts: drafts of mail to a list, and those that a schedule sends.

-- name: list_broadcasts :many
-- Broadcasts older than one, newest first, or newer than one, oldest first, those of some ids, or the one of an id,
-- with its texts: those of SendGrid's API, or those of Resend's.
SELECT b.id, b.name, b.list_id, b.topic, b.created_at, b.updated_at, b.schedule_id,
       CASE WHEN s.once_at > b.begun_at + interval '2 s' THEN s.once_at END AS scheduled_at, r.finished_at AS sent_at,
       s.message ->> 'template' AS template,
       CASE WHEN r.id IS NULL THEN coalesce(s.run_count, 0) > 0 ELSE r.queued > 0 END AS has_mail,  -- it may be deleted
       CASE WHEN %(id)s::uuid IS NOT NULL THEN b.content
            WHEN b.summary IS NULL THEN '{}' ELSE jsonb_build_object('singlesend', b.summary) END AS content,
       CASE WHEN b.begun_at IS NULL THEN 'draft'
            WHEN s.id IS NULL THEN 'sent'
            WHEN s.status = 'cancelled' THEN 'canceled'
            WHEN s.status = 'failed' OR r.status = 'failed' THEN 'failed'
            WHEN s.run_count = 0 AND s.once_at > greatest(clock_timestamp(), b.begun_at + interval '2 s')
                THEN 'scheduled'
            WHEN s.run_count = 0 OR r.status IN ('pending', 'assigned') THEN 'queued'
            ELSE 'sent' END AS status
FROM mailqueue.broadcasts AS b
LEFT JOIN mailqueue.schedules AS s ON s.id = b.schedule_id AND s.project_id = b.project_id
LEFT JOIN mailqueue.schedule_runs AS r ON r.schedule_id = s.id AND r.project_id = b.project_id AND r.number = 1
WHERE b.project_id = %(project_id)s AND (b.summary IS NOT NULL) = %(of_sendgrid)s
  AND (%(id)s::uuid IS NULL OR b.id = %(id)s)
  AND (%(ids)s::uuid[] IS NULL OR b.id = ANY (%(ids)s))
  AND (%(after)s::uuid IS NULL OR b.id < %(after)s)
  AND (%(before)s::uuid IS NULL OR b.id > %(before)s)
ORDER BY CASE WHEN %(before)s::uuid IS NOT NULL THEN b.id END, b.id DESC
LIMIT %(limit)s;

-- name: page_single_sends :one
-- How many single sends are sought, whether the one that a page begins behind is among them, and the ids of the page,
-- the newest first, with one more where another page follows.
WITH sought AS MATERIALIZED (
    SELECT b.id
      FROM mailqueue.broadcasts AS b
      LEFT JOIN mailqueue.schedules AS s ON s.id = b.schedule_id AND s.project_id = b.project_id
      LEFT JOIN mailqueue.schedule_runs AS r
        ON r.schedule_id = s.id AND r.project_id = b.project_id AND r.number = 1
     WHERE b.project_id = %(project_id)s AND b.summary IS NOT NULL
       AND (%(among)s::uuid[] IS NULL OR b.id = ANY (%(among)s))
       AND (%(name)s::text IS NULL OR strpos(lower(b.name), lower(%(name)s)) > 0)
       AND (%(categories)s::text[] IS NULL OR b.summary -> 'categories' ?| %(categories)s)
       AND (%(statuses)s::text[] IS NULL OR %(statuses)s @> ARRAY[
            CASE WHEN b.begun_at IS NULL OR (s.status = 'cancelled' AND coalesce(r.queued, 0) = 0) THEN 'draft'
                 WHEN s.status IN ('cancelled', 'failed') OR r.status = 'failed' THEN 'triggered'
                 WHEN s.run_count = 0 OR r.status IN ('pending', 'assigned') THEN 'scheduled'
                 ELSE 'triggered' END])
)
SELECT (SELECT count(*) FROM sought) AS total,
       %(after)s::uuid IS NULL OR EXISTS (SELECT FROM sought AS f WHERE f.id = %(after)s) AS is_there,
       ARRAY(SELECT f.id FROM sought AS f WHERE %(after)s::uuid IS NULL OR f.id < %(after)s
              ORDER BY f.id DESC LIMIT %(limit)s) AS ids;

-- name: list_single_send_categories :many
-- Categories of the newest single sends, by name.
SELECT c.name COLLATE "C" AS name
FROM (SELECT e.name
        FROM mailqueue.broadcasts AS b
       CROSS JOIN LATERAL jsonb_array_elements_text(
           CASE jsonb_typeof(b.summary -> 'categories') WHEN 'array' THEN b.summary -> 'categories' ELSE '[]' END
       ) AS e(name)
       WHERE b.project_id = %(project_id)s AND b.summary IS NOT NULL
       GROUP BY e.name
       ORDER BY max(b.created_at) DESC, e.name
       LIMIT %(limit)s) AS c
ORDER BY 1;

-- name: add_broadcast :maybe
-- Id of the draft that was added; none: the project has as many as it may have.
INSERT INTO mailqueue.broadcasts (id, project_id, name, list_id, topic, content, summary, created_by)
SELECT %(id)s, %(project_id)s, %(name)s, %(list_id)s, %(topic)s, %(content)s, %(summary)s, %(by)s
 WHERE (SELECT count(*) FROM mailqueue.broadcasts AS b WHERE b.project_id = %(project_id)s) < %(most)s
RETURNING id;

-- name: change_broadcast :maybe
-- Id of the draft that was changed; none: it is no draft, or was changed after a time.
UPDATE mailqueue.broadcasts AS b
   SET name = %(name)s, list_id = %(list_id)s, topic = %(topic)s, content = %(content)s, summary = %(summary)s,
       updated_at = clock_timestamp()
 WHERE b.id = %(id)s AND b.project_id = %(project_id)s AND b.begun_at IS NULL AND b.updated_at = %(seen_at)s
RETURNING b.id;

-- name: begin_broadcast :maybe
-- Id of the draft that a schedule sends from now on; none: it is no draft.
UPDATE mailqueue.broadcasts AS b
   SET schedule_id = %(schedule_id)s, begun_at = clock_timestamp(), updated_at = clock_timestamp()
 WHERE b.id = %(id)s AND b.project_id = %(project_id)s AND b.begun_at IS NULL
RETURNING b.id;

-- name: take_back_broadcast :maybe
-- Id of the broadcast that is a draft again.
UPDATE mailqueue.broadcasts AS b
   SET schedule_id = NULL, begun_at = NULL, updated_at = clock_timestamp()
 WHERE b.id = %(id)s AND b.project_id = %(project_id)s AND b.schedule_id = %(schedule_id)s
RETURNING b.id;

-- name: remove_broadcast :maybe
-- Id of the draft that was removed; none: it is no draft.
DELETE FROM mailqueue.broadcasts AS b
 WHERE b.id = %(id)s AND b.project_id = %(project_id)s AND b.begun_at IS NULL
RETURNING b.id;

-- name: list_broadcast_recipients :many
-- Mail of a broadcast to which something happened, newest first: how often by people, and what was clicked.
SELECT t.email_id AS id, c.id AS contact_id, e.recipient_email AS email, v.times, v.is_permanent,
       CASE WHEN %(type)s = 'clicked' THEN (
           SELECT jsonb_agg(jsonb_build_object('url', l.url, 'clicks', l.clicks) ORDER BY l.url)
             FROM (SELECT o.data ->> 'url' AS url, count(*) AS clicks FROM mailqueue.email_events AS o
                    WHERE o.email_id = t.email_id AND o.type = 'clicked' AND o.data ? 'url'
                      AND (o.data ->> 'is_machine') IS DISTINCT FROM 'true' GROUP BY 1) AS l) END AS links
FROM mailqueue.mail_of_broadcast(%(project_id)s, %(id)s) AS t(email_id)
CROSS JOIN LATERAL (
    SELECT m.status, m.recipient_email FROM mailqueue.emails AS m
     WHERE m.id = t.email_id AND m.project_id = %(project_id)s LIMIT 1) AS e
CROSS JOIN LATERAL (
    SELECT count(*) AS times, coalesce(bool_or(o.type = 'hard_bounce'), false) AS is_permanent
      FROM mailqueue.email_events AS o
     WHERE o.email_id = t.email_id AND o.type = ANY (%(events)s::text[])
       AND (o.data ->> 'is_machine') IS DISTINCT FROM 'true') AS v
LEFT JOIN mailqueue.contacts AS c
  ON c.project_id = %(project_id)s AND c.email_key = mailqueue.address_key(e.recipient_email) AND NOT c.is_test
WHERE CASE WHEN %(type)s IN ('sent', 'suppressed') THEN e.status = %(type)s ELSE v.times > 0 END
  AND (%(is_permanent)s::boolean IS NULL OR v.is_permanent = %(is_permanent)s)
  AND (%(email)s::text IS NULL OR strpos(lower(e.recipient_email), lower(%(email)s)) > 0)
  AND (%(after)s::uuid IS NULL OR t.email_id < %(after)s)
  AND (%(before)s::uuid IS NULL OR t.email_id > %(before)s)
ORDER BY CASE WHEN %(before)s::uuid IS NOT NULL THEN t.email_id END, t.email_id DESC
LIMIT %(limit)s;

-- name: list_broadcast_links :many
-- Links of a broadcast that people clicked, by the address, with a number made from it.
SELECT md5(o.data ->> 'url')::uuid AS id, o.data ->> 'url' AS url, count(*) AS clicks,
       count(DISTINCT o.email_id) AS unique_clicks
FROM mailqueue.mail_of_broadcast(%(project_id)s, %(id)s) AS t(email_id)
JOIN mailqueue.email_events AS o ON o.email_id = t.email_id AND o.project_id = %(project_id)s
WHERE o.type = 'clicked' AND o.data ? 'url'
  AND (o.data ->> 'is_machine') IS DISTINCT FROM 'true'
GROUP BY o.data ->> 'url'
ORDER BY count(*) DESC, o.data ->> 'url'
LIMIT %(limit)s;

-- name: count_broadcasts :many
-- How much mail broadcasts have, and how often what happened to it: opens and clicks by people.
SELECT b.id, v.*
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS b(id, n)
CROSS JOIN LATERAL (
    SELECT count(*) AS requests,
           count(*) FILTER (WHERE e.delivered > 0) AS delivered,
           count(*) FILTER (WHERE e.bounced > 0) AS bounces,
           coalesce(sum(e.opened), 0)::bigint AS opens,
           count(*) FILTER (WHERE e.opened > 0) AS unique_opens,
           coalesce(sum(e.clicked), 0)::bigint AS clicks,
           count(*) FILTER (WHERE e.clicked > 0) AS unique_clicks,
           count(*) FILTER (WHERE e.complained > 0) AS spam_reports,
           count(*) FILTER (WHERE e.unsubscribed > 0) AS unsubscribes
      FROM mailqueue.mail_of_broadcast(%(project_id)s, b.id) AS t(email_id)
     CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE o.type = 'delivered') AS delivered,
               count(*) FILTER (WHERE o.type = 'hard_bounce') AS bounced,
               count(*) FILTER (WHERE o.type = 'opened') AS opened,
               count(*) FILTER (WHERE o.type = 'clicked') AS clicked,
               count(*) FILTER (WHERE o.type = 'complaint') AS complained,
               count(*) FILTER (WHERE o.type = 'unsubscribed') AS unsubscribed
          FROM mailqueue.email_events AS o
         WHERE o.email_id = t.email_id AND (o.data ->> 'is_machine') IS DISTINCT FROM 'true') AS e) AS v
ORDER BY b.n;
