-- Filter rules: which mail a person is notified of. Patterns are matched in mailqueue/watch/matching.py.

CREATE OR REPLACE FUNCTION mailqueue.check_filter_rule(p_type text, p_pattern text, p_priority integer) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(p_type, '') NOT IN ('sender', 'subject') THEN
        PERFORM mailqueue.refuse('rule_type', format('sender or subject, got %s',
                                                     coalesce(to_json(left(p_type, 100))::text, 'null')));
    ELSIF coalesce(btrim(p_pattern), '') = '' THEN
        PERFORM mailqueue.refuse('pattern', 'is needed: an address or domain of senders, or a word or phrase');
    ELSIF p_priority NOT BETWEEN -32768 AND 32767 THEN
        PERFORM mailqueue.refuse('priority', format('-32768 to 32767, got %s', p_priority));
    END IF;
    PERFORM mailqueue.check_text('pattern', p_pattern, 512);
    IF p_type = 'sender' THEN
        PERFORM mailqueue.check_address('pattern', CASE WHEN p_pattern LIKE '%_@%' THEN p_pattern
                                                        ELSE 'any@' || ltrim(p_pattern, '@') END);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_filter_rule(text, text, integer) IS
    'Raise 22023 naming the field unless a filter rule may be like this.';

CREATE OR REPLACE FUNCTION mailqueue.put_filter_rule(p_project uuid, p_user uuid, p_rule uuid, p_type text,
    p_pattern text, p_is_active boolean, p_priority integer, p_by text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 100;                          -- of a person
    v_old mailqueue.filter_rules;
    v_id uuid := coalesce(p_rule, mailqueue.uuidv7());
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF p_rule IS NOT NULL THEN
        SELECT * INTO v_old FROM mailqueue.filter_rules AS r
         WHERE r.id = p_rule AND r.project_id = p_project FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM mailqueue.check_filter_rule(coalesce(p_type, v_old.rule_type), coalesce(p_pattern, v_old.pattern),
                                        coalesce(p_priority, v_old.priority, 0));
    IF p_rule IS NULL THEN
        PERFORM mailqueue.lock_inbox_user(p_project, p_user);
        IF (SELECT count(*) FROM mailqueue.filter_rules AS r WHERE r.user_id = p_user) >= c_most THEN
            PERFORM mailqueue.refuse('user_id', format('an inbox user has at most %s filter rules', c_most));
        END IF;
        INSERT INTO mailqueue.filter_rules (id, project_id, user_id, rule_type, pattern, is_active, priority)
        VALUES (v_id, p_project, p_user, p_type, btrim(p_pattern), coalesce(p_is_active, true),
                coalesce(p_priority, 0));
    ELSE
        UPDATE mailqueue.filter_rules AS r
           SET rule_type = coalesce(p_type, r.rule_type), pattern = coalesce(btrim(p_pattern), r.pattern),
               is_active = coalesce(p_is_active, r.is_active), priority = coalesce(p_priority, r.priority),
               updated_at = clock_timestamp()
         WHERE r.id = p_rule;
    END IF;
    PERFORM mailqueue.record_operation(p_project, CASE WHEN p_rule IS NULL THEN 'filter_rule.added'
                                                       ELSE 'filter_rule.changed' END, v_id::text, '{}', p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.put_filter_rule(uuid, uuid, uuid, text, text, boolean, integer, text) IS
    'Add a rule for a person, or change those fields of one that are not NULL; returns its id, NULL if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.remove_filter_rule(p_project uuid, p_rule uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    DELETE FROM mailqueue.filter_rules AS r WHERE r.id = p_rule AND r.project_id = p_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'filter_rule.removed', p_rule::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_filter_rule(uuid, uuid, text) IS
    'Remove a filter rule; false if the project has none with that id.';
