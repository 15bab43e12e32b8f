-- Sessions of the console's users, attempts to log in, what a user sees, and forms that act once.

-- p_browser: hash of the token that stays in a browser after a login.
CREATE OR REPLACE FUNCTION mailqueue.find_console_login(p_name text, p_browser bytea)
RETURNS TABLE (user_id uuid, password_hash text, is_known_browser boolean, has_second_factor boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT u.id, u.password_hash,
           EXISTS (SELECT FROM mailqueue.console_sessions AS s WHERE s.user_id = u.id AND s.browser_hash = p_browser),
           EXISTS (SELECT FROM mailqueue.console_second_factors AS f
                    WHERE f.user_id = u.id AND f.turned_on_at IS NOT NULL)
      FROM mailqueue.console_users AS u
     WHERE lower(u.name) = lower(btrim(p_name)) AND u.removed_at IS NULL AND u.password_hash IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.find_console_login(text, bytea) IS
    'The password of a user, whether the user has logged in with this browser before, and whether a second factor is '
    'on.';

-- GCRA: next_at is when all attempts so far would have come at one per p_seconds. p_burst of them need not wait. An
-- attempt that would wait longer than p_wait seconds is not counted.
CREATE OR REPLACE FUNCTION mailqueue.take_console_attempt(p_client bytea, p_seconds float8, p_burst integer,
    p_wait float8)
RETURNS float8
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.console_attempts AS a (client_hash, next_at)
    VALUES (p_client, clock_timestamp() + make_interval(secs => p_seconds))
    ON CONFLICT (client_hash) DO UPDATE
       SET next_at = greatest(a.next_at, clock_timestamp()) + make_interval(secs => p_seconds)
     WHERE a.next_at <= clock_timestamp() + make_interval(secs => p_seconds * (p_burst - 1) + p_wait)
    RETURNING greatest(0, extract(epoch FROM next_at - clock_timestamp()) - p_seconds * p_burst)::float8
$$;
COMMENT ON FUNCTION mailqueue.take_console_attempt(bytea, float8, integer, float8) IS
    'Seconds until an attempt to log in may be judged; NULL if too many came from this client.';

-- p_is_whole: whether the second factor was verified too; without it only users who have none log in.
CREATE OR REPLACE FUNCTION mailqueue.begin_console_session(p_user uuid, p_token bytea, p_browser bytea, p_address inet,
    p_user_agent text, p_lasts interval, p_password_hash text, p_is_whole boolean)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
    v_name text;
BEGIN
    PERFORM mailqueue.check_administers();
    -- A second factor that is being turned on is waited for.
    PERFORM FROM mailqueue.console_users AS u WHERE u.id = p_user FOR NO KEY UPDATE;
    -- The password that was verified: it may have been replaced meanwhile. NULL: the issuer's word was verified.
    UPDATE mailqueue.console_users AS u SET last_login_at = clock_timestamp()
     WHERE u.id = p_user AND u.removed_at IS NULL
       AND (u.password_hash = p_password_hash OR (u.issuer IS NOT NULL AND p_password_hash IS NULL))
       AND (p_is_whole OR NOT EXISTS (SELECT FROM mailqueue.console_second_factors AS f
                                       WHERE f.user_id = u.id AND f.turned_on_at IS NOT NULL))
    RETURNING u.name INTO v_name;
    IF v_name IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.console_sessions (user_id, token_hash, browser_hash, address, user_agent, expires_at)
    VALUES (p_user, p_token, p_browser, p_address, left(p_user_agent, 300), clock_timestamp() + p_lasts)
    RETURNING id INTO v_id;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (v_name || ' (console)', 'console_user.logged_in', 'user ' || v_name,
            jsonb_build_object('session', v_id, 'address', host(p_address)));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.begin_console_session(uuid, bytea, bytea, inet, text, interval, text, boolean) IS
    'Begin a session of a user whose password, or login at an issuer, was verified; NULL if the password was replaced '
    'or the user removed meanwhile, or a second factor is on and was not verified.';

-- The last use is updated once a minute, without waiting for locks. p_is_use: false for what a page asks for by itself.
-- p_recent: how long a confirmation counts.
CREATE OR REPLACE FUNCTION mailqueue.find_console_session(p_token bytea, p_idle interval, p_is_use boolean,
    p_recent interval)
RETURNS TABLE (session_id uuid, user_id uuid, name text, role text, sees_all boolean, issuer text,
               created_at timestamptz, is_confirmed boolean, has_second_factor boolean)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT s.id, s.user_id, u.name, u.role, u.sees_all, u.issuer, s.created_at, s.used_at, s.confirmed_at
          FROM mailqueue.console_sessions AS s JOIN mailqueue.console_users AS u ON u.id = s.user_id
         WHERE s.token_hash = p_token AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
           AND s.used_at > clock_timestamp() - p_idle AND u.removed_at IS NULL
    ), unnoted AS MATERIALIZED (
        SELECT s.id FROM mailqueue.console_sessions AS s JOIN found AS f ON f.id = s.id
         WHERE p_is_use AND f.used_at < clock_timestamp() - interval '1 min'
           FOR NO KEY UPDATE OF s SKIP LOCKED
    ), noted AS (
        UPDATE mailqueue.console_sessions AS s SET used_at = clock_timestamp() FROM unnoted AS u WHERE s.id = u.id
    )
    SELECT f.id, f.user_id, f.name, f.role, f.sees_all, f.issuer, f.created_at,
           f.confirmed_at > clock_timestamp() - p_recent,
           EXISTS (SELECT FROM mailqueue.console_second_factors AS o
                    WHERE o.user_id = f.user_id AND o.turned_on_at IS NOT NULL)
      FROM found AS f
