-- Phones that persons connect themselves: a code is begun on their page, and ended by a message from the phone.

CREATE OR REPLACE FUNCTION mailqueue.begin_phone_registration(p_project uuid, p_user uuid, p_code bytea, p_source text,
    p_wording text, p_by text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_open CONSTANT integer := 10;                           -- of a person
    v_until timestamptz := clock_timestamp() + interval '15 min';
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.lock_inbox_user(p_project, p_user);
    -- The oldest give way.
    DELETE FROM mailqueue.phone_registrations AS r
     WHERE r.code_hash IN (SELECT o.code_hash FROM mailqueue.phone_registrations AS o WHERE o.user_id = p_user
                            ORDER BY o.created_at DESC OFFSET c_open - 1);
    INSERT INTO mailqueue.phone_registrations (code_hash, project_id, user_id, source, wording, begun_by, expires_at)
    VALUES (p_code, p_project, p_user, left(p_source, 200), left(p_wording, 1000), left(p_by, 200), v_until);
    RETURN v_until;
END $$;
COMMENT ON FUNCTION mailqueue.begin_phone_registration(uuid, uuid, bytea, text, text, text) IS
    'Begin the registration of a phone for a person who consented; returns the time by which the code has to be sent.';

-- The person is locked before the code is used, in the order of all that change a person; then the channel that the
-- person has, so that what is returned of it stays so.
CREATE OR REPLACE FUNCTION mailqueue.take_phone_registration(p_code bytea)
RETURNS TABLE (project_id uuid, user_id uuid, source text, wording text, begun_by text, channel_id uuid,
    phone_number text, sender_number text, twilio_sid text, is_opted_out boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_taken mailqueue.phone_registrations;
BEGIN
    PERFORM FROM mailqueue.inbox_users AS u
     WHERE u.id = (SELECT r.user_id FROM mailqueue.phone_registrations AS r WHERE r.code_hash = p_code)
       FOR NO KEY UPDATE;
    DELETE FROM mailqueue.phone_registrations AS r
     WHERE r.code_hash = p_code AND coalesce(mailqueue.tenant(), r.project_id) = r.project_id
    RETURNING * INTO v_taken;
    IF NOT FOUND OR v_taken.expires_at <= clock_timestamp() THEN
        RETURN;
    END IF;
    PERFORM FROM mailqueue.notification_channels AS c
     WHERE c.user_id = v_taken.user_id AND c.channel_type = 'whatsapp' AND c.status <> 'disconnected'
       FOR NO KEY UPDATE;
    RETURN QUERY
        SELECT v_taken.project_id, v_taken.user_id, v_taken.source, v_taken.wording, v_taken.begun_by,
               c.id, o.phone_number, c.sender_number, c.twilio_sid, c.status = 'opted_out'
          FROM (SELECT) AS one
          LEFT JOIN mailqueue.notification_channels AS c
            ON c.user_id = v_taken.user_id AND c.channel_type = 'whatsapp' AND c.status <> 'disconnected'
          LEFT JOIN mailqueue.channel_consents AS o ON o.channel_id = c.id;
END $$;
COMMENT ON FUNCTION mailqueue.take_phone_registration(bytea) IS
    'Use a code, once, and return whose it is, with the connected WhatsApp channel if there is one; no row for a code '
    'that is unknown, used or over.';

-- All of them: a word to the sender ends each, however many other projects have connected the same number before.
CREATE OR REPLACE FUNCTION mailqueue.find_phone_channels(p_account text, p_sender text, p_number text)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT c.id
      FROM mailqueue.channel_consents AS o JOIN mailqueue.notification_channels AS c ON c.id = o.channel_id
     WHERE o.phone_number = p_number AND c.sender_number = p_sender AND c.twilio_sid = p_account
       AND c.status <> 'disconnected' AND coalesce(mailqueue.tenant(), o.project_id) = o.project_id
     ORDER BY c.id
$$;
COMMENT ON FUNCTION mailqueue.find_phone_channels(text, text, text) IS
    'Connected channels, of all projects, that a reply from a number to a sender is about.';
