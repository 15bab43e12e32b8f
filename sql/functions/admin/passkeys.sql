-- Passkeys (WebAuthn) of users of the console who have a password, and the challenges that they sign.

-- The challenge before it is void, so that a session or browser has one of a purpose.
CREATE OR REPLACE FUNCTION mailqueue.put_console_challenge(p_bound bytea, p_challenge bytea, p_lasts interval)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    INSERT INTO mailqueue.console_challenges (bound_hash, challenge, ends_at)
    VALUES (p_bound, p_challenge, clock_timestamp() + p_lasts)
    ON CONFLICT (bound_hash) DO UPDATE SET challenge = excluded.challenge, ends_at = excluded.ends_at;
END $$;
COMMENT ON FUNCTION mailqueue.put_console_challenge(bytea, bytea, interval) IS
    'Store the challenge that a session or browser was given for a passkey, in place of the one before.';

CREATE OR REPLACE FUNCTION mailqueue.take_console_challenge(p_bound bytea) RETURNS bytea
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_taken mailqueue.console_challenges;
BEGIN
    PERFORM mailqueue.check_administers();
    DELETE FROM mailqueue.console_challenges AS c WHERE c.bound_hash = p_bound RETURNING * INTO v_taken;
    RETURN CASE WHEN v_taken.ends_at > clock_timestamp() THEN v_taken.challenge END;
END $$;
COMMENT ON FUNCTION mailqueue.take_console_challenge(bytea) IS
    'Use up the challenge of a session or browser; NULL if there is none, or it has ended.';

-- The user's row is locked, so that the number of passkeys is counted once at a time. So is the session's: it was found
-- before the form was read, and may have ended since then, by a reset that deleted the passkeys that were there.
CREATE OR REPLACE FUNCTION mailqueue.add_console_passkey(p_user uuid, p_session uuid, p_credential bytea,
    p_public_key bytea, p_sign_count bigint, p_transports text[], p_name text, p_max integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_user text;
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT u.name INTO v_user FROM mailqueue.console_users AS u
     WHERE u.id = p_user AND u.removed_at IS NULL AND u.password_hash IS NOT NULL FOR NO KEY UPDATE;
    PERFORM FROM mailqueue.console_sessions AS s
      WHERE s.id = p_session AND s.user_id = p_user AND s.ended_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM mailqueue.refuse('passkey', 'this session has ended: log in again');
    ELSIF v_user IS NULL THEN
        PERFORM mailqueue.refuse('passkey', 'this user has no password here, and so no passkeys');
    ELSIF p_name IS NULL OR p_name !~ '^[^[:cntrl:]]{1,100}$' THEN
        PERFORM mailqueue.refuse('name', 'must have 1 to 100 characters');
    ELSIF (SELECT count(*) FROM mailqueue.console_passkeys AS k WHERE k.user_id = p_user) >= p_max THEN
        PERFORM mailqueue.refuse('passkey', format('a user has at most %s passkeys: remove one', p_max));
    END IF;
    INSERT INTO mailqueue.console_passkeys (user_id, credential_id, public_key, sign_count, transports, name)
    VALUES (p_user, p_credential, p_public_key, p_sign_count, p_transports, p_name)
    ON CONFLICT (credential_id) DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        PERFORM mailqueue.refuse('passkey', 'this passkey was added before');
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (v_user || ' (console)', 'console_user.passkey_added', 'user ' || v_user,
            jsonb_build_object('passkey', p_name));
END $$;
COMMENT ON FUNCTION mailqueue.add_console_passkey(uuid, uuid, bytea, bytea, bigint, text[], text, integer) IS
    'Store the public key of a passkey of a user who has a password, and whose session has not ended.';

-- p_browser: hash of the token that stays in a browser after a login.
CREATE OR REPLACE FUNCTION mailqueue.find_console_passkey(p_credential bytea, p_browser bytea)
RETURNS TABLE (id uuid, user_id uuid, password_hash text, is_known_browser boolean, public_key bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT k.id, u.id, u.password_hash,
           EXISTS (SELECT FROM mailqueue.console_sessions AS s WHERE s.user_id = u.id AND s.browser_hash = p_browser),
           k.public_key
      FROM mailqueue.console_passkeys AS k JOIN mailqueue.console_users AS u ON u.id = k.user_id
     WHERE k.credential_id = p_credential AND u.removed_at IS NULL AND u.password_hash IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.find_console_passkey(bytea, bytea) IS
    'The passkey with a credential id, and the password of its user, who may still log in.';

-- After its signature was verified. A count that does not go up is that of a copy, unless the device does not count.
CREATE OR REPLACE FUNCTION mailqueue.use_console_passkey(p_id uuid, p_sign_count bigint, p_address inet, p_act text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.console_passkeys;
    v_user text;
    v_used boolean;
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM FROM mailqueue.console_users AS u
      WHERE u.id = (SELECT o.user_id FROM mailqueue.console_passkeys AS o WHERE o.id = p_id) FOR NO KEY UPDATE;
    SELECT * INTO k FROM mailqueue.console_passkeys AS o WHERE o.id = p_id FOR NO KEY UPDATE;
    SELECT u.name INTO v_user FROM mailqueue.console_users AS u WHERE u.id = k.user_id AND u.removed_at IS NULL;
    IF v_user IS NULL THEN
        RETURN NULL;
    END IF;
    v_used := p_sign_count > k.sign_count OR (p_sign_count = 0 AND k.sign_count = 0);
    IF v_used THEN
        UPDATE mailqueue.console_passkeys AS o SET sign_count = p_sign_count, used_at = clock_timestamp()
         WHERE o.id = p_id;
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (v_user || ' (console)',
            CASE WHEN v_used THEN 'console_user.passkey_used' ELSE 'console_user.passkey_refused' END,
            'user ' || v_user,
            jsonb_build_object('passkey', k.name, 'for', p_act, 'address', host(p_address))
            || CASE WHEN v_used THEN '{}'
                    ELSE jsonb_build_object('count', p_sign_count, 'count_before', k.sign_count) END);
    RETURN v_used;
END $$;
COMMENT ON FUNCTION mailqueue.use_console_passkey(uuid, bigint, inet, text) IS
    'Record that a passkey was used; false if its count went back, NULL if it or its user was removed.';

CREATE OR REPLACE FUNCTION mailqueue.console_passkeys_of(p_user uuid)
RETURNS TABLE (id uuid, credential_id bytea, transports text[], name text, added_at timestamptz, used_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT k.id, k.credential_id, k.transports, k.name, k.added_at, k.used_at
      FROM mailqueue.console_passkeys AS k WHERE k.user_id = p_user
     ORDER BY k.added_at, k.id
$$;
COMMENT ON FUNCTION mailqueue.console_passkeys_of(uuid) IS 'The passkeys of a user, the first one first.';

CREATE OR REPLACE FUNCTION mailqueue.remove_console_passkey(p_user uuid, p_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM FROM mailqueue.console_users AS u WHERE u.id = p_user FOR NO KEY UPDATE;
    DELETE FROM mailqueue.console_passkeys AS k WHERE k.id = p_id AND k.user_id = p_user RETURNING k.name INTO v_name;
    IF v_name IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    SELECT u.name || ' (console)', 'console_user.passkey_removed', 'user ' || u.name,
           jsonb_build_object('passkey', v_name)
      FROM mailqueue.console_users AS u WHERE u.id = p_user;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_console_passkey(uuid, uuid) IS
    'Delete a passkey of a user; false if the user has no such one.';
