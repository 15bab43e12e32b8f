-- Status of a project: suspended with a reason, active, deleted, restored.
--
-- A deleted project is suspended, accepts no mail and has no keys. Its mail stays and waits until the project is
-- restored.

CREATE OR REPLACE FUNCTION mailqueue.suspend_project(p_name text, p_reason text, p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p mailqueue.projects := mailqueue.locked_project(p_name);
    v_reason text := nullif(btrim(p_reason), '');
BEGIN
    IF v_reason IS NULL THEN
        PERFORM mailqueue.refuse('reason', 'say why the project is suspended');
    END IF;
    PERFORM mailqueue.check_text('reason', v_reason, 500);
    IF p.deleted_at IS NOT NULL THEN
        PERFORM mailqueue.refuse('project', format('project %s is deleted', to_json(p.name)));
    ELSIF p.status = 'suspended' AND p.status_reason IS NOT DISTINCT FROM v_reason THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.projects AS o
       SET status = 'suspended', status_reason = v_reason, status_until = NULL,
           suspended_at = CASE WHEN p.status = 'suspended' THEN p.suspended_at ELSE clock_timestamp() END,
           updated_at = now()
     WHERE o.id = p.id;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p.id, p_actor, 'project.suspended', 'project ' || p.name,
            jsonb_build_object('reason', v_reason, 'was', p.status));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.suspend_project(text, text, text) IS
    'Stop all sending of a project until activate_project(); false if it was suspended for that reason already. Its '
    'mail is accepted and waits.';

CREATE OR REPLACE FUNCTION mailqueue.activate_project(p_name text, p_actor text DEFAULT session_user) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p mailqueue.projects := mailqueue.locked_project(p_name);
BEGIN
    IF p.status = 'active' THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.projects AS o
       SET status = 'active', status_reason = NULL, status_until = NULL, suspended_at = NULL, deleted_at = NULL,
           updated_at = now()
     WHERE o.id = p.id;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p.id, p_actor, CASE WHEN p.deleted_at IS NULL THEN 'project.activated' ELSE 'project.restored' END,
            'project ' || p.name, jsonb_strip_nulls(jsonb_build_object('was', p.status, 'reason', p.status_reason)));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.activate_project(text, text) IS
    'Resume a suspended, paused or deleted project; false if it is active. Keys that were revoked by deleting stay '
    'revoked.';

CREATE OR REPLACE FUNCTION mailqueue.delete_project(p_name text, p_actor text DEFAULT session_user) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p mailqueue.projects := mailqueue.locked_project(p_name);
    v_keys integer;
BEGIN
    IF p.name = 'default' THEN
        PERFORM mailqueue.refuse('project',
                                 'the project default cannot be deleted: mail that names no project goes to it');
    ELSIF p.deleted_at IS NOT NULL THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.projects AS o
       SET status = 'suspended', status_reason = 'it was deleted', status_until = NULL,
           suspended_at = coalesce(p.suspended_at, clock_timestamp()),
           deleted_at = clock_timestamp(), updated_at = now()
     WHERE o.id = p.id;
    UPDATE mailqueue.api_keys AS k
       SET revoked_at = clock_timestamp(), revoked_reason = 'its project was deleted', revoked_by = p_actor
     WHERE k.project_id = p.id AND k.revoked_at IS NULL;
    GET DIAGNOSTICS v_keys = ROW_COUNT;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p.id, p_actor, 'project.deleted', 'project ' || p.name,
            jsonb_build_object('keys_revoked', v_keys, 'was', p.status));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.delete_project(text, text) IS
    'Delete a project softly: it accepts no mail, sends none, and its keys are revoked. Mail waits, records and the '
    'name stay; false if it was deleted already.';

CREATE OR REPLACE FUNCTION mailqueue.project_named(p_name text) RETURNS uuid
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    SELECT p.id INTO v_id FROM mailqueue.projects AS p WHERE p.name = p_name;
    IF v_id IS NULL THEN
        PERFORM mailqueue.refuse('project', format('there is no project %s', to_json(left(p_name, 100))));
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.project_named(text) IS 'Id of a project; raises an error for an unknown name.';

-- Unlike project_named(), which also finds deleted projects, for operations on their mail.
CREATE OR REPLACE FUNCTION mailqueue.project_taking(p_name text) RETURNS uuid
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid := mailqueue.project_named(p_name);
BEGIN
    IF EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.id = v_id AND p.deleted_at IS NOT NULL) THEN
        PERFORM mailqueue.refuse('project', format('project %s is deleted', to_json(left(p_name, 100))));
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.project_taking(text) IS
    'Id of a project that accepts mail; raises an error for an unknown name or a deleted project.';

-- A key created while the project is deleted would become valid when it is restored.
CREATE OR REPLACE FUNCTION mailqueue.api_keys_allowed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p record;
BEGIN
    SELECT o.name, o.deleted_at INTO p FROM mailqueue.projects AS o WHERE o.id = NEW.project_id FOR SHARE;
    IF p.deleted_at IS NOT NULL THEN
        PERFORM mailqueue.refuse('project', format('project %s is deleted', to_json(p.name)));
    ELSIF NEW.is_test AND NOT mailqueue.is_on('test_keys') THEN
        PERFORM mailqueue.refuse('is_test', 'test keys are not issued here: the flag test_keys is off');
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.api_keys_allowed() IS
    'BEFORE INSERT of a key: not for a deleted project, no test key while the flag test_keys is off.';

CREATE OR REPLACE TRIGGER api_keys_allowed BEFORE INSERT ON mailqueue.api_keys
    FOR EACH ROW EXECUTE FUNCTION mailqueue.api_keys_allowed();
