-- Outboxes and their messages.

-- name: claim_publishing :many
-- Take outboxes that have messages for a worker.
SELECT c.id, c.claim_no, c.project_id, c.attempts
FROM mailqueue.claim_publishing(%(worker)s, %(limit)s, %(lease)s, %(alone)s, %(first)s, %(keys)s::text[],
                                %(rooms)s::integer[]) AS c;

-- name: extend_horizons :many
-- Where claimed outboxes publish, and up to which number.
SELECT h.id, h.outbox, h.project, h.transport, h.target, h.revision, h.cursor, h.horizon, h.is_waiting
FROM mailqueue.extend_horizons(%(ids)s::uuid[], %(claims)s::bigint[]) AS h;

-- name: read_outbox_messages :many
-- The next messages of each outbox, in order.
SELECT m.outbox_id, m.sequence_number, m.message_id, m.message_type, m.body, m.content_type, m.enqueue_time,
       m.conversation_id, m.correlation_id, m.initiator_id, m.request_id, m.source_address, m.destination_address,
       m.response_address, m.fault_address, m.expiration_time, m.headers, m.properties,
       coalesce(m.expiration_time <= clock_timestamp(), false) AS is_expired
FROM mailqueue.outbox_messages(%(ids)s::uuid[], %(cursors)s::bigint[], %(horizons)s::bigint[], %(limit)s) AS m;

-- name: advance_outboxes :run
-- Note what was published of outboxes.
SELECT mailqueue.advance_outboxes(%(ids)s::uuid[], %(lasts)s::bigint[], %(published)s::bigint[],
                                  %(expired)s::bigint[]);

-- name: list_outboxes :many
-- The outboxes of a project by name, or the one of a name, with what waits.
SELECT s.outbox_id AS id, s.name, s.transport, s.target, s.events, w.messages AS waiting,
       f.enqueue_time AS oldest_waiting_at, s.delivered AS last_published_at,
       s.attempts - (s.status = 'assigned')::integer AS failures, s.last_error, s.created AS created_at
FROM mailqueue.outbox_state AS s
CROSS JOIN LATERAL (
    SELECT count(*) AS messages
    FROM (
        SELECT FROM mailqueue.outbox_message AS m
        WHERE m.outbox_id = s.outbox_id
          AND m.sequence_number > coalesce(s.last_sequence_number, 0)
          AND m.status = 'pending'
        LIMIT 10001
    ) AS c
) AS w
LEFT JOIN LATERAL (
    SELECT m.enqueue_time
    FROM mailqueue.outbox_message AS m
    WHERE m.outbox_id = s.outbox_id
      AND m.sequence_number > coalesce(s.last_sequence_number, 0)
      AND m.status = 'pending'
    ORDER BY m.outbox_id, m.sequence_number
    LIMIT 1
) AS f ON true
WHERE s.project_id = %(project_id)s
  AND (%(name)s::text IS NULL OR s.name = %(name)s)
ORDER BY s.name;

-- name: add_outbox :value
-- Whether the outbox was added; false: there is one of that name.
SELECT mailqueue.add_outbox(%(project_id)s, %(name)s, %(transport)s, %(target)s, %(by)s) IS NOT NULL;

-- name: change_outbox :value
-- Whether there was such an outbox.
SELECT mailqueue.change_outbox(%(project_id)s, %(name)s, %(transport)s, %(target)s, %(by)s);

-- name: change_outbox_events :value
-- Whether there was such an outbox.
SELECT mailqueue.change_outbox_events(%(project_id)s, %(name)s, %(events)s::text[], %(by)s);

-- name: remove_outbox :value
-- Whether there was such an outbox.
SELECT mailqueue.remove_outbox(%(project_id)s, %(name)s, %(by)s);

-- name: skip_outbox_message :value
-- Whether such a message waited.
SELECT mailqueue.skip_outbox_message(%(project_id)s, %(name)s, %(message_id)s, %(by)s);
