-- Rules of a project that compatible APIs manage. Each change writes an audit row.

CREATE OR REPLACE FUNCTION mailqueue.put_project_rule(p_project uuid, p_kind text, p_subject text, p_settings jsonb,
    p_id uuid, p_by text)
    RETURNS SETOF mailqueue.project_rules
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_rule mailqueue.project_rules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_text('subject', p_subject, 320);
    -- Serialised: two concurrent inserts must not both be the last one allowed, nor both be new.
    PERFORM mailqueue.lock_key('rules ' || p_project);
    IF EXISTS (SELECT FROM mailqueue.project_rules AS r
                WHERE r.project_id = p_project AND r.kind = p_kind AND r.subject = p_subject
                  AND r.id IS DISTINCT FROM p_id) THEN
        RETURN;
    ELSIF p_id IS NULL AND (SELECT count(*) >= 500 FROM mailqueue.project_rules AS r
                             WHERE r.project_id = p_project AND r.kind = p_kind) THEN
        PERFORM mailqueue.refuse('rules', 'a project may have 500 of them');
    ELSIF p_id IS NULL THEN
        INSERT INTO mailqueue.project_rules (project_id, kind, subject, settings, created_by)
        VALUES (p_project, p_kind, p_subject, p_settings, p_by)
        RETURNING * INTO v_rule;
    ELSE
        UPDATE mailqueue.project_rules AS r SET subject = p_subject, settings = p_settings, updated_at = now()
         WHERE r.id = p_id AND r.project_id = p_project AND r.kind = p_kind
        RETURNING * INTO v_rule;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    SELECT p_project, p_by, p_kind || CASE WHEN p_id IS NULL THEN '.added' ELSE '.changed' END,
           replace(p_kind, '_', ' ') || ' ' || v_rule.id, jsonb_build_object('project', p.name)
      FROM mailqueue.projects AS p WHERE p.id = p_project;
    RETURN NEXT v_rule;
END $$;
COMMENT ON FUNCTION mailqueue.put_project_rule(uuid, text, text, jsonb, uuid, text) IS
    'Add a rule, or change the one of an id; no row if another rule has the subject, or there is none of that id.';

CREATE OR REPLACE FUNCTION mailqueue.remove_project_rule(p_project uuid, p_kind text, p_id uuid, p_by text)
    RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    DELETE FROM mailqueue.project_rules AS r WHERE r.id = p_id AND r.project_id = p_project AND r.kind = p_kind;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    SELECT p_project, p_by, p_kind || '.removed', replace(p_kind, '_', ' ') || ' ' || p_id,
           jsonb_build_object('project', p.name)
      FROM mailqueue.projects AS p WHERE p.id = p_project;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_project_rule(uuid, text, uuid, text) IS
    'Remove a rule of a project; false if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.is_sender_ignored(p_project uuid, p_senders text[]) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM mailqueue.project_rules AS r
                    WHERE r.project_id = p_project AND r.kind = 'inbound_rule'
                      AND EXISTS (SELECT FROM unnest(p_senders) AS s
                                   WHERE r.subject IN (mailqueue.address_key(s), mailqueue.domain_of(s))))
$$;
COMMENT ON FUNCTION mailqueue.is_sender_ignored(uuid, text[]) IS
    'Whether a rule of the project ignores bounce mail of one of these addresses or its domain.';
