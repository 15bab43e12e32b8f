-- The event rules of a project, applied to one event of its inbox.

-- What a failed rule raises becomes its reason. Errors after which a later delivery can succeed are not caught: a
-- project that is full, a disk that is full, a lock, a login that may not.
--
-- p_rule: this rule only, whether it is enabled or not; NULL: all enabled rules of the type. A rule that acted on the
-- event before is left out. Rules that cancel or end come first, so that none cancels what this event makes.
--
-- The paths of all rules together take time and memory by their characters times the values of the payload, see
-- paths.sql. A rule that would exceed the bound fails; a replay, which leaves out the rules that acted, applies it.
CREATE OR REPLACE FUNCTION mailqueue.apply_event_rules(p_inbox bigint, p_rule text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_max_work CONSTANT bigint := 5000000;                   -- values of the payload times characters of paths
    i mailqueue.inbox_state;
    r mailqueue.event_rules;
    a mailqueue.inbox_actions;
    v_values bigint;
    v_characters bigint;
    v_work bigint := 0;                                      -- of the rules so far
BEGIN
    SELECT * INTO i FROM mailqueue.inbox_state AS o WHERE o.id = p_inbox;
    IF i.status = 'expired' OR i.payload IS NULL OR i.is_management AND i.status = 'handled' THEN
        RETURN;
    ELSIF i.is_management THEN
        PERFORM mailqueue.manage_by_event(i);
        RETURN;
    END IF;
    v_values := jsonb_array_length(jsonb_path_query_array(i.payload, 'strict $.**.type()'));
    DELETE FROM mailqueue.inbox_actions AS d WHERE d.inbox_id = p_inbox AND d.result = 'failed';
    FOR r IN SELECT * FROM mailqueue.event_rules AS o
              WHERE o.project_id = i.project_id AND o.event_type = i.type
                AND CASE WHEN p_rule IS NULL THEN o.is_enabled ELSE o.name = p_rule END
                AND NOT EXISTS (SELECT FROM mailqueue.inbox_actions AS d
                                 WHERE d.inbox_id = p_inbox AND d.rule = o.name)
              ORDER BY array_position('{cancel,leave,record,enroll,mail}', o.action), o.name LOOP
        a := NULL;
        BEGIN
            v_characters := mailqueue.path_characters(r);
            IF v_work + v_values * v_characters > c_max_work THEN
                PERFORM mailqueue.refuse('payload', format(
                    'rule %s cannot be applied: %s values of the payload times %s characters of its paths, with the '
                    'rules before it, exceed %s', r.name, v_values, v_characters, c_max_work));
            END IF;
            v_work := v_work + v_values * v_characters;
            IF NOT mailqueue.is_event_selected(i.payload, r.condition) THEN
                NULL;
            ELSIF r.action = 'cancel' THEN
                a := mailqueue.cancel_by_event(i, r);
            ELSIF r.action IN ('enroll', 'leave', 'record') THEN
                a := mailqueue.enroll_by_event(i, r);
            ELSE
                a := mailqueue.mail_of_event(i, r);
            END IF;
        EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded
                       OR feature_not_supported OR syntax_error THEN
            a.result := 'failed';
            a.reason := left(SQLERRM, 1000);
        END;
        IF a.result IS NOT NULL THEN
            INSERT INTO mailqueue.inbox_actions (inbox_id, project_id, is_test, rule, rule_version, result, email_id,
                                                 cancelled, key, reason, enrollment_ids)
            VALUES (p_inbox, i.project_id, i.is_test, r.name, r.version, a.result, a.email_id,
                    coalesce(a.cancelled, '{}'), a.key, a.reason, coalesce(a.enrollment_ids, '{}'));
        END IF;
    END LOOP;
    UPDATE mailqueue.inbox_state AS o
       SET status = s.status, consumed = coalesce(o.consumed, clock_timestamp()),
           delivered = CASE WHEN s.status <> 'failed' THEN coalesce(o.delivered, clock_timestamp()) END,
           lock_id = s.lock_id, row_version = uuid_send(s.lock_id)
      FROM (SELECT CASE WHEN bool_or(d.result = 'failed') THEN 'failed' WHEN count(*) > 0 THEN 'handled'
                        ELSE 'ignored' END AS status, mailqueue.uuidv7() AS lock_id
              FROM mailqueue.inbox_actions AS d WHERE d.inbox_id = p_inbox) AS s
     WHERE o.id = p_inbox;
END $$;
COMMENT ON FUNCTION mailqueue.apply_event_rules(bigint, text) IS
    'Apply the rules of its project to an event, each at most once; records what they did.';

CREATE OR REPLACE FUNCTION mailqueue.variables_of_event(i mailqueue.inbox_state, r mailqueue.event_rules)
RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_variables CONSTANT integer := 64;                  -- KiB, as enqueue(); jsonb may take 5 times as much
    v_variables jsonb := '{}';
    v_variable text;
    v_found jsonb;
    v_size bigint := 0;                                      -- of the variables, in bytes of jsonb
BEGIN
    FOR v_variable, v_found IN
        SELECT v.key, mailqueue.event_value(i.payload, v.value) FROM jsonb_each(r.variables) AS v
    LOOP
        -- Each may be the whole payload: refused here, before all of them are copied several times.
        v_size := v_size + coalesce(pg_column_size(v_found), 0);
        IF v_size > c_max_variables * 5120 THEN
            PERFORM mailqueue.refuse('variables', format('at most %s KiB', c_max_variables));
        ELSIF v_found IS NOT NULL THEN
            v_variables := v_variables || jsonb_build_object(v_variable, v_found);
        END IF;
    END LOOP;
    RETURN v_variables;
END $$;
COMMENT ON FUNCTION mailqueue.variables_of_event(mailqueue.inbox_state, mailqueue.event_rules) IS
    'The variables that a rule takes from an event.';

CREATE OR REPLACE FUNCTION mailqueue.enroll_by_event(i mailqueue.inbox_state, r mailqueue.event_rules)
RETURNS mailqueue.inbox_actions
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_recipient text := mailqueue.event_text('recipient', i.payload, r.recipient, true);
    v_by text := 'event rule ' || r.name;
    a mailqueue.inbox_actions;
    n record;
BEGIN
    CASE r.action
    WHEN 'enroll' THEN
        SELECT * INTO n FROM mailqueue.enroll_address(i.project_id, r.sequence, v_recipient,
                                 mailqueue.variables_of_event(i, r), i.is_test, v_by);
        a.result := 'enrolled';
        a.enrollment_ids := ARRAY[n.enrollment_id];
        IF n.outcome NOT IN ('enrolled', 'restarted') THEN
            a.reason := n.outcome;
            a.enrollment_ids := '{}';
        END IF;
    WHEN 'leave' THEN
        a.result := 'left';
        a.enrollment_ids := mailqueue.end_enrollments_of(i.project_id, r.sequence, v_recipient, i.is_test, 'removed',
                                                         v_by);
    ELSE
        a.result := 'recorded';
        a.enrollment_ids := mailqueue.record_sequence_event(i.project_id, v_recipient, i.type, i.is_test);
    END CASE;
    RETURN a;
END $$;
COMMENT ON FUNCTION mailqueue.enroll_by_event(mailqueue.inbox_state, mailqueue.event_rules) IS
    'Enroll the contact of an event in a sequence, end what it has there, or record the event for its enrollments.';

CREATE OR REPLACE FUNCTION mailqueue.mail_of_event(i mailqueue.inbox_state, r mailqueue.event_rules)
RETURNS mailqueue.inbox_actions
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    a mailqueue.inbox_actions;
    v_recipient text := mailqueue.event_text('recipient', i.payload, r.recipient, true);
    v_name text := mailqueue.event_text('recipient_name', i.payload, r.recipient_name, false);
BEGIN
    a.key := mailqueue.event_text('key', i.payload, r.key, r.key IS NOT NULL);
    PERFORM mailqueue.check_text('key', a.key, 200);
    IF strpos(v_recipient, '@') = 0 THEN                     -- an event names persons, no list of contacts
        PERFORM mailqueue.check_address('recipient', v_recipient);
    END IF;
    IF v_name IS NOT NULL THEN
        v_recipient := format('"%s" <%s>', replace(replace(v_name, '\', '\\'), '"', '\"'), v_recipient);
    END IF;
    a.email_id := mailqueue.enqueue(
        (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = i.project_id), v_recipient,
        options => jsonb_build_object(
            'template', r.template, 'language', mailqueue.event_text('language', i.payload, r.language, false),
            'variables', mailqueue.variables_of_event(i, r), 'priority', r.priority, 'tags', to_jsonb(r.tags),
            'is_test', i.is_test,
            'run_at', CASE WHEN r.delay_seconds > 0
                           THEN to_jsonb(now() + make_interval(secs => r.delay_seconds)) END,
            'custom_data', jsonb_strip_nulls(jsonb_build_object(
                'event_type', i.type, 'message_id', i.message_id, 'event_rule', r.name,
                'conversation_id', i.conversation_id, 'correlation_id', i.correlation_id,
                'traceparent', i.traceparent))));
    a.result := 'mail';
    RETURN a;
END $$;
COMMENT ON FUNCTION mailqueue.mail_of_event(mailqueue.inbox_state, mailqueue.event_rules) IS
    'Enqueue the mail that a rule makes of an event; its custom_data has the ids of the event.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_by_event(i mailqueue.inbox_state, r mailqueue.event_rules)
RETURNS mailqueue.inbox_actions
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_max_made CONSTANT integer := 10000;                    -- emails under the key that are looked up
    c_max_unfinished CONSTANT integer := 1000;               -- emails that one rule cancels
    a mailqueue.inbox_actions;
    v_made uuid[];
    v_ids uuid[];
BEGIN
    a.key := mailqueue.event_text('key', i.payload, r.key, true);
    PERFORM mailqueue.check_text('key', a.key, 200);
    v_made := ARRAY(SELECT m.email_id FROM mailqueue.inbox_actions AS m
                     WHERE m.project_id = i.project_id AND m.key = a.key AND m.result = 'mail'
                       AND m.is_test = i.is_test AND m.inbox_id <> i.id LIMIT c_max_made + 1);
    IF cardinality(v_made) > c_max_made THEN
        PERFORM mailqueue.refuse('key', format('rules made more than %s emails under %s, finished ones among them',
                                               c_max_made, to_json(a.key)));
    END IF;
    v_ids := ARRAY(SELECT q.id FROM mailqueue.email_queue AS q WHERE q.id = ANY (v_made)
                    ORDER BY q.id LIMIT c_max_unfinished + 1 FOR NO KEY UPDATE);
    IF cardinality(v_ids) > c_max_unfinished THEN
        PERFORM mailqueue.refuse('key', format('more than %s unfinished emails were made under %s', c_max_unfinished,
                                               to_json(a.key)));
    END IF;
    SELECT array_agg(c.id ORDER BY c.id) INTO a.cancelled
      FROM mailqueue.cancel_emails(i.project_id, v_ids,
               left(format('cancelled by event %s of type %s, rule %s', i.message_id, i.type, r.name), 500)) AS c;
    a.result := 'cancelled';
    RETURN a;
END $$;
COMMENT ON FUNCTION mailqueue.cancel_by_event(mailqueue.inbox_state, mailqueue.event_rules) IS
    'Cancel the unfinished mail that rules made under the key of an event.';
