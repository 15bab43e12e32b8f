-- Recipients and message of a schedule, checked when it is added or changed.

CREATE OR REPLACE FUNCTION mailqueue.schedule_recipient(p_given jsonb) RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_one jsonb := CASE jsonb_typeof(p_given) WHEN 'string' THEN jsonb_build_object('email', p_given) ELSE p_given END;
    v_email text;
    v_key text;
    v_box record;
BEGIN
    IF jsonb_typeof(v_one) <> 'object' OR jsonb_typeof(v_one -> 'email') IS DISTINCT FROM 'string' THEN
        PERFORM mailqueue.refuse('to', 'addresses, names of lists, or objects with email are needed');
    END IF;
    v_email := v_one ->> 'email';
    SELECT k INTO v_key FROM jsonb_object_keys(v_one) AS k
     WHERE k NOT IN ('email', 'name', 'timezone', 'language', 'variables') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse('to', format('a recipient has no field %s', to_json(left(v_key, 100))));
    ELSIF position('@' IN v_email) = 0 THEN
        IF v_one <> jsonb_build_object('email', v_email) THEN
            PERFORM mailqueue.refuse('to', format('%s is no address', to_json(left(v_email, 100))));
        END IF;
        RETURN jsonb_build_object('list', v_email);
    END IF;
    SELECT k INTO v_key FROM unnest('{name,timezone,language}'::text[]) AS k
     WHERE jsonb_typeof(v_one -> k) NOT IN ('string', 'null') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse('to', format('%s of a recipient must be a string', v_key));
    ELSIF v_one ->> 'timezone' IS NOT NULL AND mailqueue.known_zone(v_one ->> 'timezone') IS NULL THEN
        PERFORM mailqueue.refuse('to', format('%s is not a time zone such as Europe/Berlin',
                                              to_json(left(v_one ->> 'timezone', 100))));
    ELSIF coalesce(jsonb_typeof(v_one -> 'variables'), 'object') NOT IN ('object', 'null') THEN
        PERFORM mailqueue.refuse('to', 'variables of a recipient must be an object of names and values');
    ELSIF mailqueue.json_fault(v_one -> 'variables', 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('to', mailqueue.json_fault(v_one -> 'variables', 64));
    END IF;
    IF NOT mailqueue.is_plain_address(v_email) THEN
        PERFORM mailqueue.check_text('to', v_email, 600);
        v_box := mailqueue.split_mailbox(v_email);
        PERFORM mailqueue.check_address('to', v_box.address);
        v_one := v_one || jsonb_strip_nulls(jsonb_build_object(
            'email', mailqueue.wire_address('to', v_box.address), 'name', coalesce(v_one ->> 'name', v_box.name)));
    END IF;
    PERFORM mailqueue.check_text('to', v_one ->> 'name', 320);
    RETURN jsonb_strip_nulls(v_one - 'variables')
        || CASE WHEN coalesce(v_one -> 'variables', '{}') IN ('{}', 'null') THEN '{}'
                ELSE jsonb_build_object('variables', v_one -> 'variables') END;
END $$;
COMMENT ON FUNCTION mailqueue.schedule_recipient(jsonb) IS
    'A recipient of a schedule as it is stored: an address with its fields, or a list; raises 22023 naming to.';

CREATE OR REPLACE FUNCTION mailqueue.schedule_recipients_of(p_project uuid, p_to jsonb, p_is_test boolean)
RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 10000;
    v_to jsonb := CASE jsonb_typeof(p_to) WHEN 'string' THEN jsonb_build_array(p_to) ELSE p_to END;
    v_found jsonb;
    v_list text;
BEGIN
    IF jsonb_typeof(v_to) IS DISTINCT FROM 'array' THEN
        PERFORM mailqueue.refuse('to', 'a list of addresses or of names of lists is needed');
    ELSIF jsonb_array_length(v_to) NOT BETWEEN 1 AND c_most THEN
        PERFORM mailqueue.refuse('to', format('1 to %s recipients, got %s', c_most, jsonb_array_length(v_to)));
    END IF;
    -- An address that is named twice gets one mail.
    SELECT jsonb_agg(d.one ORDER BY d.n) INTO v_found
      FROM (SELECT DISTINCT ON (coalesce(mailqueue.address_key(r.one ->> 'email'), 'list ' || (r.one ->> 'list')))
                   r.one, r.n
              FROM (SELECT mailqueue.schedule_recipient(t.value) AS one, t.n
                      FROM jsonb_array_elements(v_to) WITH ORDINALITY AS t(value, n) OFFSET 0) AS r
             ORDER BY coalesce(mailqueue.address_key(r.one ->> 'email'), 'list ' || (r.one ->> 'list')), r.n) AS d;
    SELECT r.value ->> 'list' INTO v_list FROM jsonb_array_elements(v_found) AS r
     WHERE r.value ? 'list'
       AND NOT EXISTS (SELECT FROM mailqueue.contact_lists AS l
                        WHERE l.project_id = p_project AND l.name = r.value ->> 'list'
                          AND l.is_test = p_is_test) LIMIT 1;
    IF v_list IS NOT NULL THEN
        PERFORM mailqueue.refuse('to', format('%s is no address, and the project has no list of that name',
                                              to_json(left(v_list, 100))));
    END IF;
    RETURN v_found;
END $$;
COMMENT ON FUNCTION mailqueue.schedule_recipients_of(uuid, jsonb, boolean) IS
    'Recipients of a schedule as they are stored, each once.';

-- A mail of the schedule is checked as if it were accepted now, with the variables of the first recipient.
CREATE OR REPLACE FUNCTION mailqueue.check_schedule_message(p_project uuid, p_message jsonb, p_recipients jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text;
    v_first jsonb := (SELECT r.value FROM jsonb_array_elements(p_recipients) AS r WHERE NOT r.value ? 'list' LIMIT 1);
    v_unknown text;
BEGIN
    SELECT k INTO v_key FROM jsonb_object_keys(p_message) AS k
     WHERE k IN ('recipient', 'to', 'run_at', 'expires_at', 'idempotency_key', 'attachments', 'split') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_key, 'a schedule cannot have it');
    END IF;
    v_unknown := (regexp_match(p_message::text, '\{\{\s*\.?run\.(?!(?:number|scheduled_at|previous_at|date|time|week|'
                                                'month|year|name)\s*\}\})([^}]{0,40})'))[1];
    IF v_unknown IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', format('a run has no %s: number, scheduled_at, previous_at, date, time, '
                                                     'week, month, year or name', to_json(btrim(v_unknown))));
    END IF;
    -- A text of another template language would be sent as it stands.
    v_unknown := (regexp_match((p_message -> 'variables')::text,
                               '\{\{-?\s*\.(?!run\.)([A-Za-z_][A-Za-z0-9_.]{0,60})\s*-?\}\}'))[1];
    IF v_unknown IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', format('{{.%s}} is not filled in: values of a run are written such as '
                                                     '{{ run.week }}', v_unknown));
    END IF;
    DECLARE
        v_field text;
        v_text text;
    BEGIN
        PERFORM mailqueue.email_from_message(p_project, mailqueue.schedule_message(
            p_message, coalesce(v_first, '{}') || '{"email": "nobody@example.com"}',
            '{"number": 1, "scheduled_at": "2030-01-07T09:00:00Z"}', NULL));
    EXCEPTION WHEN invalid_parameter_value THEN
        GET STACKED DIAGNOSTICS v_field = COLUMN_NAME, v_text = MESSAGE_TEXT;
        -- Contacts of a list bring values of their own.
        IF v_first IS NOT NULL OR v_field <> 'variables' OR v_text NOT LIKE '%is missing' THEN
            RAISE;
        END IF;
    END;
END $$;
COMMENT ON FUNCTION mailqueue.check_schedule_message(uuid, jsonb, jsonb) IS
    'Raise 22023 naming the field unless mail can be made from the message of a schedule.';
