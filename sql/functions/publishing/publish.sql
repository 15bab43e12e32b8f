-- Messages of a service, written in its own transaction.

CREATE OR REPLACE FUNCTION mailqueue.publish(message_type text, body text, outbox text DEFAULT 'default',
    message_id uuid DEFAULT NULL, headers jsonb DEFAULT '{}', properties jsonb DEFAULT '{}',
    content_type text DEFAULT 'application/json', conversation_id uuid DEFAULT NULL, correlation_id uuid DEFAULT NULL,
    initiator_id uuid DEFAULT NULL, request_id uuid DEFAULT NULL, source_address text DEFAULT NULL,
    destination_address text DEFAULT NULL, response_address text DEFAULT NULL, fault_address text DEFAULT NULL,
    expiration_time timestamptz DEFAULT NULL, inbox_message_id uuid DEFAULT NULL, inbox_consumer_id uuid DEFAULT NULL,
    project text DEFAULT 'default')
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    c_max_body CONSTANT integer := 262144;                   -- bytes
    c_max_headers CONSTANT integer := 16;                    -- KiB
    v_project uuid := mailqueue.project_taking(publish.project);
    v_message uuid := coalesce(publish.message_id, mailqueue.uuidv7());
    v_outbox uuid;
    v_fault text;
    v_field text;
    v_value text;
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_producer(v_project);
    SELECT s.outbox_id INTO v_outbox FROM mailqueue.outbox_state AS s
     WHERE s.project_id = v_project AND s.name = publish.outbox;
    IF NOT FOUND THEN
        PERFORM mailqueue.refuse('outbox', format('project %s has no outbox %s', publish.project,
                                                  coalesce(to_json(left(publish.outbox, 100))::text, 'null')));
    ELSIF coalesce(publish.message_type, '') = '' THEN
        PERFORM mailqueue.refuse('message_type', 'is needed');
    ELSIF publish.body IS NULL THEN
        PERFORM mailqueue.refuse('body', 'is needed');
    ELSIF octet_length(publish.body) > c_max_body THEN
        PERFORM mailqueue.refuse('body', 'at most 256 KiB');
    ELSIF coalesce(publish.content_type, '') !~ '^[!-~]+/[ -~]+$' THEN
        PERFORM mailqueue.refuse('content_type', 'a media type such as application/json is needed');
    ELSIF publish.expiration_time IN ('infinity', '-infinity') THEN
        PERFORM mailqueue.refuse('expiration_time', 'must be finite');
    END IF;
    FOR v_field, v_value IN
        VALUES ('message_type', publish.message_type), ('content_type', publish.content_type),
               ('source_address', publish.source_address), ('destination_address', publish.destination_address),
               ('response_address', publish.response_address), ('fault_address', publish.fault_address)
    LOOP
        PERFORM mailqueue.check_text(v_field, v_value, 256);
    END LOOP;
    IF publish.content_type ~* '^[^;]+[/+]json *(;|$)' THEN
        BEGIN
            v_fault := mailqueue.json_fault(publish.body::jsonb, c_max_body / 1024);
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            v_fault := format('not JSON that can be stored: %s', left(SQLERRM, 200));
        END;
        IF v_fault IS NOT NULL THEN
            PERFORM mailqueue.refuse('body', v_fault);
        END IF;
    END IF;
    FOR v_field, v_fault IN
        SELECT f.field, CASE WHEN jsonb_typeof(f.value) <> 'object'
                                  THEN 'an object is needed, got ' || jsonb_typeof(f.value)
                             ELSE mailqueue.json_fault(f.value, c_max_headers) END
          FROM (VALUES ('headers', publish.headers), ('properties', publish.properties)) AS f(field, value)
    LOOP
        IF v_fault IS NOT NULL THEN
            PERFORM mailqueue.refuse(v_field, v_fault);
        END IF;
    END LOOP;
    -- Before the number of the message is taken: see extend_horizons().
    PERFORM nextval(('mailqueue.' || mailqueue.outbox_sequence(v_outbox))::regclass);
    INSERT INTO mailqueue.outbox_message (message_id, message_type, body, content_type, enqueue_time, conversation_id,
        correlation_id, initiator_id, request_id, source_address, destination_address, response_address, fault_address,
        expiration_time, headers, properties, inbox_message_id, inbox_consumer_id, outbox_id, project_id)
    VALUES (v_message, publish.message_type, publish.body, publish.content_type, clock_timestamp(),
            publish.conversation_id, publish.correlation_id, publish.initiator_id, publish.request_id,
            publish.source_address, publish.destination_address, publish.response_address, publish.fault_address,
            publish.expiration_time, nullif(publish.headers, '{}')::text, nullif(publish.properties, '{}')::text,
            publish.inbox_message_id, publish.inbox_consumer_id, v_outbox, v_project)
    ON CONFLICT ON CONSTRAINT outbox_message_message_id_outbox_id_key DO NOTHING;
    IF FOUND THEN
        PERFORM mailqueue.check_event_room(v_project);
    END IF;
    RETURN v_message;
END $$;
COMMENT ON FUNCTION mailqueue.publish(text, text, text, uuid, jsonb, jsonb, text, uuid, uuid, uuid, uuid, text, text,
    text, text, timestamptz, uuid, uuid, text) IS
    'Write a message to an outbox in the caller''s transaction, and return its id. A second message with the id of '
    'another one of the outbox adds nothing.';
