-- The inbox: an event of another service, handled once for each message and consumer, in the caller's transaction.

-- Headers are compared without case, - and _, so that ConversationId and conversation_id are one.
CREATE OR REPLACE FUNCTION mailqueue.event_header(p_headers jsonb, p_name text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT left(h.value #>> '{}', 200)
      FROM jsonb_each(CASE jsonb_typeof(p_headers) WHEN 'object' THEN p_headers ELSE '{}' END) AS h
     WHERE translate(lower(h.key), '-_', '') = p_name AND jsonb_typeof(h.value) = 'string'
       AND h.value #>> '{}' ~ '^[!-~]{1,200}$'
     ORDER BY h.key LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.event_header(jsonb, text) IS
    'A header of an event, by its name in lower case without - and _; NULL if it is absent or no printable ASCII.';

-- What became of an event: the answer to each of its deliveries.
CREATE OR REPLACE FUNCTION mailqueue.inbox_answer(p_inbox bigint, p_is_duplicate boolean) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT jsonb_build_object(
               'message_id', i.message_id, 'consumer_id', i.consumer_id, 'type', i.type, 'status', i.status,
               'reason', i.reason, 'is_duplicate', p_is_duplicate, 'receive_count', i.receive_count,
               'email_ids', coalesce(d.email_ids, '[]'), 'cancelled_ids', coalesce(d.cancelled_ids, '[]'),
               'actions', coalesce(d.actions, '[]'))
      FROM mailqueue.inbox_state AS i
     CROSS JOIN LATERAL (
            SELECT jsonb_agg(a.email_id ORDER BY a.id) FILTER (WHERE a.email_id IS NOT NULL) AS email_ids,
                   (SELECT jsonb_agg(c ORDER BY c) FROM mailqueue.inbox_actions AS x, unnest(x.cancelled) AS c
                     WHERE x.inbox_id = p_inbox) AS cancelled_ids,
                   jsonb_agg(jsonb_build_object('rule', a.rule, 'rule_version', a.rule_version, 'result', a.result,
                                                'email_id', a.email_id, 'cancelled_ids', to_jsonb(a.cancelled),
                                                'key', a.key, 'reason', a.reason,
                                                'enrollment_ids', to_jsonb(a.enrollment_ids)) ORDER BY a.id) AS actions
              FROM mailqueue.inbox_actions AS a WHERE a.inbox_id = p_inbox) AS d
     WHERE i.id = p_inbox
$$;
COMMENT ON FUNCTION mailqueue.inbox_answer(bigint, boolean) IS 'What rules did with an event, as consume() returns it.';

-- Checked for the first delivery only: a repeated one adds nothing.
CREATE OR REPLACE FUNCTION mailqueue.check_event_room(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
    v_most bigint;
    v_used bigint;
BEGIN
    IF EXISTS (SELECT FROM mailqueue.refusals AS r
                WHERE r.valid_until > now() AND coalesce(r.project_id, p_project) = p_project) THEN
        PERFORM mailqueue.refuse_for_now(p_project);
    END IF;
    SELECT p.name, p.max_events INTO v_name, v_most FROM mailqueue.projects AS p
     WHERE p.id = p_project AND p.max_events IS NOT NULL;
    IF FOUND THEN
        -- The event is a row already, and counted.
        SELECT greatest(0, mailqueue.as_count(sum(g.events))) INTO v_used FROM mailqueue.gathered_usage() AS g
         WHERE g.project_id = p_project;
        IF v_used > v_most THEN
            PERFORM mailqueue.refuse_full(v_name, 'max_events', v_used - 1, v_most);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_event_room(uuid) IS
    'Refuse an event while no mail is accepted, or where its project has as many events as it may have.';

-- p_fault: why the payload or the headers cannot be read; NULL if they can. p_rule: apply this rule alone, enabled or
-- not. p_sender: by which way it came: sql, api or rabbitmq.
CREATE OR REPLACE FUNCTION mailqueue.consume_event(p_message uuid, p_consumer uuid, p_type text, p_payload jsonb,
    p_headers jsonb, p_project text, p_is_test boolean, p_fault text, p_rule text DEFAULT NULL,
    p_sender text DEFAULT 'sql')
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_max_payload CONSTANT integer := 256;                   -- KiB
    c_max_headers CONSTANT integer := 16;                    -- KiB
    v_project uuid := mailqueue.project_taking(p_project);
    v_fault text := p_fault;
    v_headers jsonb := coalesce(p_headers, '{}');
    v_lock uuid := mailqueue.uuidv7();
    v_expires timestamptz;
    v_trace text;
    v_id bigint;
    v_is_new boolean;
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    PERFORM mailqueue.check_mode(p_is_test);
    PERFORM mailqueue.check_producer(v_project);
    IF p_message IS NULL THEN
        PERFORM mailqueue.refuse('message_id', 'is needed');
    ELSIF p_consumer IS NULL THEN
        PERFORM mailqueue.refuse('consumer_id', 'is needed');
    END IF;
    IF v_fault IS NOT NULL THEN
        NULL;
    ELSIF coalesce(p_type, '') = '' OR length(p_type) > 200 OR p_type ~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]' THEN
        v_fault := 'type: 1 to 200 characters without control characters are needed';
    ELSIF jsonb_typeof(p_payload) IS DISTINCT FROM 'object' THEN
        v_fault := format('payload: an object is needed, got %s', coalesce(jsonb_typeof(p_payload), 'nothing'));
    ELSIF jsonb_typeof(v_headers) <> 'object' THEN
        v_fault := format('headers: an object is needed, got %s', jsonb_typeof(v_headers));
    ELSE
        v_fault := coalesce('payload: ' || mailqueue.json_fault(p_payload, c_max_payload),
                            'headers: ' || mailqueue.json_fault(v_headers, c_max_headers));
    END IF;
    IF v_fault IS NOT NULL THEN
        v_headers := '{}';
    END IF;
    BEGIN
        v_expires := mailqueue.read_instant(mailqueue.event_header(v_headers, 'expirationtime'));
    EXCEPTION WHEN data_exception THEN
        v_fault := 'headers: the expiration time is no timestamp in RFC 3339 format';
    END;
    v_trace := lower(mailqueue.event_header(v_headers, 'traceparent'));
    -- A delivery of the same message that is not committed yet is waited for; if it is rolled back, this one is the
    -- first.
    INSERT INTO mailqueue.inbox_state AS i (message_id, consumer_id, lock_id, row_version, received, receive_count,
        expiration_time, project_id, is_test, type, payload, headers, conversation_id, correlation_id, traceparent,
        status, reason)
    VALUES (p_message, p_consumer, v_lock, uuid_send(v_lock), clock_timestamp(), 1, v_expires, v_project, p_is_test,
            left(regexp_replace(coalesce(p_type, ''), '[\u0001-\u001f\u007f-\u009f\u2028\u2029]', U&'\FFFD', 'g'),
                 200),
            CASE WHEN v_fault IS NULL THEN p_payload END, v_headers,
            mailqueue.event_header(v_headers, 'conversationid'), mailqueue.event_header(v_headers, 'correlationid'),
            CASE WHEN v_trace ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' THEN v_trace END,
            CASE WHEN v_fault IS NOT NULL THEN 'failed' WHEN v_expires <= now() THEN 'expired' ELSE 'received' END,
            coalesce(v_fault, CASE WHEN v_expires <= now() THEN 'it expired at ' || mailqueue.shown(v_expires) END))
    ON CONFLICT ON CONSTRAINT inbox_state_message_id_consumer_id_key
    DO UPDATE SET receive_count = least(i.receive_count, 2147483646) + 1, lock_id = excluded.lock_id,
                  row_version = excluded.row_version
    RETURNING i.id, i.receive_count = 1 INTO v_id, v_is_new;
    IF v_is_new THEN
        PERFORM mailqueue.check_event_room(v_project);
        IF v_fault IS NULL AND v_expires <= now() IS NOT TRUE THEN
            IF p_rule IS NULL THEN
                PERFORM mailqueue.note_management_event(v_id, p_sender);
            END IF;
            PERFORM mailqueue.apply_event_rules(v_id, p_rule);
        ELSE
            UPDATE mailqueue.inbox_state AS i SET consumed = clock_timestamp() WHERE i.id = v_id;
        END IF;
    END IF;
    RETURN mailqueue.inbox_answer(v_id, NOT v_is_new);
END $$;
COMMENT ON FUNCTION mailqueue.consume_event(uuid, uuid, text, jsonb, jsonb, text, boolean, text, text, text) IS
    'Record an event and apply the rules of its project, or return what the first delivery did.';

CREATE OR REPLACE FUNCTION mailqueue.consume(message_id uuid, consumer_id uuid, type text, payload jsonb,
    headers jsonb DEFAULT '{}', project text DEFAULT 'default', is_test boolean DEFAULT false)
RETURNS jsonb
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.consume_event(consume.message_id, consume.consumer_id, consume.type, consume.payload,
                                   consume.headers, consume.project, coalesce(consume.is_test, false), NULL)
$$;
COMMENT ON FUNCTION mailqueue.consume(uuid, uuid, text, jsonb, jsonb, text, boolean) IS
    'Handle an event once for each message and consumer, in the caller''s transaction: apply the event rules of the '
    'project and return what they did. A repeated delivery gets the answer of the first.';

-- As text, a payload that is not JSON is a failed event and no error of the caller's statement.
CREATE OR REPLACE FUNCTION mailqueue.consume_text(p_message uuid, p_consumer uuid, p_type text, p_payload text,
    p_headers text, p_project text, p_is_test boolean, p_sender text)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_bytes CONSTANT integer := 4194304;                 -- of text that is read at all
    v_payload jsonb;
    v_headers jsonb;
    v_field text := 'payload';
    v_fault text;
BEGIN
    IF octet_length(p_payload) > c_max_bytes THEN
        v_fault := 'payload: at most 256 KiB';
    ELSIF octet_length(p_headers) > c_max_bytes THEN
        v_fault := 'headers: at most 16 KiB';
    ELSE
        BEGIN
            v_payload := p_payload::jsonb;
            v_field := 'headers';
            v_headers := p_headers::jsonb;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            v_fault := format('%s: not JSON that can be stored: %s', v_field, left(SQLERRM, 200));
        END;
    END IF;
    RETURN mailqueue.consume_event(p_message, p_consumer, p_type, v_payload, v_headers, p_project, p_is_test, v_fault,
                                   NULL, p_sender);
END $$;
COMMENT ON FUNCTION mailqueue.consume_text(uuid, uuid, text, text, text, text, boolean, text) IS
    'consume() for JSON as text, and for events that came by p_sender.';

CREATE OR REPLACE FUNCTION mailqueue.consume(message_id uuid, consumer_id uuid, type text, payload text,
    headers text DEFAULT '{}', project text DEFAULT 'default', is_test boolean DEFAULT false)
RETURNS jsonb
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.consume_text(consume.message_id, consume.consumer_id, consume.type, consume.payload,
                                  consume.headers, consume.project, coalesce(consume.is_test, false), 'sql')
$$;
COMMENT ON FUNCTION mailqueue.consume(uuid, uuid, text, text, text, text, boolean) IS
    'The same for JSON as text: what cannot be read is a failed event with the reason, and no error.';
