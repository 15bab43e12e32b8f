-- Persons whose inboxes are watched log in: passwords, and sessions apart from those of the console.

CREATE OR REPLACE FUNCTION mailqueue.find_inbox_login(p_project uuid, p_email text, p_browser bytea)
RETURNS TABLE (user_id uuid, password_hash text, is_known_browser boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    SELECT u.id, l.password_hash,
           EXISTS (SELECT FROM mailqueue.inbox_sessions AS s WHERE s.user_id = u.id AND s.browser_hash = p_browser)
      FROM mailqueue.inbox_users AS u JOIN mailqueue.inbox_logins AS l ON l.user_id = u.id
     WHERE u.project_id = p_project AND u.email = lower(btrim(p_email));
END $$;
COMMENT ON FUNCTION mailqueue.find_inbox_login(uuid, text, bytea) IS
    'The password of the person with an address, and whether the person has logged in with this browser before; no row '
    'for a person without a password.';

CREATE OR REPLACE FUNCTION mailqueue.begin_inbox_session(p_project uuid, p_user uuid, p_password_hash text,
    p_token bytea, p_browser bytea, p_address inet, p_user_agent text, p_lasts interval) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 50;                           -- of a person
    v_id uuid := mailqueue.uuidv7();
    v_email text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT u.email INTO v_email FROM mailqueue.inbox_users AS u
     WHERE u.id = p_user AND u.project_id = p_project FOR NO KEY UPDATE;
    -- The password that was verified: it may have been replaced meanwhile.
    UPDATE mailqueue.inbox_logins AS l SET last_login_at = clock_timestamp()
     WHERE l.user_id = p_user AND l.project_id = p_project AND l.password_hash = p_password_hash;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM mailqueue.inbox_sessions AS s
     WHERE s.id IN (SELECT o.id FROM mailqueue.inbox_sessions AS o WHERE o.user_id = p_user
                     ORDER BY o.ended_at IS NOT NULL, o.used_at DESC OFFSET c_most - 1);
    INSERT INTO mailqueue.inbox_sessions (id, project_id, user_id, email, token_hash, browser_hash, address, user_agent,
                                          expires_at)
    VALUES (v_id, p_project, p_user, v_email, p_token, p_browser, p_address, left(p_user_agent, 300),
            clock_timestamp() + p_lasts);
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.logged_in', p_user::text,
                                       jsonb_build_object('session', v_id), 'inbox user ' || p_user);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.begin_inbox_session(uuid, uuid, text, bytea, bytea, inet, text, interval) IS
    'Begin a session of a person whose password was verified; NULL if it was replaced, or the person removed, '
    'meanwhile.';

-- The last use is updated once a minute, without waiting for locks.
CREATE OR REPLACE FUNCTION mailqueue.find_inbox_session(p_project uuid, p_token bytea, p_idle interval)
RETURNS TABLE (session_id uuid, user_id uuid, email text, notifications_paused boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT o.id, o.user_id, o.used_at, u.email, u.notifications_paused INTO s
      FROM mailqueue.inbox_sessions AS o JOIN mailqueue.inbox_users AS u ON u.id = o.user_id
     WHERE o.token_hash = p_token AND o.project_id = p_project AND o.ended_at IS NULL
       AND o.expires_at > clock_timestamp() AND o.used_at > clock_timestamp() - p_idle;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF s.used_at < clock_timestamp() - interval '1 min' THEN
        UPDATE mailqueue.inbox_sessions AS o SET used_at = clock_timestamp()
         WHERE o.id = (SELECT i.id FROM mailqueue.inbox_sessions AS i WHERE i.id = s.id
                          FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN QUERY SELECT s.id, s.user_id, s.email, s.notifications_paused;
END $$;
COMMENT ON FUNCTION mailqueue.find_inbox_session(uuid, bytea, interval) IS
    'The session of a project whose token has this hash, with its person, if it was used within the interval and has '
    'not ended.';

CREATE OR REPLACE FUNCTION mailqueue.inbox_sessions_of(p_project uuid, p_user uuid, p_idle interval)
RETURNS TABLE (id uuid, address text, user_agent text, created_at timestamptz, used_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    SELECT s.id, host(s.address), s.user_agent, s.created_at, s.used_at FROM mailqueue.inbox_sessions AS s
     WHERE s.user_id = p_user AND s.project_id = p_project AND s.ended_at IS NULL
       AND s.expires_at > clock_timestamp() AND s.used_at > clock_timestamp() - p_idle
     ORDER BY s.used_at DESC, s.id DESC;
END $$;
COMMENT ON FUNCTION mailqueue.inbox_sessions_of(uuid, uuid, interval) IS
    'Sessions of a person that may still be used, the latest used first.';

-- p_session NULL: all of them.
CREATE OR REPLACE FUNCTION mailqueue.end_inbox_sessions(p_project uuid, p_user uuid, p_session uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ended integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.inbox_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = p_user AND s.project_id = p_project AND (p_session IS NULL OR s.id = p_session)
       AND s.ended_at IS NULL;
    GET DIAGNOSTICS v_ended = ROW_COUNT;
    IF v_ended > 0 THEN
        PERFORM mailqueue.record_operation(p_project, 'inbox_user.logged_out', p_user::text,
                                           jsonb_build_object('sessions', v_ended), 'inbox user ' || p_user);
    END IF;
    RETURN v_ended;
END $$;
COMMENT ON FUNCTION mailqueue.end_inbox_sessions(uuid, uuid, uuid) IS
    'End one session of a person, or all of them; returns how many had not ended.';

-- p_old: the password that was verified.
CREATE OR REPLACE FUNCTION mailqueue.change_inbox_password(p_project uuid, p_user uuid, p_session uuid, p_old text,
    p_new text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM FROM mailqueue.inbox_users AS u WHERE u.id = p_user AND u.project_id = p_project FOR NO KEY UPDATE;
    UPDATE mailqueue.inbox_logins AS l SET password_hash = p_new, updated_at = clock_timestamp()
     WHERE l.user_id = p_user AND l.project_id = p_project AND l.password_hash = p_old;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM mailqueue.inbox_links AS l WHERE l.user_id = p_user;
    DELETE FROM mailqueue.phone_registrations AS r WHERE r.user_id = p_user;
    UPDATE mailqueue.inbox_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = p_user AND s.id <> p_session AND s.ended_at IS NULL;
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.password_set', p_user::text, '{}',
                                       'inbox user ' || p_user);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_inbox_password(uuid, uuid, uuid, text, text) IS
    'Replace the password of a person, and end the person''s links, codes and other sessions; false if it was replaced '
    'meanwhile.';
