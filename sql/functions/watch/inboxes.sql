-- Watched inboxes: connected, paused, resumed, reconnected, removed. The row is also the row of the queue: an inbox
-- that is paused waits for the next check of its login, one in error has failed. Each of these takes the claim from a
-- worker that is scanning the inbox, whose late write then changes nothing.

CREATE OR REPLACE FUNCTION mailqueue.check_mailbox(p_email text, p_port integer, p_tls text, p_username text,
    p_folders text[], p_webmail_url text, p_scan_seconds integer) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_address('email_address', p_email);
    IF p_port IS NULL OR p_port NOT BETWEEN 1 AND 65535 THEN
        PERFORM mailqueue.refuse('port', format('1 to 65535, got %s', coalesce(p_port::text, 'null')));
    ELSIF coalesce(p_tls, '') NOT IN ('implicit', 'starttls', 'none') THEN
        PERFORM mailqueue.refuse('tls', 'implicit, starttls or none');
    ELSIF coalesce(p_username, '') = '' THEN
        PERFORM mailqueue.refuse('username', 'is needed');
    ELSIF p_scan_seconds IS NULL OR p_scan_seconds NOT BETWEEN 30 AND 86400 THEN
        PERFORM mailqueue.refuse('scan_seconds', format('30 to 86400, got %s', coalesce(p_scan_seconds::text, 'null')));
    ELSIF cardinality(p_folders) NOT BETWEEN 1 AND 10
          OR EXISTS (SELECT FROM unnest(p_folders) AS f WHERE f IS NULL OR f = '' OR length(f) > 200
                        OR f ~ '[\u0001-\u001f\u007f]') THEN
        PERFORM mailqueue.refuse('folders', '1 to 10 names of 1 to 200 characters');
    ELSIF EXISTS (SELECT FROM unnest(p_folders) AS f
                   WHERE lower(regexp_replace(f, '^.*[./]', '')) IN ('sent', 'sent items', 'sent mail',
                         'sent messages', 'drafts', 'draft', 'spam', 'junk', 'junk e-mail', 'junk email', 'trash',
                         'deleted', 'deleted items', 'deleted messages', 'bin')) THEN
        PERFORM mailqueue.refuse('folders', 'folders of sent mail, drafts, spam and trash are not watched');
    ELSIF p_webmail_url IS NOT NULL AND p_webmail_url !~ '^https://[^\s<>|"]+$' THEN
        PERFORM mailqueue.refuse('webmail_url', 'an https:// address of at most 508 characters without spaces');
    END IF;
    PERFORM mailqueue.check_text('username', p_username, 320);
    PERFORM mailqueue.check_text('webmail_url', p_webmail_url, 508);
END $$;
COMMENT ON FUNCTION mailqueue.check_mailbox(text, integer, text, text, text[], text, integer) IS
    'Raise 22023 naming the field unless an inbox may be like this.';

