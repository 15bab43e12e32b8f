-- Broadcasts: drafts of mail to a list, and those that a schedule sends.

-- name: list_broadcasts :many
-- Broadcasts older than one, newest first, or newer than one, oldest first, or the one of an id, with its content.
SELECT b.id, b.name, b.list_id, b.topic, b.created_at, b.schedule_id,
       CASE WHEN s.once_at > b.begun_at + interval '2 s' THEN s.once_at END AS scheduled_at, r.finished_at AS sent_at,
       s.message ->> 'template' AS template,
       CASE WHEN %(id)s::uuid IS NOT NULL THEN b.content ELSE '{}' END AS content,
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
WHERE b.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR b.id = %(id)s)
  AND (%(after)s::uuid IS NULL OR b.id < %(after)s)
  AND (%(before)s::uuid IS NULL OR b.id > %(before)s)
ORDER BY CASE WHEN %(before)s::uuid IS NOT NULL THEN b.id END, b.id DESC
LIMIT %(limit)s;

-- name: add_broadcast :maybe
-- Id of the draft that was added; none: the project has as many as it may have.
INSERT INTO mailqueue.broadcasts (id, project_id, name, list_id, topic, content, created_by)
SELECT %(id)s, %(project_id)s, %(name)s, %(list_id)s, %(topic)s, %(content)s, %(by)s
 WHERE (SELECT count(*) FROM mailqueue.broadcasts AS b WHERE b.project_id = %(project_id)s) < %(most)s
RETURNING id;

-- name: change_broadcast :maybe
-- Id of the draft that was changed; none: it is no draft.
UPDATE mailqueue.broadcasts AS b
   SET name = %(name)s, list_id = %(list_id)s, topic = %(topic)s, content = %(content)s, updated_at = clock_timestamp()
 WHERE b.id = %(id)s AND b.project_id = %(project_id)s AND b.begun_at IS NULL
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
