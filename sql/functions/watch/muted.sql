-- Senders that a person does not want to be notified of. They are looked up where new mail is recorded, after the
-- filter rules, which they therefore overrule.

CREATE OR REPLACE FUNCTION mailqueue.muted_form(p_address text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT left(lower(normalize(btrim(p_address), NFKC)), 320) $$;
COMMENT ON FUNCTION mailqueue.muted_form(text) IS 'The form in which addresses of muted senders are compared.';

CREATE OR REPLACE FUNCTION mailqueue.has_muted_enough(p_user uuid) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT count(*) >= 1000 FROM mailqueue.muted_senders AS s WHERE s.user_id = p_user $$;
COMMENT ON FUNCTION mailqueue.has_muted_enough(uuid) IS 'Whether a person has as many muted senders as one may have.';

-- A summary without mail is none. A summary that is claimed is skipped: it may be posted at this moment.
CREATE OR REPLACE FUNCTION mailqueue.mute_in_summaries(p_user uuid, p_sender text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_summaries uuid[];
BEGIN
    v_summaries := ARRAY(SELECT o.id FROM mailqueue.notifications AS o
                          WHERE o.notification_channel_id IN (SELECT c.id FROM mailqueue.notification_channels AS c
                                                               WHERE c.user_id = p_user)
                            AND o.status = 'pending' AND o.kind = 'summary' AND o.posting_claim IS NULL
                          ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE mailqueue.notifications AS n
       SET status = 'failed', summary_id = NULL, finished_at = p_now, updated_at = p_now,
           last_error = 'its sender was muted'
     WHERE n.summary_id = ANY (v_summaries) AND mailqueue.muted_form(n.sender_address) = mailqueue.muted_form(p_sender);
    UPDATE mailqueue.notifications AS n
       SET status = 'failed', finished_at = p_now, updated_at = p_now, last_error = 'the senders of its mail were muted'
     WHERE n.id = ANY (v_summaries)
       AND NOT EXISTS (SELECT FROM mailqueue.notifications AS m WHERE m.summary_id = n.id);
END $$;
COMMENT ON FUNCTION mailqueue.mute_in_summaries(uuid, text, timestamptz) IS
    'Take mail of a sender out of the summaries of a person that wait.';

-- What waits for the person from this sender is not delivered.
CREATE OR REPLACE FUNCTION mailqueue.mute(p_project uuid, p_user uuid, p_sender text, p_by text) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_id uuid := mailqueue.uuidv7();
BEGIN
    IF mailqueue.has_muted_enough(p_user) THEN
        PERFORM mailqueue.refuse('user_id', 'an inbox user has at most 1000 muted senders');
    END IF;
    INSERT INTO mailqueue.muted_senders (id, project_id, user_id, sender_address)
    VALUES (v_id, p_project, p_user, mailqueue.muted_form(p_sender))
    ON CONFLICT ON CONSTRAINT muted_senders_user_id_sender_address_key DO NOTHING;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE mailqueue.notifications AS n
       SET status = 'failed', finished_at = v_now, updated_at = v_now, last_error = 'its sender was muted'
     WHERE n.id = ANY (ARRAY(SELECT o.id FROM mailqueue.notifications AS o
                              WHERE o.notification_channel_id IN (SELECT c.id FROM mailqueue.notification_channels AS c
                                                                   WHERE c.user_id = p_user)
                                AND o.status = 'pending' AND o.kind = 'mail' AND o.posting_claim IS NULL
                                AND mailqueue.muted_form(o.sender_address) = mailqueue.muted_form(p_sender)
                              ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED));
    PERFORM mailqueue.mute_in_summaries(p_user, p_sender, v_now);
    PERFORM mailqueue.record_operation(p_project, 'sender.muted', v_id::text, jsonb_build_object('user_id', p_user),
                                       p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.mute(uuid, uuid, text, text) IS
    'Notify a person, whose row is locked, of nothing more from a sender; NULL: the sender is muted already.';

CREATE OR REPLACE FUNCTION mailqueue.mute_sender(p_project uuid, p_user uuid, p_sender text, p_by text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_address('sender_address', p_sender);
    PERFORM mailqueue.lock_inbox_user(p_project, p_user);
    RETURN mailqueue.mute(p_project, p_user, p_sender, p_by);
END $$;
COMMENT ON FUNCTION mailqueue.mute_sender(uuid, uuid, text, text) IS
    'Mute a sender for a person of a project, and return the id of the row; NULL: the sender is muted already.';

-- Mail that came meanwhile is not reported later.
CREATE OR REPLACE FUNCTION mailqueue.unmute_sender(p_project uuid, p_id uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    DELETE FROM mailqueue.muted_senders AS s WHERE s.id = p_id AND s.project_id = p_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'sender.unmuted', p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.unmute_sender(uuid, uuid, text) IS
    'Notify a person of a muted sender again; false if the project has no such row.';