CREATE OR REPLACE FUNCTION mailqueue.add_mailbox(p_project uuid, p_id uuid, p_user uuid, p_email text, p_host text,
    p_port integer, p_tls text, p_username text, p_sealed bytea, p_folders text[], p_webmail_url text,
    p_scan_seconds integer, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 20;                           -- of a person
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_mailbox(p_email, p_port, p_tls, p_username, p_folders, p_webmail_url, p_scan_seconds);
    PERFORM mailqueue.lock_inbox_user(p_project, p_user);
    IF (SELECT count(*) FROM mailqueue.mailboxes AS m WHERE m.user_id = p_user) >= c_most THEN
        PERFORM mailqueue.refuse('user_id', format('an inbox user has at most %s inboxes', c_most));
    END IF;
    INSERT INTO mailqueue.mailboxes (id, project_id, user_id, provider, email_address, host, port, tls, username,
        sealed_password, folders, webmail_url, scan_seconds)
    VALUES (p_id, p_project, p_user, 'imap', lower(p_email), p_host, p_port, p_tls, p_username, p_sealed, p_folders,
            p_webmail_url, p_scan_seconds)
    ON CONFLICT ON CONSTRAINT mailboxes_user_id_email_address_key DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'inbox.added', p_id::text,
                                       jsonb_build_object('host', p_host, 'user_id', p_user), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.add_mailbox(uuid, uuid, uuid, text, text, integer, text, text, bytea, text[], text,
                                          integer, text) IS
    'Watch an inbox of a person; false if this inbox of the person is watched already.';

-- pause: stop scanning; resume: go on with what arrives from now on; scan: scan at once.
CREATE OR REPLACE FUNCTION mailqueue.switch_mailbox(p_project uuid, p_id uuid, p_action text, p_by text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_check CONSTANT interval := '1 day';                    -- between two checks of the login of a paused inbox
    v_now timestamptz := clock_timestamp();
    m mailqueue.mailboxes;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT * INTO m FROM mailqueue.mailboxes AS o WHERE o.id = p_id AND o.project_id = p_project FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    ELSIF m.status = 'failed' THEN
        RETURN 'error';
    ELSIF (p_action = 'resume') <> (m.paused_by IS NOT NULL) OR p_action = 'scan' AND m.status <> 'pending' THEN
        RETURN 'unchanged';
    END IF;
    UPDATE mailqueue.mailboxes AS o
       SET status = 'pending', cursor = CASE p_action WHEN 'resume' THEN '{}' ELSE o.cursor END,
           attempts = CASE p_action WHEN 'scan' THEN o.attempts ELSE 0 END,
           run_at = CASE p_action WHEN 'pause' THEN v_now + c_check ELSE v_now END,
           paused_by = CASE p_action WHEN 'pause' THEN left(coalesce(p_by, ''), 200) END,
           last_error = CASE p_action WHEN 'scan' THEN o.last_error END,
           claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL, updated_at = v_now
     WHERE o.id = p_id;
    IF p_action <> 'scan' THEN
        PERFORM mailqueue.record_operation(p_project, 'inbox.' || p_action || 'd', p_id::text, '{}', p_by);
    END IF;
    RETURN 'changed';
END $$;
COMMENT ON FUNCTION mailqueue.switch_mailbox(uuid, uuid, text, text) IS
    'Pause or resume an inbox or scan it now; returns changed, unchanged, error (reconnect it first) or missing.';

-- Whatever went wrong before no longer counts. What arrived meanwhile is not reported.
CREATE OR REPLACE FUNCTION mailqueue.reconnect_mailbox(p_project uuid, p_id uuid, p_username text, p_sealed bytea,
    p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_text('username', p_username, 320);
    UPDATE mailqueue.mailboxes AS m
       SET username = coalesce(p_username, m.username), sealed_password = p_sealed, status = 'pending', cursor = '{}',
           attempts = 0, refusals = 0, crashes = 0, run_at = clock_timestamp(), last_error = NULL, finished_at = NULL,
           paused_by = NULL, claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL,
           updated_at = clock_timestamp()
     WHERE m.id = p_id AND m.project_id = p_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'inbox.reconnected', p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.reconnect_mailbox(uuid, uuid, text, bytea, text) IS
    'Give an inbox new credentials and scan it from now on; false if the project has none with that id.';

CREATE OR REPLACE FUNCTION mailqueue.remove_mailbox(p_project uuid, p_id uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    DELETE FROM mailqueue.mailboxes AS m WHERE m.id = p_id AND m.project_id = p_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'inbox.removed', p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_mailbox(uuid, uuid, text) IS
    'Stop watching an inbox and delete its credentials and notifications; false if there is none with that id.';

CREATE OR REPLACE FUNCTION mailqueue.inbox_pause_words(p_id uuid) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT format('paused by %s, only its login is checked until mailqueue watch inbox resume %s', m.paused_by, m.id)
      FROM mailqueue.mailboxes AS m WHERE m.id = p_id AND m.paused_by IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.inbox_pause_words(uuid) IS 'By whom a watched inbox is paused; NULL if it is not.';
