-- The bridge to RabbitMQ: messages, queues, dead letters.

-- name: consume_messages :many
-- What became of messages, up to the first that raised an error.
SELECT m.n, m.answer, m.code, m.error
FROM mailqueue.consume_messages(%(project)s, %(consumers)s::uuid[], %(messages)s::uuid[], %(types)s::text[],
                                %(payloads)s::text[], %(headers)s::text[]) AS m;

-- name: note_broker_queue :run
-- Write the state of a queue of RabbitMQ.
SELECT mailqueue.note_broker_queue(%(project)s, %(queue)s, %(state)s, %(reason)s, %(received)s);

-- name: keep_dead_letter :value
-- Keep a message that could not be handled; its id.
SELECT mailqueue.keep_dead_letter(%(project)s, %(queue)s, %(digest)s, %(message_id)s, %(type)s, %(content_type)s,
                                  %(headers)s, %(body)s, %(reason)s, %(deliveries)s);

-- name: pick_dead_letters :many
-- Dead letters to replay, locked.
SELECT d.id, d.queue, d.message_id, d.type, d.content_type, d.headers, d.body
FROM mailqueue.pick_dead_letters(%(project_id)s, %(ids)s::uuid[], %(type)s, %(since)s, %(until)s, %(after)s,
                                 %(limit)s) AS d;

-- name: settle_dead_letters :run
-- Write what became of dead letters that were replayed.
SELECT mailqueue.settle_dead_letters(%(project_id)s, %(ids)s::uuid[], %(reasons)s::text[], %(detail)s::jsonb, %(by)s);

-- name: list_dead_letters :many
-- Dead letters of a project, newest first; headers and body, which may be large, only of one that is named.
SELECT d.id, d.queue, d.message_id, d.type, d.content_type,
       CASE WHEN %(id)s::uuid IS NULL THEN '{}' ELSE d.headers END AS headers,
       CASE WHEN %(id)s::uuid IS NOT NULL THEN d.body END AS body,
       d.reason, d.deliveries, d.status, d.created_at, d.replayed_at
FROM mailqueue.dead_letters AS d
WHERE d.project_id = %(project_id)s
  AND (%(before)s::uuid IS NULL OR d.id < %(before)s)
  AND (%(id)s::uuid IS NULL OR d.id = %(id)s)
  AND (%(type)s::text IS NULL OR d.type = %(type)s)
  AND (%(status)s::text IS NULL OR d.status = %(status)s)
  AND (%(since)s::timestamptz IS NULL OR d.created_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR d.created_at < %(until)s)
ORDER BY d.project_id DESC, d.id DESC
LIMIT %(limit)s;

-- name: list_broker_queues :many
-- Queues of RabbitMQ from which events are taken, of one project or of all, by name.
SELECT q.name, p.name AS project, q.state, q.reason, q.received_messages, q.received_at, q.seen_at,
       q.seen_at < clock_timestamp() - interval '1 min' AS is_silent
FROM mailqueue.broker_queues AS q
JOIN mailqueue.projects AS p ON p.id = q.project_id
WHERE %(project_id)s::uuid IS NULL
   OR q.project_id = %(project_id)s
ORDER BY q.name, p.name;
