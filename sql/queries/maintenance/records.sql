-- Records that leave their tables by project and month, and return. A kind is a table; opens and clicks are a kind of
-- their own in email_events. Records are passed as JSON, a field for each column, mails with their recipients.

-- name: list_shortest_stays :many
-- For each kind, the fewest days that records of any project stay hot: younger months need no check.
SELECT r.kind, min(r.hot_days) AS days
FROM mailqueue.retention AS r
GROUP BY r.kind;

-- name: find_elsewhere :many
-- Indexes of those records that the database still has in another place: requeued mail, content in use again.
SELECT i.n
FROM unnest(%(ids)s::text[]) WITH ORDINALITY AS i(id, n)
WHERE CASE %(kind)s::text
      WHEN 'email_history' THEN EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = i.id::uuid)
                                OR EXISTS (SELECT FROM mailqueue.email_history AS h WHERE h.id = i.id::uuid)
      WHEN 'email_contents' THEN EXISTS (SELECT FROM mailqueue.email_contents AS c WHERE c.id = i.id::bigint)
      ELSE false END
ORDER BY i.n;

-- name: find_due_email_history :many
-- Projects with mails of that month, all older than their hot days.
SELECT r.project_id, r.keep_days IS NOT NULL AND r.keep_days = r.hot_days AS is_deleted
FROM mailqueue.retention AS r
WHERE r.kind = %(kind)s
  AND %(until)s::timestamptz <= now() - make_interval(days => r.hot_days)
  AND r.project_id IN (SELECT h.project_id FROM mailqueue.email_history AS h
                       WHERE h.finished_at >= %(since)s::timestamptz AND h.finished_at < %(until)s::timestamptz)
ORDER BY r.project_id;

-- name: read_email_history :many
-- The mails of a project that were finished in that time, each with its recipients where it has several.
SELECT (CASE WHEN r.list IS NULL THEN to_jsonb(h)
             ELSE to_jsonb(h) || jsonb_build_object('email_recipients', r.list) END)::text
FROM mailqueue.email_history AS h
CROSS JOIN LATERAL (SELECT jsonb_agg(to_jsonb(e) ORDER BY e.position) AS list
                    FROM mailqueue.email_recipients AS e WHERE e.email_id = h.id) AS r
WHERE h.project_id = %(project_id)s AND h.finished_at >= %(since)s::timestamptz
  AND h.finished_at < %(until)s::timestamptz;

-- name: remove_email_history :many
-- Delete these mails with their recipients and count them as archived; returns the indexes of those that were there.
WITH input AS MATERIALIZED (
    SELECT i.id::uuid AS id, i.at::timestamptz AS at, i.n
    FROM unnest(%(ids)s::text[], %(times)s::text[]) WITH ORDINALITY AS i(id, at, n)
), gone AS (
    DELETE FROM mailqueue.email_history AS h
    USING input AS i
    WHERE h.id = i.id AND h.finished_at = i.at
      AND h.finished_at >= %(since)s::timestamptz AND h.finished_at < %(until)s::timestamptz
    RETURNING i.n, h.id, h.project_id, h.created_at, h.status
), unaddressed AS (
    DELETE FROM mailqueue.email_recipients AS r WHERE r.email_id IN (SELECT g.id FROM gone AS g)
), booked AS (
    INSERT INTO mailqueue.archived_days AS a (project_id, day, status, emails)
    SELECT g.project_id, (g.created_at AT TIME ZONE 'UTC')::date, g.status, count(*) FROM gone AS g GROUP BY 1, 2, 3
    ON CONFLICT ON CONSTRAINT archived_days_pkey DO UPDATE SET emails = a.emails + excluded.emails
)
SELECT g.n FROM gone AS g ORDER BY g.n;

-- name: restore_email_history :value
-- Insert mails and their recipients again and subtract them from the archived ones; returns the number inserted.
WITH input AS MATERIALIZED (
    SELECT i.doc FROM set_config('mailqueue.untold', 'on', true), unnest(%(documents)s::jsonb[]) AS i(doc)
), back AS (
    INSERT INTO mailqueue.email_history
    SELECT h.* FROM input AS i
    -- Mail that was archived before modes existed is test mail if its lane is.
    CROSS JOIN LATERAL (SELECT jsonb_build_object('is_test', EXISTS (
                            SELECT FROM mailqueue.lanes AS l WHERE l.id = (i.doc ->> 'lane_id')::integer
                               AND starts_with(coalesce(l.home_route, l.route), '(test)'))) AS mode) AS w
    CROSS JOIN LATERAL jsonb_populate_record(NULL::mailqueue.email_history, w.mode || i.doc) AS h
    ON CONFLICT DO NOTHING
    RETURNING project_id, created_at, status
), addressed AS (
    INSERT INTO mailqueue.email_recipients
    SELECT r.* FROM input AS i
    CROSS JOIN LATERAL jsonb_populate_recordset(NULL::mailqueue.email_recipients, i.doc -> 'email_recipients') AS r
    ON CONFLICT DO NOTHING
), unbooked AS (
    UPDATE mailqueue.archived_days AS a SET emails = a.emails - c.emails
    FROM (SELECT b.project_id, (b.created_at AT TIME ZONE 'UTC')::date AS day, b.status, count(*) AS emails
          FROM back AS b GROUP BY 1, 2, 3) AS c
    WHERE a.project_id = c.project_id AND a.day = c.day AND a.status = c.status
)
SELECT count(*) FROM back;