$$;
COMMENT ON FUNCTION mailqueue.find_console_session(bytea, interval, boolean, interval) IS
    'The session whose token has this hash, with its user, if it was used within the interval and has not ended.';

-- One proof is given: the hash of the password that was verified, or the subject that the issuer has named.
-- p_is_whole: as in begin_console_session().
CREATE OR REPLACE FUNCTION mailqueue.confirm_console_session(p_session uuid, p_password_hash text, p_issuer text,
    p_subject text, p_is_whole boolean)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.console_sessions AS s SET confirmed_at = clock_timestamp()
      FROM mailqueue.console_users AS u
     WHERE s.id = p_session AND s.ended_at IS NULL AND u.id = s.user_id AND u.removed_at IS NULL
       AND (u.password_hash = p_password_hash OR (u.issuer, u.subject) = (p_issuer, p_subject))
       AND (p_is_whole OR NOT EXISTS (SELECT FROM mailqueue.console_second_factors AS f
                                       WHERE f.user_id = u.id AND f.turned_on_at IS NOT NULL))
    RETURNING u.name INTO v_name;
    IF v_name IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (v_name || ' (console)', 'console_user.confirmed', 'user ' || v_name,
            jsonb_build_object('session', p_session));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.confirm_console_session(uuid, text, text, text, boolean) IS
    'Note that the user of a session has proved once more to be its user; false unless the proof is the user''s.';

CREATE OR REPLACE FUNCTION mailqueue.console_sessions_of(p_user uuid, p_idle interval)
RETURNS TABLE (id uuid, address text, user_agent text, created_at timestamptz, used_at timestamptz,
               expires_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.id, host(s.address), s.user_agent, s.created_at, s.used_at, s.expires_at
      FROM mailqueue.console_sessions AS s
     WHERE s.user_id = p_user AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
       AND s.used_at > clock_timestamp() - p_idle
     ORDER BY s.used_at DESC, s.id DESC LIMIT 100
$$;
COMMENT ON FUNCTION mailqueue.console_sessions_of(uuid, interval) IS
    'Sessions of a user that may still be used, the latest used first.';

-- p_session NULL: all of them.
CREATE OR REPLACE FUNCTION mailqueue.end_console_sessions(p_user uuid, p_session uuid, p_actor text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ended integer;
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.console_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = p_user AND (p_session IS NULL OR s.id = p_session) AND s.ended_at IS NULL;
    GET DIAGNOSTICS v_ended = ROW_COUNT;
    IF v_ended > 0 THEN
        INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
        SELECT p_actor, 'console_user.logged_out', 'user ' || u.name, jsonb_build_object('sessions', v_ended)
          FROM mailqueue.console_users AS u WHERE u.id = p_user;
    END IF;
    RETURN v_ended;
END $$;
COMMENT ON FUNCTION mailqueue.end_console_sessions(uuid, uuid, text) IS
    'End one session of a user, or all of them; returns how many had not ended.';

-- p_text is searched in the names; p_after: the name of the last row of the page before.
CREATE OR REPLACE FUNCTION mailqueue.projects_of_console_user(p_user uuid, p_text text, p_after text, p_limit integer)
RETURNS TABLE (id uuid, name text, display_name text, status text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.id, p.name, p.display_name, p.status
      FROM mailqueue.projects AS p JOIN mailqueue.console_users AS u ON u.id = p_user AND u.removed_at IS NULL
     WHERE p.deleted_at IS NULL AND (p_after IS NULL OR p.name > p_after)
       AND (u.sees_all OR EXISTS (SELECT FROM mailqueue.console_members AS m
                                   WHERE m.user_id = u.id AND m.project_id = p.id))
       AND (p_text IS NULL OR strpos(lower(concat_ws(' ', p.name, p.display_name)), lower(p_text)) > 0)
     ORDER BY p.name LIMIT p_limit
$$;
COMMENT ON FUNCTION mailqueue.projects_of_console_user(uuid, text, text, integer) IS
    'Projects that a user of the console sees, by name, without deleted ones.';

CREATE OR REPLACE FUNCTION mailqueue.project_of_console_user(p_user uuid, p_name text)
RETURNS TABLE (id uuid, name text, display_name text, status text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.id, p.name, p.display_name, CASE WHEN p.deleted_at IS NULL THEN p.status ELSE 'deleted' END
      FROM mailqueue.projects AS p JOIN mailqueue.console_users AS u ON u.id = p_user AND u.removed_at IS NULL
     WHERE p.name = p_name
       AND (u.sees_all OR EXISTS (SELECT FROM mailqueue.console_members AS m
                                   WHERE m.user_id = u.id AND m.project_id = p.id))
$$;
COMMENT ON FUNCTION mailqueue.project_of_console_user(uuid, text) IS
    'A project that a user of the console sees, by its name; no row if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.take_console_action(p_token bytea, p_form text DEFAULT NULL) RETURNS boolean
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    -- Rows of their own: a form may take longer than what shares the rows of keys expects.
    SELECT mailqueue.lock_row('form ' || (hashtextextended(p_form, 0) & 255)) WHERE p_form IS NOT NULL;
    WITH taken AS (
        INSERT INTO mailqueue.console_actions (token_hash) VALUES (p_token) ON CONFLICT DO NOTHING RETURNING 1
    )
    SELECT EXISTS (SELECT FROM taken)
$$;
COMMENT ON FUNCTION mailqueue.take_console_action(bytea, text) IS
    'Use up the token of a form; false if it was used before. Transactions that name the same form are serialised.';
