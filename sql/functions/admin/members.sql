-- Members of a project: users of the console who see it by its name.

CREATE OR REPLACE FUNCTION mailqueue.console_members_of(p_project uuid, p_limit integer)
RETURNS TABLE (user_id uuid, name text, role text, issuer text, has_password boolean, added_at timestamptz,
               last_login_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT u.id, u.name, u.role, u.issuer, u.password_hash IS NOT NULL, m.added_at, u.last_login_at
      FROM mailqueue.console_members AS m JOIN mailqueue.console_users AS u ON u.id = m.user_id
     WHERE m.project_id = p_project AND u.removed_at IS NULL
       AND (mailqueue.tenant() IS NULL OR mailqueue.tenant() = p_project)
     ORDER BY lower(u.name) LIMIT p_limit
$$;
COMMENT ON FUNCTION mailqueue.console_members_of(uuid, integer) IS
    'Users of the console who see a project by its name, not as one of all projects.';

-- p_before: ids of the projects that the user saw before.
CREATE OR REPLACE FUNCTION mailqueue.note_console_members(p_user uuid, p_before uuid[], p_actor text) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject)
    SELECT d.project_id, p_actor, CASE WHEN d.was THEN 'console_member.removed' ELSE 'console_member.added' END,
           'user ' || u.name
      FROM mailqueue.console_users AS u,
           (SELECT project_id, bool_or(was) AS was FROM (
                SELECT unnest(p_before) AS project_id, true AS was
                UNION ALL
                SELECT m.project_id, false FROM mailqueue.console_members AS m WHERE m.user_id = p_user) AS each
             GROUP BY project_id HAVING count(*) = 1) AS d
     WHERE u.id = p_user
$$;
COMMENT ON FUNCTION mailqueue.note_console_members(uuid, uuid[], text) IS
    'Note in the audit logs of projects that a user sees them from now on, or no more.';

CREATE OR REPLACE FUNCTION mailqueue.remove_console_member(p_project uuid, p_user uuid, p_actor text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    u mailqueue.console_users;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_administers();
    SELECT * INTO u FROM mailqueue.console_users AS o WHERE o.id = p_user AND o.removed_at IS NULL FOR NO KEY UPDATE;
    IF u.issuer IS NOT NULL THEN
        PERFORM mailqueue.refuse('name', 'the issuer at which this user logs in says role and projects');
    END IF;
    DELETE FROM mailqueue.console_members AS m WHERE m.user_id = u.id AND m.project_id = p_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject)
    VALUES (p_project, p_actor, 'console_member.removed', 'user ' || u.name);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_console_member(uuid, uuid, text) IS
    'Take a project from a user of the console, at once for open sessions; false if the user is no member.';
