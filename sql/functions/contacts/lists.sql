-- Lists of contacts: added, changed, removed, read. Each change writes an audit row with the list before and after.

CREATE OR REPLACE FUNCTION mailqueue.contact_list_settings(l mailqueue.contact_lists) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object('description', l.description, 'condition', l.condition, 'opt_in', l.opt_in,
                              'confirm_template', l.confirm_template)
$$;
COMMENT ON FUNCTION mailqueue.contact_list_settings(mailqueue.contact_lists) IS
    'The fields of a list that can be changed.';

CREATE OR REPLACE FUNCTION mailqueue.check_contact_list_fields(p_name text, p_given jsonb) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_none mailqueue.contact_lists;
    v_name text;
BEGIN
    IF coalesce(p_name, '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('name', format('%s is not a name: lower-case letters, digits, - and _',
                                                coalesce(to_json(left(p_name, 100))::text, 'null')));
    ELSIF jsonb_typeof(p_given) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('list', 'an object of fields is needed');
    END IF;
    SELECT g.key INTO v_name FROM jsonb_each(p_given) AS g
     WHERE NOT mailqueue.contact_list_settings(v_none) ? g.key LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(left(v_name, 100), 'a list has no such field');
    END IF;
    SELECT g.key INTO v_name FROM jsonb_each(p_given) AS g
     WHERE jsonb_typeof(g.value) NOT IN ('string', 'null') LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_name, 'a string is needed');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_contact_list_fields(text, jsonb) IS
    'Raise an error (22023) for a name that a list may not have, and for unknown fields or values that are no strings.';

CREATE OR REPLACE FUNCTION mailqueue.check_contact_list(p_project uuid, p_list mailqueue.contact_lists) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_text('description', p_list.description, 500);
    IF p_list.condition IS NOT NULL THEN
        PERFORM mailqueue.check_event_path('condition', p_list.condition);
    END IF;
    IF p_list.opt_in NOT IN ('none', 'recorded', 'confirmed') THEN
        PERFORM mailqueue.refuse('opt_in', format('none, recorded or confirmed, got %s',
                                                  to_json(left(p_list.opt_in, 100))));
    ELSIF p_list.opt_in = 'confirmed' AND p_list.condition IS NOT NULL THEN
        PERFORM mailqueue.refuse('opt_in', 'contacts confirm that they were added, and a list with a condition has '
                                           'none that were: choose recorded');
    END IF;
    IF p_list.confirm_template IS NOT NULL THEN
        BEGIN
            PERFORM mailqueue.list_contents(p_project, jsonb_build_object('template', p_list.confirm_template),
                                            '{"list": {}}');
        EXCEPTION WHEN invalid_parameter_value THEN
            PERFORM mailqueue.refuse('confirm_template', SQLERRM);
        END;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_contact_list(uuid, mailqueue.contact_lists) IS
    'Raise an error (22023) naming the field of a list whose value is invalid.';

-- p_given has fields of contact_list_settings(); those that are absent stay as they are.
CREATE OR REPLACE FUNCTION mailqueue.put_contact_list(p_project uuid, p_name text, p_given jsonb,
    p_must_be_new boolean, p_by text DEFAULT session_user)
