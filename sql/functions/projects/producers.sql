-- Logins of producers that are bound to projects; email_queue_accept() and check_room() ask for each mail and batch.
--
-- The login is session_user: neither SET ROLE nor a function with its owner's rights changes it.

CREATE OR REPLACE FUNCTION mailqueue.check_producer(p_project uuid) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_allowed text;
BEGIN
    IF (SELECT bool_or(b.project_id = p_project) FROM mailqueue.producer_projects AS b
         WHERE b.login = session_user) IS DISTINCT FROM false THEN
        RETURN;
    END IF;
    SELECT string_agg(p.name, ', ' ORDER BY p.name) INTO v_allowed
      FROM mailqueue.producer_projects AS b JOIN mailqueue.projects AS p ON p.id = b.project_id
     WHERE b.login = session_user;
    RAISE EXCEPTION 'login % may not enqueue for project %, only for %', session_user,
          (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = p_project),
          coalesce(v_allowed, 'projects that no longer exist')
          USING ERRCODE = '42501',
              HINT = format('An administrator can allow it: mailqueue producer add %s PROJECT', session_user);
END $$;
COMMENT ON FUNCTION mailqueue.check_producer(uuid) IS
    'Raise SQLSTATE 42501 if the login of this session is bound to other projects than this one.';

CREATE OR REPLACE FUNCTION mailqueue.bind_producer(p_login text, p_projects text[], p_by text DEFAULT session_user)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
    v_project uuid;
BEGIN
    PERFORM mailqueue.check_administers();
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = p_login AND o.rolcanlogin) THEN
        PERFORM mailqueue.refuse('login',
                                 format('this server has no role %s that can log in', to_json(left(p_login, 100))));
    ELSIF coalesce(cardinality(p_projects), 0) = 0 THEN
        PERFORM mailqueue.refuse('project', 'at least one project is needed');
    END IF;
    FOREACH v_name IN ARRAY p_projects LOOP
        v_project := mailqueue.project_named(v_name);
        INSERT INTO mailqueue.producer_projects (login, project_id) VALUES (p_login, v_project) ON CONFLICT DO NOTHING;
        CONTINUE WHEN NOT FOUND;
        INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
        VALUES (v_project, p_by, 'producer.bound', 'login ' || p_login, jsonb_build_object('project', v_name));
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.bind_producer(text, text[], text) IS
    'Let a login enqueue for these projects, and for no others but those it was bound to before.';

-- p_projects NULL: from all of them.
CREATE OR REPLACE FUNCTION mailqueue.unbind_producer(p_login text, p_projects text[], p_by text DEFAULT session_user)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    PERFORM mailqueue.check_administers();
    WITH gone AS (
        DELETE FROM mailqueue.producer_projects AS b
         WHERE b.login = p_login
           AND (p_projects IS NULL
                OR b.project_id = ANY (ARRAY(SELECT mailqueue.project_named(n) FROM unnest(p_projects) AS n)))
        RETURNING b.project_id
    )
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    SELECT g.project_id, p_by, 'producer.unbound', 'login ' || p_login, '{}' FROM gone AS g;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.unbind_producer(text, text[], text) IS
    'Unbind a login from projects; returns from how many. A login without any may enqueue for every project.';
