-- Events applied again by today's rules, and a rule tried on a sample before it is enabled.

-- What is tried is rolled back by an error of its own; results are carried out of the block in variables.
CREATE OR REPLACE FUNCTION mailqueue.try_event_rule(p_project uuid, p_name text, p_payload jsonb,
    p_headers jsonb DEFAULT '{}')
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r mailqueue.event_rules;
    v_project text := (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = p_project);
    v_done jsonb;
    v_mail jsonb;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO r FROM mailqueue.event_rules AS o WHERE o.project_id = p_project AND o.name = p_name;
    IF r.id IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        v_done := mailqueue.consume_event(mailqueue.uuidv7(), mailqueue.uuidv7(), r.event_type, p_payload, p_headers,
                                          v_project, coalesce(mailqueue.mode(), false), NULL, p_name);
        SELECT jsonb_build_object(
                   'recipient', e.recipient_email, 'recipient_name', e.recipient_name, 'subject', e.subject,
                   'priority', (ARRAY['critical', 'high', 'normal', 'low'])[e.priority + 1], 'tags', to_jsonb(e.tags),
                   'run_at', e.run_at, 'variables', e.custom_data -> 'variables')
          INTO v_mail FROM mailqueue.tried_email((v_done -> 'email_ids' ->> 0)::uuid) AS e;
        RAISE EXCEPTION 'tried' USING ERRCODE = 'MQ900';
    EXCEPTION WHEN SQLSTATE 'MQ900' THEN
        NULL;
    END;
    RETURN jsonb_build_object('rule', p_name, 'status', v_done ->> 'status',
                              'result', v_done -> 'actions' -> 0 -> 'result',
                              'reason', coalesce(v_done ->> 'reason', v_done -> 'actions' -> 0 ->> 'reason'),
                              'cancelled_ids', v_done -> 'cancelled_ids', 'key', v_done -> 'actions' -> 0 -> 'key',
                              'email', v_mail);
END $$;
COMMENT ON FUNCTION mailqueue.try_event_rule(uuid, text, jsonb, jsonb) IS
    'What a rule, enabled or not, would do with a payload; nothing is kept. NULL if there is no such rule.';

-- Mail to a suppressed recipient is in history at once.
CREATE OR REPLACE FUNCTION mailqueue.tried_email(p_id uuid)
RETURNS TABLE (recipient_email text, recipient_name text, subject text, priority smallint, tags text[],
               run_at timestamptz, custom_data jsonb)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT e.recipient_email, e.recipient_name, c.subject, e.priority, e.tags, e.run_at, e.custom_data
      FROM (SELECT q.recipient_email, q.recipient_name, q.priority, q.tags, q.run_at, q.custom_data, q.content_id,
                   q.content_on
              FROM mailqueue.email_queue AS q WHERE q.id = p_id
            UNION ALL
            SELECT h.recipient_email, h.recipient_name, h.priority, h.tags, NULL, h.custom_data, h.content_id,
                   h.content_on
              FROM mailqueue.email_history AS h WHERE h.id = p_id) AS e
      LEFT JOIN mailqueue.email_contents AS c ON c.id = e.content_id AND c.created_on = e.content_on
     LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.tried_email(uuid) IS 'The mail that a rule made while it was tried.';