RETURNS SETOF mailqueue.contact_lists
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_lists CONSTANT integer := 1000;                    -- of a project
    v_old mailqueue.contact_lists;
    v_new mailqueue.contact_lists;
    v_is_test boolean := coalesce(mailqueue.mode(), false);
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_contact_list_fields(p_name, p_given);
    -- Serialised: two concurrent inserts must not both be the last that is allowed, nor both be new.
    PERFORM mailqueue.lock_key('contact lists ' || p_project);
    SELECT * INTO v_old FROM mailqueue.contact_lists AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.is_test = v_is_test FOR UPDATE;
    IF v_old.id IS NULL AND NOT p_must_be_new OR v_old.id IS NOT NULL AND p_must_be_new THEN
        RETURN;
    END IF;
    v_new := jsonb_populate_record(v_old, p_given);
    v_new.opt_in := coalesce(v_new.opt_in, 'none');
    PERFORM mailqueue.check_contact_list(p_project, v_new);
    IF v_old.id IS NULL THEN
        IF (SELECT count(*) >= c_max_lists FROM mailqueue.contact_lists AS o WHERE o.project_id = p_project) THEN
            PERFORM mailqueue.refuse('name', format('a project may have %s lists', c_max_lists));
        END IF;
        INSERT INTO mailqueue.contact_lists (project_id, name, description, condition, opt_in, confirm_template,
            created_by, is_test)
        VALUES (p_project, p_name, v_new.description, v_new.condition, v_new.opt_in, v_new.confirm_template, p_by,
            v_is_test)
        RETURNING * INTO v_new;
    ELSIF mailqueue.contact_list_settings(v_old) <> mailqueue.contact_list_settings(v_new) THEN
        IF v_old.condition IS NULL AND v_new.condition IS NOT NULL
           AND EXISTS (SELECT FROM mailqueue.contact_list_members AS m WHERE m.list_id = v_old.id) THEN
            PERFORM mailqueue.refuse('condition', 'contacts were added to this list: remove them first');
        END IF;
        UPDATE mailqueue.contact_lists AS o
           SET description = v_new.description, condition = v_new.condition, opt_in = v_new.opt_in,
               confirm_template = v_new.confirm_template, updated_at = now()
         WHERE o.id = v_old.id RETURNING * INTO v_new;
    ELSE
        RETURN NEXT v_old;
        RETURN;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, CASE WHEN v_old.id IS NULL THEN 'contact_list.added' ELSE 'contact_list.changed' END,
            'contact list ' || p_name,
            jsonb_build_object('after', mailqueue.contact_list_settings(v_new))
            || CASE WHEN v_old.id IS NULL THEN '{}'
                    ELSE jsonb_build_object('before', mailqueue.contact_list_settings(v_old)) END);
    RETURN NEXT v_new;
END $$;
COMMENT ON FUNCTION mailqueue.put_contact_list(uuid, text, jsonb, boolean, text) IS
    'Add a list of contacts or change the given fields of one; no row if it must be new and exists, or must exist and '
    'does not.';

CREATE OR REPLACE FUNCTION mailqueue.remove_contact_list(p_project uuid, p_name text, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_gone mailqueue.contact_lists;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    DELETE FROM mailqueue.contact_lists AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.is_test = coalesce(mailqueue.mode(), false)
    RETURNING * INTO v_gone;
    IF v_gone.id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, 'contact_list.removed', 'contact list ' || p_name,
            jsonb_build_object('before', mailqueue.contact_list_settings(v_gone)));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_contact_list(uuid, text, text) IS
    'Remove a list; its contacts stay. False if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.add_list_members(p_project uuid, p_name text, p_contacts uuid[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_list mailqueue.contact_lists;
    v_unknown uuid;
    v_added integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    -- Locked: the list may be given a condition, or be removed, at the same time.
    SELECT * INTO v_list FROM mailqueue.contact_lists AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.is_test = coalesce(mailqueue.mode(), false) FOR SHARE;
    IF v_list.id IS NULL THEN
        RETURN NULL;
    ELSIF v_list.condition IS NOT NULL THEN
        PERFORM mailqueue.refuse('list', 'its condition says who is in this list');
    END IF;
    -- In the order of ids: two calls with the same contacts do not wait for each other in a circle.
    PERFORM FROM mailqueue.contacts AS c
     WHERE c.project_id = p_project AND c.is_test = v_list.is_test AND c.id = ANY (p_contacts)
     ORDER BY c.id FOR KEY SHARE;
    SELECT i.id INTO v_unknown FROM unnest(p_contacts) AS i(id)
     WHERE NOT EXISTS (SELECT FROM mailqueue.contacts AS c
                        WHERE c.id = i.id AND c.project_id = p_project AND c.is_test = v_list.is_test) LIMIT 1;
    IF v_unknown IS NOT NULL OR array_position(p_contacts, NULL) IS NOT NULL THEN
        PERFORM mailqueue.refuse('contact_ids', format('there is no contact %s', coalesce(v_unknown::text, 'null')));
    END IF;
    INSERT INTO mailqueue.contact_list_members (list_id, contact_id, project_id, is_pending)
    SELECT DISTINCT v_list.id, i.id, p_project, v_list.opt_in = 'confirmed' FROM unnest(p_contacts) AS i(id)
     ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_added = ROW_COUNT;
    IF v_list.opt_in = 'confirmed' THEN
        PERFORM mailqueue.ask_to_confirm(v_list, p_contacts);
    END IF;
    RETURN v_added;
