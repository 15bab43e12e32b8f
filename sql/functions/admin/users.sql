-- People who log in to the console: roles, projects, passwords, and links that set one.

CREATE OR REPLACE FUNCTION mailqueue.check_console_role(p_role text, p_sees_all boolean, p_projects text[]) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_role IS NULL OR p_role NOT IN ('superadmin', 'project_admin', 'support', 'viewer') THEN
        PERFORM mailqueue.refuse('role',
                                 format('superadmin, project_admin, support or viewer, got %s',
                                        to_json(left(p_role, 100))));
    ELSIF p_sees_all AND cardinality(p_projects) > 0 THEN
        PERFORM mailqueue.refuse('project', 'a user who sees all projects has no list of projects');
    ELSIF NOT p_sees_all AND coalesce(cardinality(p_projects), 0) = 0 THEN
        PERFORM mailqueue.refuse('project',
                                 format('a user with role %s needs at least one project, or all projects', p_role));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_console_role(text, boolean, text[]) IS
    'Refuse a role of the console''s users that does not exist, or does not fit the projects.';

CREATE OR REPLACE FUNCTION mailqueue.add_console_user(p_name text, p_role text, p_sees_all boolean, p_projects text[],
    p_link bytea, p_link_until timestamptz, p_actor text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
    v_all boolean := p_sees_all OR p_role = 'superadmin';
BEGIN
    PERFORM mailqueue.check_administers();
    IF coalesce(btrim(p_name), '') = '' THEN
        PERFORM mailqueue.refuse('name', 'a name is needed');
    ELSIF strpos(p_name, '/') > 0 THEN
        PERFORM mailqueue.refuse('name', 'must not contain /');
    END IF;
    PERFORM mailqueue.check_console_role(p_role, v_all, p_projects);
    PERFORM mailqueue.check_text('name', p_name, 100);
    INSERT INTO mailqueue.console_users (name, role, sees_all, link_hash, link_until, created_by)
    VALUES (btrim(p_name), p_role, v_all, p_link, p_link_until, p_actor)
    ON CONFLICT (lower(name)) DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        PERFORM mailqueue.refuse('name',
                                 format('there is a user %s already, or was one: names are not used again',
                                        to_json(p_name)));
    END IF;
    INSERT INTO mailqueue.console_members (user_id, project_id)
    SELECT DISTINCT v_id, mailqueue.project_named(n) FROM unnest(p_projects) AS n;
    PERFORM mailqueue.note_console_members(v_id, '{}', p_actor);
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (p_actor, 'console_user.added', 'user ' || btrim(p_name),
            jsonb_build_object('role', p_role, 'all_projects', v_all, 'projects', coalesce(p_projects, '{}')));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_console_user(text, text, boolean, text[], bytea, timestamptz, text) IS
    'Add a user of the console, who sets a password by the link whose token has this hash.';

-- The link of `mailqueue up`: for the first user, and only as long as no superadmin has ever set a password.
CREATE OR REPLACE FUNCTION mailqueue.first_console_link(p_link bytea, p_until timestamptz,
    p_actor text DEFAULT session_user)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM mailqueue.check_administers();
    IF EXISTS (SELECT FROM mailqueue.console_users AS u
                WHERE u.role = 'superadmin'
                  AND (u.password_hash IS NOT NULL OR (u.issuer IS NOT NULL AND u.removed_at IS NULL))) THEN
        RETURN NULL;
    END IF;
    SELECT u.name INTO v_name FROM mailqueue.console_users AS u
     WHERE u.role = 'superadmin' AND u.removed_at IS NULL AND u.issuer IS NULL ORDER BY u.created_at, u.id LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.link_console_user(v_name, p_link, p_until, p_actor);
    ELSIF NOT EXISTS (SELECT FROM mailqueue.console_users AS u WHERE lower(u.name) = 'admin') THEN
        v_name := 'admin';
        PERFORM mailqueue.add_console_user(v_name, 'superadmin', true, '{}', p_link, p_until, p_actor);
    END IF;
    RETURN v_name;
END $$;
COMMENT ON FUNCTION mailqueue.first_console_link(bytea, timestamptz, text) IS
    'Renew the link of the first superadmin, who is added if there is none; returns the name, or NULL once a '
    'superadmin has set a password.';

CREATE OR REPLACE FUNCTION mailqueue.link_console_user(p_name text, p_link bytea, p_until timestamptz,
    p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    IF EXISTS (SELECT FROM mailqueue.console_users AS u
                WHERE lower(u.name) = lower(p_name) AND u.removed_at IS NULL AND u.issuer IS NOT NULL) THEN
        PERFORM mailqueue.refuse('name', 'this user logs in at an issuer, and has no password here');
    END IF;
    UPDATE mailqueue.console_users AS u
       SET link_hash = p_link, link_until = p_until, reset_hash = NULL, reset_until = NULL
     WHERE lower(u.name) = lower(p_name) AND u.removed_at IS NULL;
    IF FOUND THEN
        INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
        VALUES (p_actor, 'console_user.linked', 'user ' || p_name, jsonb_build_object('until', p_until));
    END IF;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.link_console_user(text, bytea, timestamptz, text) IS
    'Replace the link by which a user sets a password; false if there is no such user.';

-- To know a name is enough to ask for such a link: one that an administrator handed over stays valid.
CREATE OR REPLACE FUNCTION mailqueue.reset_console_user(p_name text, p_link bytea, p_until timestamptz,
    p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.console_users AS u SET reset_hash = p_link, reset_until = p_until
     WHERE lower(u.name) = lower(p_name) AND u.removed_at IS NULL AND u.issuer IS NULL;
    IF FOUND THEN
        INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
        VALUES (p_actor, 'console_user.linked', 'user ' || p_name, jsonb_build_object('until', p_until));
    END IF;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.reset_console_user(text, bytea, timestamptz, text) IS
    'Replace the link that a user asked for who forgot the password; false if no such user has a password here.';

CREATE OR REPLACE FUNCTION mailqueue.find_console_link(p_link bytea) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT u.name FROM mailqueue.console_users AS u
     WHERE u.removed_at IS NULL
       AND (u.link_hash = p_link AND u.link_until > clock_timestamp()
            OR u.reset_hash = p_link AND u.reset_until > clock_timestamp())
$$;
COMMENT ON FUNCTION mailqueue.find_console_link(bytea) IS
    'Name of the user whose valid link has a token with this hash; NULL if there is none.';

-- Sessions that began with the password before are ended.
CREATE OR REPLACE FUNCTION mailqueue.set_password_by_link(p_link bytea, p_password_hash text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
    v_name text;
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.console_users AS u
       SET password_hash = p_password_hash, link_hash = NULL, link_until = NULL, reset_hash = NULL, reset_until = NULL
     WHERE u.removed_at IS NULL
       AND (u.link_hash = p_link AND u.link_until > clock_timestamp()
            OR u.reset_hash = p_link AND u.reset_until > clock_timestamp())
    RETURNING u.id, u.name INTO v_id, v_name;
    IF v_id IS NOT NULL THEN
        UPDATE mailqueue.console_sessions AS s SET ended_at = clock_timestamp()
         WHERE s.user_id = v_id AND s.ended_at IS NULL;
        INSERT INTO mailqueue.audit_events (actor, action, subject)
        VALUES (v_name || ' (console)', 'console_user.password_set', 'user ' || v_name);
    END IF;
    RETURN v_name;
END $$;
COMMENT ON FUNCTION mailqueue.set_password_by_link(bytea, text) IS
    'Set a password by a valid link, which is used up, and end all sessions of the user; returns the name, or NULL.';

-- p_session: the session that goes on.
CREATE OR REPLACE FUNCTION mailqueue.change_console_password(p_user uuid, p_session uuid, p_password_hash text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.console_users AS u
       SET password_hash = p_password_hash, link_hash = NULL, link_until = NULL, reset_hash = NULL, reset_until = NULL
     WHERE u.id = p_user AND u.removed_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.console_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = p_user AND s.id <> p_session AND s.ended_at IS NULL;
    INSERT INTO mailqueue.audit_events (actor, action, subject)
    SELECT u.name || ' (console)', 'console_user.password_set', 'user ' || u.name
      FROM mailqueue.console_users AS u WHERE u.id = p_user;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_console_password(uuid, uuid, text) IS
    'Replace the password of a user and end all other sessions; false if there is no such user.';

-- NULL: as it is. A list of projects ends that the user sees all, and the other way round. Rights are read with each
-- request, so that open sessions have the new ones at once.
CREATE OR REPLACE FUNCTION mailqueue.change_console_user(p_name text, p_role text, p_sees_all boolean,
    p_projects text[], p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    u mailqueue.console_users;
    v_role text;
    v_all boolean;
    v_before text[];
    v_ids uuid[];
    v_projects text[];
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT * INTO u FROM mailqueue.console_users AS o
     WHERE lower(o.name) = lower(btrim(p_name)) AND o.removed_at IS NULL FOR NO KEY UPDATE;
    IF u.id IS NULL THEN
        RETURN false;
    ELSIF u.issuer IS NOT NULL THEN
        PERFORM mailqueue.refuse('name', 'the issuer at which this user logs in says role and projects');
    END IF;
    v_before := ARRAY(SELECT p.name FROM mailqueue.console_members AS m
                        JOIN mailqueue.projects AS p ON p.id = m.project_id
                       WHERE m.user_id = u.id ORDER BY 1);
    v_ids := ARRAY(SELECT m.project_id FROM mailqueue.console_members AS m WHERE m.user_id = u.id);
    v_role := coalesce(p_role, u.role);
    v_all := v_role = 'superadmin'
             OR coalesce(p_sees_all, p_projects IS NULL AND u.sees_all AND u.role <> 'superadmin');
    v_projects := coalesce(p_projects, CASE WHEN v_all THEN '{}' ELSE v_before END);
    PERFORM mailqueue.check_console_role(v_role, v_all, v_projects);
    v_projects := ARRAY(SELECT DISTINCT n FROM unnest(v_projects) AS n ORDER BY 1);
    IF (v_role, v_all, v_projects) = (u.role, u.sees_all, v_before) THEN
        RETURN true;
    END IF;
    UPDATE mailqueue.console_users AS o SET role = v_role, sees_all = v_all WHERE o.id = u.id;
    DELETE FROM mailqueue.console_members AS m WHERE m.user_id = u.id;
    INSERT INTO mailqueue.console_members (user_id, project_id)
    SELECT u.id, mailqueue.project_named(n) FROM unnest(v_projects) AS n;
    PERFORM mailqueue.note_console_members(u.id, v_ids, p_actor);
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (p_actor, 'console_user.changed', 'user ' || u.name,
            jsonb_build_object('role', v_role, 'all_projects', v_all, 'projects', v_projects,
                               'before', jsonb_build_object('role', u.role, 'all_projects', u.sees_all,
                                                            'projects', v_before)));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_console_user(text, text, boolean, text[], text) IS
    'Change role and projects of a user of the console, at once for open sessions; false if there is no such user.';

CREATE OR REPLACE FUNCTION mailqueue.remove_console_user(p_name text, p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.console_users AS u
       SET removed_at = clock_timestamp(), password_hash = NULL, link_hash = NULL, link_until = NULL,
           reset_hash = NULL, reset_until = NULL
     WHERE lower(u.name) = lower(p_name) AND u.removed_at IS NULL RETURNING u.id INTO v_id;
    IF v_id IS NULL THEN
        RETURN false;
    END IF;
    DELETE FROM mailqueue.console_second_factors AS f WHERE f.user_id = v_id;
    DELETE FROM mailqueue.console_passkeys AS k WHERE k.user_id = v_id;
    UPDATE mailqueue.console_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = v_id AND s.ended_at IS NULL;
    INSERT INTO mailqueue.audit_events (actor, action, subject)
    VALUES (p_actor, 'console_user.removed', 'user ' || p_name);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_console_user(text, text) IS
    'Remove a user of the console and end the user''s sessions; false if there is no such user.';

CREATE OR REPLACE FUNCTION mailqueue.console_users_listed()
RETURNS TABLE (id uuid, name text, role text, sees_all boolean, projects text[], issuer text, has_password boolean,
               link_until timestamptz, sessions integer, created_by text, created_at timestamptz,
               last_login_at timestamptz, removed_at timestamptz, has_second_factor boolean, passkeys integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT u.id, u.name, u.role, u.sees_all,
           ARRAY(SELECT p.name FROM mailqueue.console_members AS m JOIN mailqueue.projects AS p ON p.id = m.project_id
                  WHERE m.user_id = u.id ORDER BY p.name),
           u.issuer, u.password_hash IS NOT NULL, u.link_until,
           (SELECT count(*) FROM mailqueue.console_sessions AS s
             WHERE s.user_id = u.id AND s.ended_at IS NULL AND s.expires_at > clock_timestamp())::integer,
           u.created_by, u.created_at, u.last_login_at, u.removed_at,
           EXISTS (SELECT FROM mailqueue.console_second_factors AS f
                    WHERE f.user_id = u.id AND f.turned_on_at IS NOT NULL),
           (SELECT count(*) FROM mailqueue.console_passkeys AS k WHERE k.user_id = u.id)::integer
      FROM mailqueue.console_users AS u
     ORDER BY u.removed_at IS NOT NULL, lower(u.name)
$$;
COMMENT ON FUNCTION mailqueue.console_users_listed() IS
    'Users of the console by name, removed ones last; sessions counts those that may still be used.';
