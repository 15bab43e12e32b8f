-- Inboxes at Gmail: the person is sent to Google with a state, and comes back with it once, within ten minutes.

CREATE OR REPLACE FUNCTION mailqueue.check_gmail_labels(p_labels text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(p_labels) AS l
                WHERE upper(l) IN ('SENT', 'DRAFT', 'SPAM', 'TRASH') OR l !~ '^[A-Za-z0-9_-]+$') THEN
        PERFORM mailqueue.refuse('folders', 'ids of labels such as INBOX or Label_12; not SENT, DRAFT, SPAM and TRASH');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_gmail_labels(text[]) IS
    'Raise 22023 unless the labels are ids, and none is of sent mail, drafts, spam or trash.';

CREATE OR REPLACE FUNCTION mailqueue.begin_inbox_consent(p_project uuid, p_user uuid, p_email text, p_state_hash bytea,
    p_folders text[], p_webmail_url text, p_scan_seconds integer, p_by text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 20;                           -- of a person, that wait for an answer
    v_now timestamptz := clock_timestamp();
    v_ends timestamptz := v_now + interval '10 min';
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_mailbox(p_email, 443, 'implicit', p_email, p_folders, p_webmail_url, p_scan_seconds);
    PERFORM mailqueue.check_gmail_labels(p_folders);
    PERFORM mailqueue.lock_inbox_user(p_project, p_user);
    IF EXISTS (SELECT FROM mailqueue.mailboxes AS m
                WHERE m.user_id = p_user AND m.email_address = lower(p_email) AND m.provider <> 'gmail') THEN
        PERFORM mailqueue.refuse('email_address', 'this inbox of the inbox user is watched by IMAP: remove it first');
    END IF;
    DELETE FROM mailqueue.inbox_consents AS c WHERE c.user_id = p_user AND c.expires_at <= v_now;
    IF (SELECT count(*) FROM mailqueue.inbox_consents AS c WHERE c.user_id = p_user) >= c_most THEN
        PERFORM mailqueue.refuse('user_id', format('%s consents of the inbox user wait for an answer already', c_most));
    END IF;
    INSERT INTO mailqueue.inbox_consents (project_id, user_id, state_hash, email_address, folders, webmail_url,
        scan_seconds, expires_at)
    VALUES (p_project, p_user, p_state_hash, lower(p_email), p_folders, p_webmail_url, p_scan_seconds, v_ends);
    PERFORM mailqueue.record_operation(p_project, 'inbox.consent_begun', p_user::text,
                                       jsonb_build_object('provider', 'gmail'), p_by);
    RETURN v_ends;
END $$;
COMMENT ON FUNCTION mailqueue.begin_inbox_consent(uuid, uuid, text, bytea, text[], text, integer, text) IS
    'Note that a person is sent to Google with a state, of which the hash is kept; returns when the state ends.';

CREATE OR REPLACE FUNCTION mailqueue.take_inbox_consent(p_state_hash bytea) RETURNS TABLE (project_id uuid,
    user_id uuid, email_address text, folders text[], webmail_url text, scan_seconds integer)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH taken AS (
        DELETE FROM mailqueue.inbox_consents AS c WHERE c.state_hash = p_state_hash RETURNING c.*
    )
    SELECT t.project_id, t.user_id, t.email_address, t.folders, t.webmail_url, t.scan_seconds
      FROM taken AS t WHERE t.expires_at > clock_timestamp()
$$;
COMMENT ON FUNCTION mailqueue.take_inbox_consent(bytea) IS
    'Use up a state; returns what it was begun for, and nothing if it was used before or has ended.';

-- Whatever went wrong before no longer counts. What arrived before is not reported.
CREATE OR REPLACE FUNCTION mailqueue.connect_gmail(p_project uuid, p_id uuid, p_user uuid, p_email text,
    p_sealed bytea, p_folders text[], p_webmail_url text, p_scan_seconds integer, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_gmail_labels(p_folders);
    UPDATE mailqueue.mailboxes AS m
       SET sealed_password = p_sealed, folders = p_folders, webmail_url = p_webmail_url,
           scan_seconds = p_scan_seconds, status = 'pending', cursor = '{}', attempts = 0, refusals = 0, crashes = 0,
           push_asked_at = NULL, run_at = clock_timestamp(), last_error = NULL, finished_at = NULL, paused_by = NULL,
           claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL, updated_at = clock_timestamp()
     WHERE m.id = p_id AND m.project_id = p_project AND m.user_id = p_user AND m.provider = 'gmail';
    IF FOUND THEN
        PERFORM mailqueue.record_operation(p_project, 'inbox.reconnected', p_id::text, '{}', p_by);
        RETURN true;
    ELSIF NOT mailqueue.add_mailbox(p_project, p_id, p_user, p_email, 'gmail.googleapis.com', 443, 'implicit', p_email,
                                    p_sealed, p_folders, p_webmail_url, p_scan_seconds, p_by) THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.mailboxes AS m SET provider = 'gmail' WHERE m.id = p_id;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.connect_gmail(uuid, uuid, uuid, text, bytea, text[], text, integer, text) IS
    'Watch an inbox at Gmail from now on, with a sealed refresh token; false if the person has another inbox of that '
    'address.';

-- A revocation at Google ends the consent to every inbox of the address: what others still watch is left alone. All
-- inboxes of the addresses are locked until the removal commits, so that of two removals at once the second revokes.
CREATE OR REPLACE FUNCTION mailqueue.list_gmail_tokens(p_project uuid, p_user uuid, p_mailbox uuid)
RETURNS TABLE (id uuid, host text, port integer, sealed bytea)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM FROM mailqueue.mailboxes AS m
      WHERE m.provider = 'gmail'
        AND m.email_address IN (SELECT o.email_address FROM mailqueue.mailboxes AS o
                                 WHERE o.project_id = p_project AND o.provider = 'gmail'
                                   AND (o.id = p_mailbox OR o.user_id = p_user))
      ORDER BY m.id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT m.id, m.host, m.port, m.sealed_password FROM mailqueue.mailboxes AS m
     WHERE m.project_id = p_project AND m.provider = 'gmail' AND (m.id = p_mailbox OR m.user_id = p_user)
       AND NOT EXISTS (SELECT FROM mailqueue.mailboxes AS o
                        WHERE o.email_address = m.email_address AND o.provider = 'gmail' AND o.id <> m.id
                          AND o.user_id IS DISTINCT FROM p_user);
END $$;
COMMENT ON FUNCTION mailqueue.list_gmail_tokens(uuid, uuid, uuid) IS
    'Sealed refresh tokens of an inbox, or of all inboxes of a person, whose address is not watched for another.';

CREATE OR REPLACE FUNCTION mailqueue.is_gmail_watched(p_address text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT EXISTS (SELECT FROM mailqueue.mailboxes AS m
                    WHERE m.email_address = lower(p_address) AND m.provider = 'gmail')
$$;
COMMENT ON FUNCTION mailqueue.is_gmail_watched(text) IS
    'Whether an inbox at Gmail is watched for a person of any project: then its consent is not revoked.';

CREATE OR REPLACE FUNCTION mailqueue.note_inbox_consent(p_project uuid, p_subject text, p_result text, p_by text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_result NOT IN ('refused', 'revoked', 'not_revoked') THEN
        PERFORM mailqueue.refuse('result', 'refused, revoked or not_revoked');
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'inbox.consent_' || p_result, p_subject,
                                       jsonb_build_object('provider', 'gmail'), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.note_inbox_consent(uuid, text, text, text) IS
    'Write to the audit log that a consent was of no use, or was revoked at Google or could not be.';

CREATE OR REPLACE FUNCTION mailqueue.note_inbox_push(p_mailbox uuid, p_claim bigint, p_asked timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.mailboxes AS m SET push_asked_at = p_asked WHERE m.id = p_mailbox AND m.claim_no = p_claim
$$;
COMMENT ON FUNCTION mailqueue.note_inbox_push(uuid, bigint, timestamptz) IS
    'Write when the server of a claimed inbox was asked to push what changes in it.';

-- A pause that Gmail asked for, and the wait after an error, are not cut short.
CREATE OR REPLACE FUNCTION mailqueue.wake_gmail_inboxes(p_address text) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH woken AS (
        UPDATE mailqueue.mailboxes AS m SET run_at = clock_timestamp()
         WHERE m.email_address = lower(p_address) AND m.provider = 'gmail' AND m.status = 'pending'
           AND m.paused_by IS NULL AND m.last_error IS NULL AND m.run_at > clock_timestamp()
        RETURNING 1
    )
    SELECT count(*)::integer FROM woken
$$;
COMMENT ON FUNCTION mailqueue.wake_gmail_inboxes(text) IS
    'Let the inboxes at Gmail of an address be scanned at once; returns how many.';