-- name: find_due_send_logs :many
-- Projects with attempts of that month, all older than their hot days.
SELECT r.project_id, r.keep_days IS NOT NULL AND r.keep_days = r.hot_days AS is_deleted
FROM mailqueue.retention AS r
WHERE r.kind = %(kind)s
  AND %(until)s::timestamptz <= now() - make_interval(days => r.hot_days)
  AND r.project_id IN (SELECT l.project_id FROM mailqueue.send_logs AS l
                       WHERE l.sent_at >= %(since)s::timestamptz AND l.sent_at < %(until)s::timestamptz)
ORDER BY r.project_id;

-- name: read_send_logs :many
-- The attempts of a project in that time.
SELECT to_jsonb(l)::text
FROM mailqueue.send_logs AS l
WHERE l.project_id = %(project_id)s AND l.sent_at >= %(since)s::timestamptz AND l.sent_at < %(until)s::timestamptz;

-- name: remove_send_logs :many
-- Delete these attempts; returns the indexes of those that were there.
WITH gone AS (
    DELETE FROM mailqueue.send_logs AS l
    USING unnest(%(emails)s::text[], %(ids)s::text[], %(times)s::text[]) WITH ORDINALITY AS i(email, id, at, n)
    WHERE l.email_id = i.email::uuid AND l.id = i.id::bigint AND l.sent_at = i.at::timestamptz
      AND l.sent_at >= %(since)s::timestamptz AND l.sent_at < %(until)s::timestamptz
    RETURNING i.n
)
SELECT g.n FROM gone AS g ORDER BY g.n;

-- name: restore_send_logs :value
-- Insert attempts again; returns the number inserted.
WITH back AS (
    INSERT INTO mailqueue.send_logs OVERRIDING SYSTEM VALUE
    SELECT l.* FROM set_config('mailqueue.untold', 'on', true), unnest(%(documents)s::jsonb[]) AS i(doc)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::mailqueue.send_logs, i.doc) AS l
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT count(*) FROM back;

-- name: find_due_email_events :many
-- Projects with events of a kind of that month, all older than their hot days.
SELECT r.project_id, r.keep_days IS NOT NULL AND r.keep_days = r.hot_days AS is_deleted
FROM mailqueue.retention AS r
WHERE r.kind = %(kind)s
  AND %(until)s::timestamptz <= now() - make_interval(days => r.hot_days)
  AND r.project_id IN (SELECT v.project_id FROM mailqueue.email_events AS v
                       WHERE v.occurred_at >= %(since)s::timestamptz AND v.occurred_at < %(until)s::timestamptz
                         AND (v.type IN ('opened', 'clicked')) = (%(kind)s = 'opens_clicks'))
ORDER BY r.project_id;

-- name: read_email_events :many
-- The events of a project and kind in that time.
SELECT to_jsonb(v)::text
FROM mailqueue.email_events AS v
WHERE v.project_id = %(project_id)s AND v.occurred_at >= %(since)s::timestamptz
  AND v.occurred_at < %(until)s::timestamptz
  AND (v.type IN ('opened', 'clicked')) = (%(kind)s = 'opens_clicks');

-- name: remove_email_events :many
-- Delete these events; returns the indexes of those that were there.
WITH gone AS (
    DELETE FROM mailqueue.email_events AS v
    USING unnest(%(ids)s::text[], %(times)s::text[]) WITH ORDINALITY AS i(id, at, n)
    WHERE v.id = i.id::uuid AND v.occurred_at = i.at::timestamptz
      AND v.occurred_at >= %(since)s::timestamptz AND v.occurred_at < %(until)s::timestamptz
    RETURNING i.n
)
SELECT g.n FROM gone AS g ORDER BY g.n;

