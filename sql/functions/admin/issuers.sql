-- Users of the console who log in at an OpenID Connect issuer.

-- Every login at the issuer sets role and projects anew. p_role NULL: the issuer no longer names the user among those
-- who may log in. p_names: the first one that no user has or had becomes the name of a new user.
CREATE OR REPLACE FUNCTION mailqueue.console_user_of_issuer(p_issuer text, p_subject text, p_names text[], p_role text,
    p_sees_all boolean, p_projects text[])
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    u mailqueue.console_users;
    v_name text;
    v_ids uuid[];
    v_before uuid[];
    v_is_known boolean;
BEGIN
    PERFORM mailqueue.check_administers();
    v_ids := ARRAY(SELECT p.id FROM mailqueue.projects AS p
                    WHERE p.name = ANY (p_projects) AND p.deleted_at IS NULL AND NOT p_sees_all ORDER BY 1);
    SELECT * INTO u FROM mailqueue.console_users AS o
     WHERE o.issuer = p_issuer AND o.subject = p_subject FOR NO KEY UPDATE;
    v_before := ARRAY(SELECT m.project_id FROM mailqueue.console_members AS m WHERE m.user_id = u.id ORDER BY 1);
    IF u.removed_at IS NOT NULL THEN
        RETURN NULL;
    ELSIF p_role IS NULL OR (v_ids = '{}' AND NOT p_sees_all) THEN
        IF u.sees_all OR v_before <> '{}' THEN
            PERFORM mailqueue.end_console_sessions(u.id, NULL, u.name || ' (console)');
            DELETE FROM mailqueue.console_members AS m WHERE m.user_id = u.id;
            PERFORM mailqueue.note_console_members(u.id, v_before, u.name || ' (console)');
            UPDATE mailqueue.console_users AS o SET role = 'viewer', sees_all = false WHERE o.id = u.id;
            INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
            VALUES (u.name || ' (console)', 'console_user.changed', 'user ' || u.name,
                    jsonb_build_object('role', NULL, 'all_projects', false, 'projects', '{}'::text[],
                                       'issuer', p_issuer));
        END IF;
        RETURN NULL;
    END IF;
    v_is_known := u.id IS NOT NULL;
    FOREACH v_name IN ARRAY p_names LOOP
        EXIT WHEN u.id IS NOT NULL;
        INSERT INTO mailqueue.console_users AS o (name, role, sees_all, issuer, subject, created_by)
        VALUES (v_name, p_role, p_sees_all, p_issuer, p_subject, v_name || ' (console)') ON CONFLICT DO NOTHING
        RETURNING * INTO u;
        IF u.id IS NULL THEN  -- the name is in use, or another login of this user has just added it
            SELECT * INTO u FROM mailqueue.console_users AS o
             WHERE o.issuer = p_issuer AND o.subject = p_subject FOR NO KEY UPDATE;
        ELSE
            INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
            VALUES (u.created_by, 'console_user.added', 'user ' || u.name,
                    jsonb_build_object('role', p_role, 'all_projects', p_sees_all, 'projects', p_projects,
                                       'issuer', p_issuer));
        END IF;
    END LOOP;
    IF u.id IS NULL OR u.removed_at IS NOT NULL THEN
        RETURN NULL;
    END IF;
    IF v_is_known AND ((u.role, u.sees_all) IS DISTINCT FROM (p_role, p_sees_all) OR v_before <> v_ids) THEN
        INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
        VALUES (u.name || ' (console)', 'console_user.changed', 'user ' || u.name,
                jsonb_build_object('role', p_role, 'all_projects', p_sees_all, 'projects', p_projects,
                                   'issuer', p_issuer));
    END IF;
    UPDATE mailqueue.console_users AS o SET role = p_role, sees_all = p_sees_all
     WHERE o.id = u.id AND (o.role, o.sees_all) IS DISTINCT FROM (p_role, p_sees_all);
    DELETE FROM mailqueue.console_members AS m WHERE m.user_id = u.id AND m.project_id <> ALL (v_ids);
    INSERT INTO mailqueue.console_members (user_id, project_id) SELECT u.id, i FROM unnest(v_ids) AS i
    ON CONFLICT DO NOTHING;
    PERFORM mailqueue.note_console_members(u.id, v_before, u.name || ' (console)');
    RETURN u.id;
END $$;
COMMENT ON FUNCTION mailqueue.console_user_of_issuer(text, text, text[], text, boolean, text[]) IS
    'The user who has logged in at an issuer, added at the first login, with the role and projects of this one; NULL '
    'if the user may not log in: removed here, or without a role or project, which also ends all sessions.';
