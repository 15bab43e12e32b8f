-- Events of mail as messages of outboxes, written when the stream of events is read.

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.event_outboxes(p_project uuid, p_type text) RETURNS SETOF uuid
LANGUAGE sql STABLE
AS $$
    SELECT s.outbox_id FROM mailqueue.outbox_state AS s
     WHERE s.project_id = p_project AND s.events IS NOT NULL AND (s.events = '{}' OR p_type = ANY (s.events))
$$;
COMMENT ON FUNCTION mailqueue.event_outboxes(uuid, text) IS 'Outboxes of the project that publish a type of event.';

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.event_outboxes(p_project uuid, p_type text, p_number bigint) RETURNS SETOF uuid
LANGUAGE sql STABLE
AS $$
    SELECT s.outbox_id FROM mailqueue.outbox_state AS s
     WHERE s.project_id = p_project AND s.events IS NOT NULL AND (s.events = '{}' OR p_type = ANY (s.events))
       AND mailqueue.is_subscribed(s.subscribed_after, p_type, p_number)
$$;
COMMENT ON FUNCTION mailqueue.event_outboxes(uuid, text, bigint) IS
    'Outboxes of the project that publish a type of event, and did when the event with that number was written.';

-- What a project has no more room for is written all the same: what became of its mail is not lost. Waits for no lock;
-- an outbox that was removed has no sequence, and is left out.
CREATE OR REPLACE FUNCTION mailqueue.publish_mail_events(p_numbers bigint[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    c_id CONSTANT text := '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$';
    c_trace CONSTANT text := '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$';
    v_outbox uuid;
    v_outboxes uuid[] := '{}';
BEGIN
    FOR v_outbox IN
        SELECT DISTINCT o.id FROM mailqueue.event_stream AS s
         CROSS JOIN LATERAL mailqueue.event_outboxes(s.project_id, s.type, s.sequence_number) AS o(id)
         WHERE s.sequence_number = ANY (p_numbers)
    LOOP
        -- Before the numbers of the messages are taken: see extend_horizons().
        CONTINUE WHEN nextval(to_regclass('mailqueue.' || mailqueue.outbox_sequence(v_outbox))) IS NULL;
        v_outboxes := v_outboxes || v_outbox;
    END LOOP;
    IF v_outboxes = '{}' THEN
        RETURN;
    END IF;
    INSERT INTO mailqueue.outbox_message (message_id, message_type, body, content_type, enqueue_time, conversation_id,
        correlation_id, headers, outbox_id, project_id)
    SELECT e.id, e.type, e.payload::text, 'application/json', clock_timestamp(),
           CASE WHEN m.conversation_id ~ c_id THEN m.conversation_id::uuid END,
           CASE WHEN m.correlation_id ~ c_id THEN m.correlation_id::uuid END,
           CASE WHEN m.traceparent ~ c_trace THEN json_build_object('traceparent', m.traceparent)::text END,
           o.id, e.project_id
      FROM mailqueue.event_stream AS s
      JOIN mailqueue.webhook_events_of(p_numbers) AS e ON e.id = s.id
     CROSS JOIN LATERAL (SELECT e.payload #>> '{data,custom_data,conversation_id}' AS conversation_id,
                                e.payload #>> '{data,custom_data,correlation_id}' AS correlation_id,
                                e.payload #>> '{data,custom_data,traceparent}' AS traceparent) AS m
     CROSS JOIN LATERAL mailqueue.event_outboxes(s.project_id, s.type, s.sequence_number) AS o(id)
     WHERE s.sequence_number = ANY (p_numbers) AND o.id = ANY (v_outboxes)
     ORDER BY s.sequence_number
    ON CONFLICT ON CONSTRAINT outbox_message_message_id_outbox_id_key DO NOTHING;
END $$;
COMMENT ON FUNCTION mailqueue.publish_mail_events(bigint[]) IS
    'Write events of the stream to the outboxes that publish them; the id of each message is that of its event.';
-- In the transaction of events.

CREATE OR REPLACE FUNCTION mailqueue.write_outbox_events(p_numbers bigint[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_numbers bigint[] := ARRAY(
        SELECT s.sequence_number FROM mailqueue.event_stream AS s
         WHERE s.sequence_number = ANY (p_numbers)
           AND EXISTS (SELECT FROM mailqueue.event_outboxes(s.project_id, s.type, s.sequence_number))
         ORDER BY s.sequence_number);
BEGIN
    IF v_numbers <> '{}' THEN
        PERFORM mailqueue.publish_mail_events(v_numbers);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.write_outbox_events(bigint[]) IS
    'Write events of the stream to the outboxes that publish them.';

CREATE OR REPLACE FUNCTION mailqueue.change_outbox_events(p_project uuid, p_name text, p_events text[], p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_types CONSTANT text[] := ARRAY[
        'email.queued', 'email.sent', 'email.delivered', 'email.deferred', 'email.soft_bounce', 'email.hard_bounce',
        'email.complaint', 'email.opened', 'email.clicked', 'email.unsubscribed', 'email.resubscribed', 'email.failed',
        'email.suppressed', 'email.expired', 'email.cancelled', 'email.held', 'email.resolved'];
    v_old text[];
    v_type text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM FROM mailqueue.projects AS p WHERE p.id = p_project FOR NO KEY UPDATE;
    SELECT s.events INTO v_old FROM mailqueue.outbox_state AS s
     WHERE s.project_id = p_project AND s.name = p_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    FOREACH v_type IN ARRAY coalesce(p_events, '{}') LOOP
        IF v_type = ANY (c_types) IS NOT TRUE THEN
            PERFORM mailqueue.refuse('events', format('there is no type %s; these are: %s',
                coalesce(to_json(left(v_type, 100))::text, 'null'), array_to_string(c_types, ', ')));
        END IF;
    END LOOP;
    IF v_old IS DISTINCT FROM p_events THEN
        UPDATE mailqueue.outbox_state AS s
           SET events = CASE WHEN p_events IS NOT NULL
                             THEN ARRAY(SELECT DISTINCT e FROM unnest(p_events) AS e ORDER BY e) END,
               subscribed_after = mailqueue.subscribed_after(s.subscribed_after, s.events, p_events)
         WHERE s.project_id = p_project AND s.name = p_name;
        UPDATE mailqueue.projects AS p
           SET has_event_outboxes = EXISTS (SELECT FROM mailqueue.outbox_state AS s
                                             WHERE s.project_id = p_project AND s.events IS NOT NULL)
         WHERE p.id = p_project;
        PERFORM mailqueue.record_operation(p_project, 'outbox.changed', p_name, jsonb_build_object(
            'from', jsonb_build_object('events', v_old), 'to', jsonb_build_object('events', p_events)), p_by);
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_outbox_events(uuid, text, text[], text) IS
    'Publish these types of events of mail from an outbox from now on; empty: all; NULL: none. False if the project '
    'has none of that name.';
