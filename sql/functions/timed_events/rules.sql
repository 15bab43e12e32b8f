-- The birthday rule of a project. Each change writes an audit row.

CREATE OR REPLACE FUNCTION mailqueue.put_birthday_rule(p_project uuid, p_local_time text, p_leap_day text,
    p_template text, p_webhook uuid, p_payload jsonb, p_by text DEFAULT session_user)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_payload CONSTANT integer := 64;                    -- KiB
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF coalesce(p_local_time, '') !~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' THEN
        PERFORM mailqueue.refuse('local_time', format('%s is not a time such as 09:00',
                                                      coalesce(to_json(left(p_local_time, 100))::text, 'null')));
    ELSIF p_leap_day IS NULL OR p_leap_day NOT IN ('february_28', 'march_1') THEN
        PERFORM mailqueue.refuse('leap_day', format('february_28 or march_1 is needed, got %s',
                                                    coalesce(to_json(left(p_leap_day, 100))::text, 'null')));
    ELSIF num_nonnulls(p_template, p_webhook) <> 1 THEN
        PERFORM mailqueue.refuse(CASE WHEN p_template IS NULL THEN 'template' ELSE 'webhook_id' END,
                                 'either a template or a webhook is needed');
    ELSIF jsonb_typeof(p_payload) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('payload', format('an object is needed, got %s',
                                                   coalesce(jsonb_typeof(p_payload), 'null')));
    ELSIF mailqueue.json_fault(p_payload, c_max_payload) IS NOT NULL THEN
        PERFORM mailqueue.refuse('payload', mailqueue.json_fault(p_payload, c_max_payload));
    ELSIF p_payload ?| '{event,contact}' THEN
        PERFORM mailqueue.refuse('payload', '"event" and "contact" are the event and its contact: use other names');
    END IF;
    PERFORM mailqueue.check_timed_delivery(p_project, p_template, p_webhook);
    INSERT INTO mailqueue.birthday_rules AS b (project_id, local_time, leap_day, template, webhook_id, payload,
        is_enabled, created_by)
    VALUES (p_project, p_local_time, p_leap_day, p_template, p_webhook, p_payload, true, p_by)
    ON CONFLICT ON CONSTRAINT birthday_rules_pkey DO UPDATE
       SET local_time = excluded.local_time, leap_day = excluded.leap_day, template = excluded.template,
           webhook_id = excluded.webhook_id, payload = excluded.payload, is_enabled = true, version = b.version + 1,
           updated_at = now()
     WHERE (b.local_time, b.leap_day, b.template, b.webhook_id, b.payload, b.is_enabled)
           IS DISTINCT FROM (excluded.local_time, excluded.leap_day, excluded.template, excluded.webhook_id,
                             excluded.payload, true);
    IF FOUND THEN
        INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
        VALUES (p_project, p_by, 'birthday_rule.changed', 'birthday rule',
                jsonb_build_object('after', jsonb_build_object('local_time', p_local_time, 'leap_day', p_leap_day,
                    'template', p_template, 'webhook_id', p_webhook)));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.put_birthday_rule(uuid, text, text, text, uuid, jsonb, text) IS
    'Set what a project does on birthdays of its contacts; workers then plan them.';

CREATE OR REPLACE FUNCTION mailqueue.remove_birthday_rule(p_project uuid, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.birthday_rules AS b SET is_enabled = false, version = b.version + 1, updated_at = now()
     WHERE b.project_id = p_project AND b.is_enabled;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, 'birthday_rule.removed', 'birthday rule', '{}');
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_birthday_rule(uuid, text) IS
    'End birthdays of a project: none is delivered any more, and workers remove those that are pending; false if it '
    'has none.';
