-- Contacts by the line: what an import reads.

-- Each line is one contact, by its address. What put_contact() locks for the lines is locked before: its rows in the
-- order of theirs, then contacts in the order of ids, as all lock them who make mail for several or add them to lists.
CREATE OR REPLACE FUNCTION mailqueue.import_contacts(p_project uuid, p_lines jsonb, p_list text)
RETURNS TABLE (line integer, outcome text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r record;
    c mailqueue.contacts;
    v_ids uuid[] := '{}';
    v_lock text := 'contact ' || p_project || coalesce(mailqueue.mode(), false);
    v_keys text[];
    v_before jsonb;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_list IS NOT NULL THEN
        PERFORM mailqueue.find_list(p_project, p_list, coalesce(mailqueue.mode(), false));
    END IF;
    v_keys := ARRAY(SELECT mailqueue.address_key(btrim(l.value #>> '{fields,email}'))
                      FROM jsonb_array_elements(p_lines) AS l);
    PERFORM mailqueue.lock_key(k.key)
       FROM (SELECT v_lock || u.key AS key FROM unnest(v_keys) AS u(key) WHERE u.key IS NOT NULL
              ORDER BY hashtextextended(v_lock || u.key, 0) & 1023) AS k;
    PERFORM FROM mailqueue.contacts AS o
      WHERE o.project_id = p_project AND o.is_test = coalesce(mailqueue.mode(), false) AND o.email_key = ANY (v_keys)
        AND o.email_key <> 'erased@erased.invalid'
      ORDER BY o.id FOR UPDATE;
    FOR r IN
        SELECT (l.value ->> 'line')::integer AS line, l.value -> 'fields' AS fields,
               btrim(l.value #>> '{fields,email}') AS email
          FROM jsonb_array_elements(p_lines) AS l ORDER BY 1
    LOOP
        line := r.line;
        reason := NULL;
        BEGIN
            v_before := (SELECT mailqueue.contact_document(o) FROM mailqueue.contacts AS o
                         WHERE o.project_id = p_project AND o.is_test = coalesce(mailqueue.mode(), false)
                           AND o.email_key = mailqueue.address_key(r.email));
            SELECT * INTO c FROM mailqueue.put_contact(p_project, NULL, r.fields, NULL);
            outcome := CASE WHEN v_before IS NULL THEN 'added'
                            WHEN v_before <> mailqueue.contact_document(c) THEN 'changed' ELSE 'unchanged' END;
            v_ids := v_ids || c.id;
        EXCEPTION WHEN invalid_parameter_value THEN
            outcome := 'bad';
            reason := SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
    IF p_list IS NOT NULL THEN
        PERFORM mailqueue.add_list_members(p_project, p_list, v_ids);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.import_contacts(uuid, jsonb, text) IS
    'Add contacts or change them, each by its address, and add them to a list. p_lines: an array of {"line", '
    '"fields"}; fields as put_contact() takes them. Returns for each line added, changed, unchanged, or bad '
    'with the reason.';

-- Which contacts a condition selects; nothing is stored.
CREATE OR REPLACE FUNCTION mailqueue.try_list_condition(p_project uuid, p_condition text, p_most integer,
    OUT contacts bigint, OUT examples uuid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_condition IS NULL THEN
        PERFORM mailqueue.refuse('condition', 'is needed, such as $.attributes.plan == "pro"');
    END IF;
    PERFORM mailqueue.check_event_path('condition', p_condition);
    SELECT count(*), coalesce((array_agg(c.id ORDER BY c.id))[:p_most], '{}') INTO contacts, examples
      FROM mailqueue.contacts AS c
     WHERE c.project_id = p_project AND c.is_test = coalesce(mailqueue.mode(), false)
       AND c.email_key <> 'erased@erased.invalid'
       AND mailqueue.is_contact_selected(mailqueue.contact_document(c), p_condition);
END $$;
COMMENT ON FUNCTION mailqueue.try_list_condition(uuid, text, integer) IS
    'How many contacts a condition selects, and the ids of some.';

CREATE OR REPLACE FUNCTION mailqueue.check_contact_condition(p_condition text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_condition IS NOT NULL THEN
        PERFORM mailqueue.check_event_path('condition', p_condition);
    END IF;
    RETURN p_condition;
END $$;
COMMENT ON FUNCTION mailqueue.check_contact_condition(text) IS
    'The condition itself; raises 22023 for one that conditions of lists do not allow.';