-- In the order in which events came, p_limit at a time, fewer if they take long: "next" is p_after of the next call,
-- null after the last.
CREATE OR REPLACE FUNCTION mailqueue.replay_inbox(p_project uuid, p_messages uuid[], p_type text, p_status text,
    p_since timestamptz, p_until timestamptz, p_after bigint, p_limit integer, p_is_dry boolean,
    p_by text DEFAULT session_user)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_max_events CONSTANT integer := 500;                    -- of one call
    c_max_duration CONSTANT interval := '1 second';          -- after which no further event is begun
    v_started timestamptz := clock_timestamp();
    v_done integer := 0;                                     -- events
    v_is_last boolean;
    v_ids bigint[];
    v_id bigint;
    v_before bigint;                                         -- actions that exist, by their largest id
    v_count record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF num_nonnulls(p_messages, p_type, p_status, p_since, p_until) = 0 THEN
        PERFORM mailqueue.refuse('message_ids', 'message ids, a type, a status or a time is needed');
    ELSIF p_limit NOT BETWEEN 1 AND c_max_events THEN
        PERFORM mailqueue.refuse('limit', format('1 to %s, got %s', c_max_events, p_limit));
    ELSIF p_status NOT IN ('handled', 'ignored', 'failed') THEN
        PERFORM mailqueue.refuse('status', format('handled, ignored or failed, got %s',
                                                  to_json(left(p_status, 100))));
    END IF;
    BEGIN
        v_ids := ARRAY(SELECT i.id FROM mailqueue.inbox_state AS i
                        WHERE i.project_id = p_project AND i.id > coalesce(p_after, 0)
                          AND (p_messages IS NULL OR i.message_id = ANY (p_messages))
                          AND (p_type IS NULL OR i.type = p_type) AND (p_status IS NULL OR i.status = p_status)
                          AND (p_since IS NULL OR i.received >= p_since)
                          AND (p_until IS NULL OR i.received < p_until)
                          AND coalesce(mailqueue.mode(), i.is_test) = i.is_test
                        ORDER BY i.id LIMIT p_limit FOR NO KEY UPDATE);
        SELECT coalesce(max(a.id), 0) INTO v_before FROM mailqueue.inbox_actions AS a;
        v_is_last := cardinality(v_ids) < p_limit;
        FOREACH v_id IN ARRAY v_ids LOOP
            PERFORM mailqueue.apply_event_rules(v_id);
            v_done := v_done + 1;
            IF v_done < cardinality(v_ids) AND clock_timestamp() > v_started + c_max_duration THEN
                v_is_last := false;
                EXIT;
            END IF;
        END LOOP;
        v_ids := v_ids[:v_done];
        SELECT cardinality(v_ids) AS events, count(*) FILTER (WHERE a.result = 'mail') AS emails,
               coalesce(sum(cardinality(a.cancelled)), 0) AS cancelled,
               count(*) FILTER (WHERE a.result = 'failed') AS failed, count(DISTINCT a.inbox_id) AS acted_on
          INTO v_count FROM mailqueue.inbox_actions AS a WHERE a.inbox_id = ANY (v_ids) AND a.id > v_before;
        IF p_is_dry THEN
            RAISE EXCEPTION 'counted' USING ERRCODE = 'MQ900';
        END IF;
    EXCEPTION WHEN SQLSTATE 'MQ900' THEN
        NULL;
    END;
    IF NOT p_is_dry AND v_count.events > 0 THEN
        PERFORM mailqueue.record_operation(p_project, 'inbox.replayed', 'project ' || p.name,
                    jsonb_strip_nulls(jsonb_build_object('message_ids', to_jsonb(p_messages[1:100]), 'type', p_type,
                        'status', p_status, 'since', p_since, 'until', p_until, 'events', v_count.events,
                        'emails', v_count.emails, 'cancelled', v_count.cancelled, 'failed', v_count.failed)), p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN jsonb_build_object('is_dry_run', p_is_dry, 'events', v_count.events, 'emails', v_count.emails,
                              'cancelled', v_count.cancelled, 'failed', v_count.failed,
                              'unchanged', v_count.events - v_count.acted_on,
                              'next', CASE WHEN NOT v_is_last THEN v_ids[v_done] END);
END $$;
COMMENT ON FUNCTION mailqueue.replay_inbox(uuid, uuid[], text, text, timestamptz, timestamptz, bigint, integer, boolean,
                                           text) IS
    'Apply today''s rules to events of the inbox; a rule that acted on an event before does not act again. A dry run '
    'counts and keeps nothing.';