-- name: restore_email_events :value
-- Insert events again; returns the number inserted.
WITH back AS (
    INSERT INTO mailqueue.email_events
    SELECT v.* FROM set_config('mailqueue.untold', 'on', true), unnest(%(documents)s::jsonb[]) AS i(doc)
    CROSS JOIN LATERAL (SELECT jsonb_build_object('is_test',
                                                  mailqueue.is_test_email((i.doc ->> 'email_id')::uuid)) AS mode) AS w
    CROSS JOIN LATERAL jsonb_populate_record(NULL::mailqueue.email_events, w.mode || i.doc) AS v
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT count(*) FROM back;

-- name: find_due_email_contents :many
-- Projects with contents of that month that no mail uses that is queued or was finished within the hot days.
SELECT r.project_id, bool_or(r.keep_days IS NOT NULL AND r.keep_days = r.hot_days) AS is_deleted
FROM mailqueue.retention AS r
JOIN mailqueue.email_contents AS c ON c.project_id = r.project_id
WHERE r.kind = %(kind)s
  AND %(until)s::timestamptz <= now() - make_interval(days => r.hot_days)
  AND c.created_on >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
  AND c.created_on < (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
  AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.content_id = c.id AND q.content_on = c.created_on)
  AND NOT EXISTS (SELECT FROM mailqueue.email_history AS h
                  WHERE h.content_id = c.id AND h.content_on = c.created_on
                    AND h.finished_at > now() - make_interval(days => r.hot_days))
GROUP BY r.project_id
ORDER BY r.project_id;

-- name: read_email_contents :many
-- Contents of a project of that time that no mail uses that is queued or was finished within the hot days.
SELECT to_jsonb(c)::text
FROM mailqueue.email_contents AS c
JOIN mailqueue.retention AS r ON r.project_id = c.project_id AND r.kind = %(kind)s
WHERE c.project_id = %(project_id)s
  AND c.created_on >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
  AND c.created_on < (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
  AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.content_id = c.id AND q.content_on = c.created_on)
  AND NOT EXISTS (SELECT FROM mailqueue.email_history AS h
                  WHERE h.content_id = c.id AND h.content_on = c.created_on
                    AND h.finished_at > now() - make_interval(days => r.hot_days));

-- name: lock_email_contents :run
-- Wait for transactions that are queueing mail again with these contents.
SELECT FROM mailqueue.email_contents AS c
WHERE (c.id, c.created_on) IN (SELECT i.id::bigint, i.at::date
                               FROM unnest(%(ids)s::text[], %(times)s::text[]) AS i(id, at))
ORDER BY c.id
FOR UPDATE;

-- name: remove_email_contents :many
-- Delete these contents if no queued mail uses them, locked before; returns the indexes of those deleted.
WITH gone AS (
    DELETE FROM mailqueue.email_contents AS c
    USING unnest(%(ids)s::text[], %(times)s::text[]) WITH ORDINALITY AS i(id, at, n)
    WHERE c.id = i.id::bigint AND c.created_on = i.at::date
      AND c.created_on >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
      AND c.created_on < (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
      AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.content_id = c.id AND q.content_on = c.created_on)
    RETURNING i.n
)
SELECT g.n FROM gone AS g ORDER BY g.n;

-- name: restore_email_contents :value
-- Insert contents again; returns the number inserted.
WITH back AS (
    INSERT INTO mailqueue.email_contents
    SELECT c.* FROM unnest(%(documents)s::jsonb[]) AS i(doc)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::mailqueue.email_contents, i.doc) AS c
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT count(*) FROM back;

-- name: find_due_attachments :many
-- Projects with files of that month that no content uses.
SELECT r.project_id, bool_or(r.keep_days IS NOT NULL AND r.keep_days = r.hot_days) AS is_deleted
FROM mailqueue.retention AS r
JOIN mailqueue.attachments AS a ON a.project_id = r.project_id
WHERE r.kind = %(kind)s
  AND %(until)s::timestamptz <= now() - make_interval(days => r.hot_days)
  AND a.octets IS NOT NULL
  AND a.created_on >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
  AND a.created_on < (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
  AND NOT EXISTS (SELECT FROM mailqueue.email_contents AS c
                  WHERE c.files @> jsonb_build_array(jsonb_build_object('id', a.id)))
GROUP BY r.project_id
ORDER BY r.project_id;

-- name: read_leaving_attachments :many
-- The files of a project of that time that no content uses, their bytes in hexadecimal.
SELECT to_jsonb(a)::text
FROM mailqueue.attachments AS a
WHERE a.project_id = %(project_id)s
  AND a.octets IS NOT NULL
  AND a.created_on >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
  AND a.created_on < (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
  AND NOT EXISTS (SELECT FROM mailqueue.email_contents AS c
                  WHERE c.files @> jsonb_build_array(jsonb_build_object('id', a.id)));

-- name: remove_attachments :many
-- Delete these files; returns the indexes of those that were there.
WITH gone AS (
    DELETE FROM mailqueue.attachments AS a
    USING unnest(%(ids)s::text[], %(times)s::text[]) WITH ORDINALITY AS i(id, at, n)
    WHERE a.id = i.id::uuid AND a.created_on = i.at::date
      AND a.created_on >= (%(since)s::timestamptz AT TIME ZONE 'UTC')::date
      AND a.created_on < (%(until)s::timestamptz AT TIME ZONE 'UTC')::date
    RETURNING i.n
)
SELECT g.n FROM gone AS g ORDER BY g.n;

-- name: restore_attachments :value
-- Insert files again; returns the number inserted.
WITH back AS (
    INSERT INTO mailqueue.attachments
    SELECT a.* FROM unnest(%(documents)s::jsonb[]) AS i(doc)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::mailqueue.attachments, '{"is_test": false}' || i.doc) AS a
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT count(*) FROM back;
