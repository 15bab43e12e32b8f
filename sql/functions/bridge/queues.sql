-- What consumers of queues of RabbitMQ report.

CREATE OR REPLACE FUNCTION mailqueue.note_broker_queue(p_project text, p_name text, p_state text, p_reason text,
    p_received bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
    v_now timestamptz := clock_timestamp();
BEGIN
    INSERT INTO mailqueue.broker_queues AS q (name, project_id, state, reason, received_messages, received_at, seen_at)
    VALUES (p_name, v_project, p_state, left(p_reason, 1000), p_received, CASE WHEN p_received > 0 THEN v_now END,
            v_now)
    ON CONFLICT ON CONSTRAINT broker_queues_pkey
    DO UPDATE SET state = excluded.state, reason = excluded.reason,
                  received_messages = q.received_messages + excluded.received_messages,
                  received_at = coalesce(excluded.received_at, q.received_at), seen_at = excluded.seen_at;
END $$;
COMMENT ON FUNCTION mailqueue.note_broker_queue(text, text, text, text, bigint) IS
    'Write the state of a queue of RabbitMQ, and how many messages were received since the last call.';
