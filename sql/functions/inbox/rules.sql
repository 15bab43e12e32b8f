-- Event rules: added, changed, removed. Each change writes an audit row with the rule before and after.

CREATE OR REPLACE FUNCTION mailqueue.check_event_rule(r mailqueue.event_rules) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_field text;
    v_value text;
BEGIN
    IF coalesce(r.name, '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('name', format('%s is not a name: lower-case letters, digits, - and _',
                                                coalesce(to_json(left(r.name, 100))::text, 'null')));
    ELSIF coalesce(r.event_type, '') = '' THEN
        PERFORM mailqueue.refuse('event_type', 'is needed');
    ELSIF coalesce(r.action, '') NOT IN ('mail', 'cancel', 'enroll', 'leave', 'record') THEN
        PERFORM mailqueue.refuse('action', format('mail, cancel, enroll, leave or record, got %s',
                                                  coalesce(to_json(left(r.action, 100))::text, 'null')));
    ELSIF r.action = 'mail' AND coalesce(r.template, '') = '' THEN
        PERFORM mailqueue.refuse('template', 'is needed by a rule that makes mail');
    ELSIF r.action = 'mail' AND coalesce(r.recipient, '') = '' THEN
        PERFORM mailqueue.refuse('recipient', 'is needed by a rule that makes mail');
    ELSIF r.action = 'cancel' AND coalesce(r.key, '') = '' THEN
        PERFORM mailqueue.refuse('key', 'is needed by a rule that cancels mail');
    ELSIF r.action = 'cancel'
          AND (num_nonnulls(r.template, r.recipient, r.recipient_name, r.language, r.priority) > 0
               OR r.variables <> '{}' OR r.tags <> '{}' OR r.delay_seconds <> 0) THEN
        PERFORM mailqueue.refuse('action', 'a rule that cancels mail has a key and no fields of mail');
    ELSIF r.action IN ('enroll', 'leave', 'record') AND coalesce(r.recipient, '') = '' THEN
        PERFORM mailqueue.refuse('recipient', 'is needed by a rule about contacts in sequences');
    ELSIF r.action = 'enroll' AND coalesce(r.sequence, '') = '' THEN
        PERFORM mailqueue.refuse('sequence', 'is needed by a rule that enrolls contacts');
    ELSIF r.action NOT IN ('enroll', 'leave') AND r.sequence IS NOT NULL THEN
        PERFORM mailqueue.refuse('sequence', 'is for rules that enroll contacts or end enrollments');
    ELSIF r.sequence IS NOT NULL
          AND NOT EXISTS (SELECT FROM mailqueue.sequences AS s
                           WHERE s.project_id = r.project_id AND s.name = r.sequence AND s.removed_at IS NULL) THEN
        PERFORM mailqueue.refuse('sequence', format('there is no sequence %s', to_json(left(r.sequence, 100))));
    ELSIF r.action IN ('enroll', 'leave', 'record')
          AND (num_nonnulls(r.template, r.recipient_name, r.language, r.priority, r.key) > 0
               OR r.action <> 'enroll' AND r.variables <> '{}' OR r.tags <> '{}' OR r.delay_seconds <> 0) THEN
        PERFORM mailqueue.refuse('action', 'a rule about contacts in sequences has no fields of mail');
    END IF;
    PERFORM mailqueue.check_text('event_type', r.event_type, 200);
    IF r.condition IS NOT NULL THEN
        PERFORM mailqueue.check_event_path('condition', r.condition);
    END IF;
    FOR v_field, v_value IN
        VALUES ('recipient', r.recipient), ('recipient_name', r.recipient_name), ('language', r.language),
               ('key', r.key)
    LOOP
        IF v_value LIKE '$%' THEN
            PERFORM mailqueue.check_event_path(v_field, v_value);
        END IF;
        PERFORM mailqueue.check_text(v_field, v_value, 500);
    END LOOP;
    IF r.recipient NOT LIKE '$%' THEN
        PERFORM mailqueue.check_address('recipient', (mailqueue.split_mailbox(r.recipient)).address);
    END IF;
    PERFORM mailqueue.check_text('template', r.template, 120);
    IF r.priority NOT IN ('critical', 'high', 'normal', 'low') THEN
        PERFORM mailqueue.refuse('priority',
                                 format('critical, high, normal or low, got %s', to_json(left(r.priority, 100))));
    ELSIF r.delay_seconds NOT BETWEEN 0 AND 31622400 THEN
        PERFORM mailqueue.refuse('delay_seconds', format('0 to 31622400, got %s', r.delay_seconds));
    ELSIF cardinality(r.tags) > 20
          OR EXISTS (SELECT FROM unnest(r.tags) AS t
                      WHERE t IS NULL OR t = '' OR length(t) > 128 OR t ~ '[\u0001-\u001f\u007f]') THEN
        PERFORM mailqueue.refuse('tags', 'at most 20 tags of 1 to 128 characters');
    ELSIF jsonb_typeof(r.variables) <> 'object' THEN
        PERFORM mailqueue.refuse('variables', format('an object of names and values is needed, got %s',
                                                     jsonb_typeof(r.variables)));
    ELSIF mailqueue.json_fault(r.variables, 16) IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', mailqueue.json_fault(r.variables, 16));
    ELSIF (SELECT count(*) > 50 FROM jsonb_object_keys(r.variables)) THEN
        PERFORM mailqueue.refuse('variables', 'at most 50 variables');
    END IF;
    PERFORM mailqueue.check_event_path('variables', v.value #>> '{}') FROM jsonb_each(r.variables) AS v
      WHERE jsonb_typeof(v.value) = 'string' AND v.value #>> '{}' LIKE '$%';
END $$;
COMMENT ON FUNCTION mailqueue.check_event_rule(mailqueue.event_rules) IS
    'Raise 22023 for a rule with an invalid field, naming it.';

-- Without what the row itself has: how callers and the audit log see a rule.
CREATE OR REPLACE FUNCTION mailqueue.settings_of_event_rule(r mailqueue.event_rules) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object('event_type', r.event_type, 'condition', r.condition, 'action', r.action,
                              'template', r.template, 'recipient', r.recipient, 'recipient_name', r.recipient_name,
                              'language', r.language, 'variables', r.variables, 'priority', r.priority,
                              'tags', to_jsonb(r.tags), 'delay_seconds', r.delay_seconds, 'key', r.key,
                              'sequence', r.sequence, 'is_enabled', r.is_enabled)
$$;
COMMENT ON FUNCTION mailqueue.settings_of_event_rule(mailqueue.event_rules) IS
    'The fields of a rule that can be changed.';

-- p_given has fields of settings_of_event_rule(); those that are absent stay as they are, or have their default.
CREATE OR REPLACE FUNCTION mailqueue.put_event_rule(p_project uuid, p_name text, p_given jsonb, p_must_be_new boolean,
    p_by text DEFAULT session_user)
RETURNS SETOF mailqueue.event_rules
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_rules CONSTANT integer := 200;                     -- of a project
    c_max_of_type CONSTANT integer := 20;                    -- enabled, for one type of event
    v_old mailqueue.event_rules;
    v_new mailqueue.event_rules;
    v_unknown text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF jsonb_typeof(p_given) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('rule', 'an object of fields is needed');
    END IF;
    SELECT k INTO v_unknown FROM jsonb_object_keys(p_given) AS k
     WHERE NOT mailqueue.settings_of_event_rule(v_old) ? k LIMIT 1;
    IF v_unknown IS NOT NULL THEN
        PERFORM mailqueue.refuse(left(v_unknown, 100), 'a rule has no such field');
    END IF;
    -- Serialised: two concurrent inserts must not both be the last that is allowed, nor both be new.
    PERFORM mailqueue.lock_key('event rules ' || p_project);
    SELECT * INTO v_old FROM mailqueue.event_rules AS o WHERE o.project_id = p_project AND o.name = p_name;
    IF v_old.id IS NULL AND NOT p_must_be_new OR v_old.id IS NOT NULL AND p_must_be_new THEN
        RETURN;
    END IF;
    BEGIN
        v_new := jsonb_populate_record(v_old, p_given);
    EXCEPTION WHEN data_exception THEN
        PERFORM mailqueue.refuse('rule', SQLERRM);
    END;
    v_new.project_id := p_project;
    v_new.name := p_name;
    v_new.variables := coalesce(nullif(v_new.variables, 'null'), '{}');
    v_new.tags := coalesce(v_new.tags, '{}');
    v_new.delay_seconds := coalesce(v_new.delay_seconds, 0);
    v_new.is_enabled := coalesce(v_new.is_enabled, false);
    v_new.action := coalesce(v_new.action, 'mail');
    PERFORM mailqueue.check_event_rule(v_new);
    IF v_old.id IS NULL
       AND (SELECT count(*) >= c_max_rules FROM mailqueue.event_rules AS o WHERE o.project_id = p_project) THEN
        PERFORM mailqueue.refuse('name', format('a project may have %s event rules', c_max_rules));
    ELSIF v_new.is_enabled
          AND (SELECT count(*) >= c_max_of_type FROM mailqueue.event_rules AS o
                WHERE o.project_id = p_project AND o.event_type = v_new.event_type AND o.is_enabled
                  AND o.name <> p_name) THEN
        PERFORM mailqueue.refuse('is_enabled', format('%s rules may be enabled for one type of event', c_max_of_type));
    END IF;
    IF v_old.id IS NULL THEN
        INSERT INTO mailqueue.event_rules (project_id, name, event_type, condition, action, template, recipient,
            recipient_name, language, variables, priority, tags, delay_seconds, key, sequence, is_enabled, created_by)
        VALUES (p_project, p_name, v_new.event_type, v_new.condition, v_new.action, v_new.template, v_new.recipient,
            v_new.recipient_name, v_new.language, v_new.variables, v_new.priority, v_new.tags, v_new.delay_seconds,
            v_new.key, v_new.sequence, v_new.is_enabled, p_by)
        RETURNING * INTO v_new;
    ELSIF mailqueue.settings_of_event_rule(v_old) <> mailqueue.settings_of_event_rule(v_new) THEN
        UPDATE mailqueue.event_rules AS o
           SET event_type = v_new.event_type, condition = v_new.condition, action = v_new.action,
               template = v_new.template, recipient = v_new.recipient, recipient_name = v_new.recipient_name,
               language = v_new.language, variables = v_new.variables, priority = v_new.priority, tags = v_new.tags,
               delay_seconds = v_new.delay_seconds, key = v_new.key, sequence = v_new.sequence,
               is_enabled = v_new.is_enabled,
               version = o.version + 1, updated_at = now()
         WHERE o.id = v_old.id RETURNING * INTO v_new;
    ELSE
        RETURN NEXT v_old;
        RETURN;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, CASE WHEN v_old.id IS NULL THEN 'event_rule.added' ELSE 'event_rule.changed' END,
            'event rule ' || p_name,
            jsonb_build_object('version', v_new.version, 'after', mailqueue.settings_of_event_rule(v_new))
            || CASE WHEN v_old.id IS NULL THEN '{}'
                    ELSE jsonb_build_object('before', mailqueue.settings_of_event_rule(v_old)) END);
    RETURN NEXT v_new;
END $$;
COMMENT ON FUNCTION mailqueue.put_event_rule(uuid, text, jsonb, boolean, text) IS
    'Add an event rule or change the given fields of one; no row if it must be new and exists, or must exist and does '
    'not.';

CREATE OR REPLACE FUNCTION mailqueue.remove_event_rule(p_project uuid, p_name text, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_gone mailqueue.event_rules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    DELETE FROM mailqueue.event_rules AS o WHERE o.project_id = p_project AND o.name = p_name RETURNING * INTO v_gone;
    IF v_gone.id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, 'event_rule.removed', 'event rule ' || p_name,
            jsonb_build_object('version', v_gone.version, 'before', mailqueue.settings_of_event_rule(v_gone)));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_event_rule(uuid, text, text) IS
    'Remove an event rule; what it did stays recorded. False if there is none.';
