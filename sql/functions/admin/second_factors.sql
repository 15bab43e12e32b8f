-- Second factors of users of the console who have a password: one-time codes by time, and recovery codes.

-- A second factor that is on stays as it is. p_session: the session that is shown the secret, and may turn it on.
CREATE OR REPLACE FUNCTION mailqueue.begin_console_second_factor(p_user uuid, p_session uuid, p_master_key text,
    p_sealed bytea)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    INSERT INTO mailqueue.console_second_factors AS f (user_id, master_key_id, sealed, session_id, begun_at)
    SELECT u.id, p_master_key, p_sealed, p_session, clock_timestamp()
      FROM mailqueue.console_users AS u
     WHERE u.id = p_user AND u.removed_at IS NULL AND u.password_hash IS NOT NULL
    ON CONFLICT (user_id) DO UPDATE
       SET master_key_id = p_master_key, sealed = p_sealed, session_id = p_session, begun_at = clock_timestamp(),
           last_step = 0
     WHERE f.turned_on_at IS NULL;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.begin_console_second_factor(uuid, uuid, text, bytea) IS
    'Store the sealed secret of a second factor that is not on yet; false if one is on, or the user has no password.';

-- p_browser: hash of the token that stays in a browser after a login.
CREATE OR REPLACE FUNCTION mailqueue.find_console_second_factor(p_user uuid, p_browser bytea)
RETURNS TABLE (user_id uuid, name text, password_hash text, is_known_browser boolean, master_key_id text,
               sealed bytea, session_id uuid, begun_at timestamptz, turned_on_at timestamptz, last_step bigint,
               recovery_codes integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT u.id, u.name, u.password_hash,
           EXISTS (SELECT FROM mailqueue.console_sessions AS s WHERE s.user_id = u.id AND s.browser_hash = p_browser),
           f.master_key_id, f.sealed, f.session_id, f.begun_at, f.turned_on_at, f.last_step,
           (SELECT count(*) FROM mailqueue.console_recovery_codes AS c
             WHERE c.user_id = u.id AND c.used_at IS NULL)::integer
      FROM mailqueue.console_second_factors AS f JOIN mailqueue.console_users AS u ON u.id = f.user_id
     WHERE f.user_id = p_user AND u.removed_at IS NULL AND u.password_hash IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.find_console_second_factor(uuid, bytea) IS
    'The second factor of a user, on or not yet, with the password that it goes with and the recovery codes left.';

-- Sessions that began without the second factor end. The user's row is locked as in begin_console_session().
CREATE OR REPLACE FUNCTION mailqueue.turn_on_console_second_factor(p_user uuid, p_session uuid, p_sealed bytea,
    p_step bigint, p_codes bytea[])
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT u.name INTO v_name FROM mailqueue.console_users AS u
     WHERE u.id = p_user AND u.removed_at IS NULL FOR NO KEY UPDATE;
    UPDATE mailqueue.console_second_factors AS f SET turned_on_at = clock_timestamp(), last_step = p_step
     WHERE f.user_id = p_user AND f.session_id = p_session AND f.sealed = p_sealed AND f.turned_on_at IS NULL
       AND v_name IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.console_recovery_codes (user_id, code_hash) SELECT p_user, c FROM unnest(p_codes) AS c;
    UPDATE mailqueue.console_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = p_user AND s.id <> p_session AND s.ended_at IS NULL;
    INSERT INTO mailqueue.audit_events (actor, action, subject)
    VALUES (v_name || ' (console)', 'console_user.second_factor_on', 'user ' || v_name);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.turn_on_console_second_factor(uuid, uuid, bytea, bigint, bytea[]) IS
    'Turn on the second factor whose secret a session was shown, after its first code; other sessions end.';

-- One of both is given: the time step of a code that was verified, or the hash of a recovery code. Of two that use the
-- same code at once, the second one waits for the first and gets false. The user's row is locked first, as by everyone
-- who changes a user.
CREATE OR REPLACE FUNCTION mailqueue.use_console_code(p_user uuid, p_step bigint, p_recovery bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM FROM mailqueue.console_users AS u WHERE u.id = p_user FOR NO KEY UPDATE;
    IF p_step IS NOT NULL THEN
        UPDATE mailqueue.console_second_factors AS f SET last_step = p_step
         WHERE f.user_id = p_user AND f.turned_on_at IS NOT NULL AND f.last_step < p_step;
        RETURN FOUND;
    END IF;
    UPDATE mailqueue.console_recovery_codes AS c SET used_at = clock_timestamp()
      FROM mailqueue.console_second_factors AS f
     WHERE f.user_id = p_user AND f.turned_on_at IS NOT NULL
       AND c.user_id = f.user_id AND c.code_hash = p_recovery AND c.used_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    SELECT u.name || ' (console)', 'console_user.recovery_code_used', 'user ' || u.name,
           jsonb_build_object('left', (SELECT count(*) FROM mailqueue.console_recovery_codes AS c
                                        WHERE c.user_id = p_user AND c.used_at IS NULL))
      FROM mailqueue.console_users AS u WHERE u.id = p_user;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.use_console_code(uuid, bigint, bytea) IS
    'Use up a code of a second factor, and all earlier ones, or a recovery code; false if it was used before.';

CREATE OR REPLACE FUNCTION mailqueue.note_wrong_console_code(p_user uuid, p_address inet) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    SELECT u.name || ' (console)', 'console_user.code_refused', 'user ' || u.name,
           jsonb_build_object('address', host(p_address))
      FROM mailqueue.console_users AS u WHERE u.id = p_user;
END $$;
COMMENT ON FUNCTION mailqueue.note_wrong_console_code(uuid, inet) IS
    'Record that a login with the right password had a wrong code: another person may know the password.';

CREATE OR REPLACE FUNCTION mailqueue.renew_console_recovery_codes(p_user uuid, p_codes bytea[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM FROM mailqueue.console_second_factors AS f
      WHERE f.user_id = p_user AND f.turned_on_at IS NOT NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM mailqueue.console_recovery_codes AS c WHERE c.user_id = p_user;
    INSERT INTO mailqueue.console_recovery_codes (user_id, code_hash) SELECT p_user, c FROM unnest(p_codes) AS c;
    INSERT INTO mailqueue.audit_events (actor, action, subject)
    SELECT u.name || ' (console)', 'console_user.recovery_codes_renewed', 'user ' || u.name
      FROM mailqueue.console_users AS u WHERE u.id = p_user;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.renew_console_recovery_codes(uuid, bytea[]) IS
    'Replace the recovery codes of a user; false if no second factor is on.';

CREATE OR REPLACE FUNCTION mailqueue.turn_off_console_second_factor(p_user uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    DELETE FROM mailqueue.console_second_factors AS f WHERE f.user_id = p_user AND f.turned_on_at IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject)
    SELECT u.name || ' (console)', 'console_user.second_factor_off', 'user ' || u.name
      FROM mailqueue.console_users AS u WHERE u.id = p_user;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.turn_off_console_second_factor(uuid) IS
    'Delete the second factor of a user with its recovery codes; false if none is on.';

-- For people who have lost both their device and their recovery codes. Nothing is recorded where there is none.
CREATE OR REPLACE FUNCTION mailqueue.reset_console_second_factor(p_name text, p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    u mailqueue.console_users;
    v_passkeys integer;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT * INTO u FROM mailqueue.console_users AS o
     WHERE lower(o.name) = lower(btrim(p_name)) AND o.removed_at IS NULL FOR NO KEY UPDATE;
    IF u.id IS NULL THEN
        RETURN false;
    ELSIF u.issuer IS NOT NULL THEN
        PERFORM mailqueue.refuse('reset_second_factor',
                                 'this user logs in at an issuer, and has no second factor here');
    END IF;
    SELECT count(*) INTO v_passkeys FROM mailqueue.console_passkeys AS k WHERE k.user_id = u.id;
    DELETE FROM mailqueue.console_passkeys AS k WHERE k.user_id = u.id;
    DELETE FROM mailqueue.console_second_factors AS f WHERE f.user_id = u.id;
    IF FOUND OR v_passkeys > 0 THEN
        UPDATE mailqueue.console_sessions AS s SET ended_at = clock_timestamp()
         WHERE s.user_id = u.id AND s.ended_at IS NULL;
        INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
        VALUES (p_actor, 'console_user.second_factor_reset', 'user ' || u.name,
                jsonb_build_object('passkeys', v_passkeys));
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.reset_console_second_factor(text, text) IS
    'Delete the second factor and the passkeys of a user, whose sessions end; false if there is no such user.';
