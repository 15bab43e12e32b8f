-- Channels of WhatsApp: connected with the consent of the person, who may withdraw it by a word and give it again.

CREATE OR REPLACE FUNCTION mailqueue.check_whatsapp(p_new jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(p_new ->> 'phone_number', '') !~ '^\+[1-9][0-9]{6,14}$' THEN
        PERFORM mailqueue.refuse('phone_number', 'a number such as +15550000002, with the code of the country');
    ELSIF coalesce(p_new ->> 'sender_number', '') !~ '^\+[1-9][0-9]{6,14}$' THEN
        PERFORM mailqueue.refuse('sender_number', 'a number such as +15550000001, with the code of the country');
    ELSIF coalesce(p_new ->> 'twilio_sid', '') !~ '^AC[0-9a-f]{32}$' THEN
        PERFORM mailqueue.refuse('twilio_sid', 'the id of a Twilio account: AC and 32 hexadecimal digits');
    ELSIF coalesce(p_new ->> 'template_sid', '') !~ '^HX[0-9a-f]{32}$' THEN
        PERFORM mailqueue.refuse('template_sid', 'the id of a content template: HX and 32 hexadecimal digits');
    ELSIF coalesce(btrim(p_new ->> 'source'), '') = '' THEN
        PERFORM mailqueue.refuse('consent.source', 'is needed: where the person gave consent');
    ELSIF coalesce(btrim(p_new ->> 'wording'), '') = '' THEN
        PERFORM mailqueue.refuse('consent.wording', 'is needed: what the person agreed to');
    ELSIF (p_new ->> 'given_at')::timestamptz > clock_timestamp() + interval '1 min' THEN
        PERFORM mailqueue.refuse('consent.given_at', 'is in the future');
    END IF;
    PERFORM mailqueue.check_text('consent.source', p_new ->> 'source', 200);
    PERFORM mailqueue.check_text('consent.wording', p_new ->> 'wording', 1000);
END $$;
COMMENT ON FUNCTION mailqueue.check_whatsapp(jsonb) IS
    'Raise 22023 naming the field unless a channel of WhatsApp may be like this.';

-- p_new: phone_number, sender_number, twilio_sid, template_sid, and of the consent given_at, source and wording.
CREATE OR REPLACE FUNCTION mailqueue.add_whatsapp_channel(p_project uuid, p_id uuid, p_user uuid, p_sealed bytea,
    p_new jsonb, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_email text;
    v_given timestamptz := coalesce((p_new ->> 'given_at')::timestamptz, clock_timestamp());
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_whatsapp(p_new);
    v_email := mailqueue.lock_inbox_user(p_project, p_user);
    IF (SELECT count(*) FROM mailqueue.notification_channels AS c WHERE c.user_id = p_user) >= 100 THEN
        PERFORM mailqueue.refuse('user_id', 'an inbox user has at most 100 channels, disconnected ones included');
    ELSIF EXISTS (SELECT FROM mailqueue.channel_consents AS o
                   WHERE o.project_id = p_project AND o.phone_number = p_new ->> 'phone_number'
                     AND o.withdrawn_at >= v_given) THEN
        PERFORM mailqueue.refuse('consent.given_at',
                                 'the person withdrew consent later: consent that was given after that is needed');
    END IF;
    INSERT INTO mailqueue.notification_channels (id, project_id, user_id, channel_type, sealed_token, twilio_sid,
        sender_number, template_sid)
    VALUES (p_id, p_project, p_user, 'whatsapp', p_sealed, p_new ->> 'twilio_sid', p_new ->> 'sender_number',
            p_new ->> 'template_sid')
    ON CONFLICT (user_id, channel_type) WHERE status <> 'disconnected' DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.channel_consents (channel_id, project_id, email, phone_number, given_at, source, wording)
    VALUES (p_id, p_project, v_email, p_new ->> 'phone_number', v_given, btrim(p_new ->> 'source'),
            btrim(p_new ->> 'wording'));
    INSERT INTO mailqueue.workspace_rates (project_id, workspace)
    SELECT p_project, r.name FROM unnest(ARRAY[p_new ->> 'twilio_sid', p_new ->> 'sender_number']) AS r (name)
     ORDER BY r.name
    ON CONFLICT DO NOTHING;
    PERFORM mailqueue.record_operation(p_project, 'channel.added', p_id::text,
                                       jsonb_build_object('channel_type', 'whatsapp', 'user_id', p_user), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.add_whatsapp_channel(uuid, uuid, uuid, bytea, jsonb, text) IS
    'Connect a phone of a person who consented; false if the person has a connected one.';

-- It does not end an opt-out, which only the person can.
CREATE OR REPLACE FUNCTION mailqueue.reconnect_whatsapp_channel(p_project uuid, p_id uuid, p_sealed bytea,
    p_template text, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF p_template !~ '^HX[0-9a-f]{32}$' THEN
        PERFORM mailqueue.refuse('template_sid', 'the id of a content template: HX and 32 hexadecimal digits');
    END IF;
    UPDATE mailqueue.notification_channels AS c
       SET sealed_token = p_sealed, template_sid = coalesce(p_template, c.template_sid),
           status = CASE c.status WHEN 'error' THEN 'active' ELSE c.status END,
           last_error = CASE c.status WHEN 'error' THEN NULL ELSE c.last_error END, next_at = clock_timestamp(),
           revision = c.revision + 1, updated_at = clock_timestamp()
     WHERE c.id = p_id AND c.project_id = p_project AND c.channel_type = 'whatsapp' AND c.status <> 'disconnected';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'channel.reconnected', p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.reconnect_whatsapp_channel(uuid, uuid, bytea, text, text) IS
    'Give a channel of WhatsApp a new token of its account, and perhaps another template; false if no such channel is '
    'connected.';

CREATE OR REPLACE FUNCTION mailqueue.opt_out_channel(p_channel uuid, p_word text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_project uuid;
BEGIN
    UPDATE mailqueue.notification_channels AS c
       SET status = 'opted_out', last_error = 'the person opted out: ' || left(p_word, 100), updated_at = v_now
     WHERE c.id = p_channel AND c.status IN ('active', 'error')
    RETURNING c.project_id INTO v_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.channel_consents AS o SET withdrawn_at = v_now, withdrawn_word = left(p_word, 100)
     WHERE o.channel_id = p_channel;
    UPDATE mailqueue.notifications AS n
       SET status = 'failed', finished_at = v_now, last_error = 'the person opted out'
     WHERE n.notification_channel_id = p_channel AND n.status = 'pending';
    PERFORM mailqueue.record_operation(v_project, 'channel.opted_out', p_channel::text,
                                       jsonb_build_object('word', left(p_word, 100)), 'whatsapp');
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.opt_out_channel(uuid, text) IS
    'End a channel because its person does not want messages; what waits fails. False if it was not connected.';

CREATE OR REPLACE FUNCTION mailqueue.find_whatsapp_channels(p_project uuid, p_account text, p_sender text,
    p_number text)
RETURNS TABLE (id uuid, project_id uuid, sealed bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT c.id, c.project_id, c.sealed_token
      FROM mailqueue.channel_consents AS o JOIN mailqueue.notification_channels AS c ON c.id = o.channel_id
     WHERE o.project_id = p_project AND o.phone_number = p_number AND c.sender_number = p_sender
       AND c.twilio_sid = p_account AND c.status <> 'disconnected'
       AND coalesce(mailqueue.tenant(), p_project) = p_project
     ORDER BY c.id LIMIT 20
$$;
COMMENT ON FUNCTION mailqueue.find_whatsapp_channels(uuid, text, text, text) IS
    'Connected channels of a project that a reply from a number to a sender is about.';

-- A reply opens 24 hours in which free text may be sent. Each reply with a word is counted once, because Twilio's
-- requests have no time: one that is repeated later must not end or begin anything.
CREATE OR REPLACE FUNCTION mailqueue.record_whatsapp_reply(p_channel uuid, p_message text, p_is_out boolean,
    p_word text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_words CONSTANT integer := 1000;                        -- replies with a word that are known
    v_now timestamptz := clock_timestamp();
    c mailqueue.notification_channels;
    o mailqueue.channel_consents;
BEGIN
    SELECT * INTO c FROM mailqueue.notification_channels AS x WHERE x.id = p_channel FOR NO KEY UPDATE;
    SELECT * INTO o FROM mailqueue.channel_consents AS x WHERE x.channel_id = p_channel FOR NO KEY UPDATE;
    IF o.channel_id IS NULL OR c.status = 'disconnected' OR p_message = ANY (o.word_sids) THEN
        RETURN 'ignored';
    END IF;
    PERFORM mailqueue.check_tenant(c.project_id);
    UPDATE mailqueue.channel_consents AS x
       SET window_until = v_now + interval '24 h' - interval '5 min',
           word_sids = CASE WHEN p_word IS NULL OR cardinality(x.word_sids) >= c_words THEN x.word_sids
                            ELSE x.word_sids || p_message END
     WHERE x.channel_id = p_channel;
    IF p_word IS NULL THEN
        RETURN 'noted';
    ELSIF p_is_out THEN
        RETURN CASE WHEN mailqueue.opt_out_channel(p_channel, p_word) THEN 'opted_out' ELSE 'noted' END;
    ELSIF o.withdrawn_at IS NULL OR cardinality(o.word_sids) >= c_words THEN
        RETURN 'noted';
    END IF;
    UPDATE mailqueue.channel_consents AS x
       SET given_at = v_now, source = 'reply', wording = left(p_word, 100), withdrawn_at = NULL, withdrawn_word = NULL
     WHERE x.channel_id = p_channel;
    UPDATE mailqueue.notification_channels AS x
       SET status = 'active', last_error = NULL, next_at = v_now, revision = x.revision + 1, updated_at = v_now
     WHERE x.id = p_channel AND x.status = 'opted_out';
    PERFORM mailqueue.record_operation(c.project_id, 'channel.opted_in', p_channel::text,
                                       jsonb_build_object('word', left(p_word, 100)), 'whatsapp');
    RETURN 'opted_in';
END $$;
COMMENT ON FUNCTION mailqueue.record_whatsapp_reply(uuid, text, boolean, text) IS
    'Record a reply of a person: p_word with p_is_out ends the channel, with NOT p_is_out opens it again; NULL is any '
    'other text. Returns opted_out, opted_in, noted or ignored.';

-- An erasure deletes the consent with the number.
CREATE OR REPLACE FUNCTION mailqueue.end_without_consent() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.notification_channels AS c
       SET status = 'disconnected', sealed_token = NULL, last_error = 'its consent was erased',
           revision = c.revision + 1, updated_at = clock_timestamp()
     WHERE c.id = OLD.channel_id AND c.status <> 'disconnected';
    UPDATE mailqueue.notifications AS n
       SET status = 'failed', finished_at = clock_timestamp(), last_error = 'its channel was disconnected'
     WHERE n.notification_channel_id = OLD.channel_id AND n.status IN ('pending', 'held');
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.end_without_consent() IS 'Disconnect a channel whose consent was deleted.';

CREATE OR REPLACE TRIGGER channel_consents_ended AFTER DELETE ON mailqueue.channel_consents
    FOR EACH ROW EXECUTE FUNCTION mailqueue.end_without_consent();