END $$;
COMMENT ON FUNCTION mailqueue.add_list_members(uuid, text, uuid[]) IS
    'Add contacts to a list: the number of those that were not in it; NULL if there is no such list. Contacts of a '
    'list that asks them to confirm are sent a mail.';

CREATE OR REPLACE FUNCTION mailqueue.remove_list_members(p_project uuid, p_name text, p_contacts uuid[])
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_list uuid;
    v_removed integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT o.id INTO v_list FROM mailqueue.contact_lists AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.is_test = coalesce(mailqueue.mode(), false);
    IF v_list IS NULL THEN
        RETURN NULL;
    END IF;
    DELETE FROM mailqueue.contact_list_members AS m
     WHERE m.list_id = v_list AND m.project_id = p_project AND m.contact_id = ANY (p_contacts);
    GET DIAGNOSTICS v_removed = ROW_COUNT;
    RETURN v_removed;
END $$;
COMMENT ON FUNCTION mailqueue.remove_list_members(uuid, text, uuid[]) IS
    'Remove contacts from a list: the number of those that were in it; NULL if there is no such list.';

-- In the order of ids, which never change: pass the last id for the next chunk, until one is empty. A contact that is
-- added while a list is read is in it or not. A condition is compared with all contacts of the project. Contacts that
-- the list asks for consent first are not in it: those that have not confirmed, or whose consent is not recorded.
CREATE OR REPLACE FUNCTION mailqueue.list_members(p_project uuid, p_list uuid, p_after uuid, p_most integer)
RETURNS SETOF mailqueue.contacts
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    v_list mailqueue.contact_lists;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO v_list FROM mailqueue.contact_lists AS o
     WHERE o.project_id = p_project AND o.id = p_list AND coalesce(mailqueue.mode(), o.is_test) = o.is_test;
    IF v_list.condition IS NOT NULL THEN
        RETURN QUERY
        SELECT c.* FROM mailqueue.contacts AS c
         WHERE c.project_id = p_project AND c.id > coalesce(p_after, c_first)
           AND c.is_test = v_list.is_test
           AND (v_list.opt_in <> 'recorded' OR c.consented_at IS NOT NULL)
           AND mailqueue.is_contact_selected(mailqueue.contact_document(c), v_list.condition)
           AND c.email_key <> 'erased@erased.invalid'
         ORDER BY c.id LIMIT p_most;
    ELSE
        RETURN QUERY
        SELECT c.* FROM mailqueue.contact_list_members AS m JOIN mailqueue.contacts AS c ON c.id = m.contact_id
         WHERE m.list_id = v_list.id AND m.contact_id > coalesce(p_after, c_first) AND NOT m.is_pending
           AND (v_list.opt_in <> 'recorded' OR c.consented_at IS NOT NULL)
           AND c.email_key <> 'erased@erased.invalid'
         ORDER BY m.contact_id LIMIT p_most;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.list_members(uuid, uuid, uuid, integer) IS
    'Contacts of a list with ids after one, in the order of ids; NULL: from the first.';
