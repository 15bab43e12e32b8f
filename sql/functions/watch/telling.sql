-- Persons are told by mail that a channel or an inbox of theirs has ended in error, once a day at most for each.

CREATE OR REPLACE FUNCTION mailqueue.plan_telling() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.tell_at := CASE WHEN NEW.status IN ('error', 'opted_out', 'failed')
                             THEN greatest(clock_timestamp(), NEW.told_at + interval '1 d') END;
    NEW.tell_failures := 0;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.plan_telling() IS
    'BEFORE UPDATE of the status of a channel or an inbox: its person is to be mailed of an error, unless it is mended '
    'before.';

CREATE OR REPLACE TRIGGER notification_channels_telling BEFORE UPDATE ON mailqueue.notification_channels
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION mailqueue.plan_telling();
CREATE OR REPLACE TRIGGER mailboxes_telling BEFORE UPDATE ON mailqueue.mailboxes
    FOR EACH ROW WHEN ((OLD.status = 'failed') IS DISTINCT FROM (NEW.status = 'failed'))
    EXECUTE FUNCTION mailqueue.plan_telling();

-- The sentences are ours: what a server or a provider said may hold anything, and is on the page.
CREATE OR REPLACE FUNCTION mailqueue.error_words(p_project text, p_what text, p_status text, p_address text,
    OUT subject text, OUT happened text, OUT mended text)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT w.subject, w.happened, w.mended FROM (VALUES
        ('slack', 'error', 'Slack no longer gets your notifications of new mail',
         format('%s can no longer notify you of new mail in Slack: Slack refuses the app, its token or the channel.',
                p_project),
         'What waits is delivered once Slack is connected again'),
        ('whatsapp', 'error', 'WhatsApp no longer gets your notifications of new mail',
         format('%s can no longer notify you of new mail by WhatsApp: the account that sends the messages is refused.',
                p_project),
         'What waits is delivered once your phone is connected again'),
        ('whatsapp', 'opted_out', 'WhatsApp no longer gets your notifications of new mail',
         format('%s no longer notifies you of new mail by WhatsApp, because your phone asked for no more messages.',
                p_project),
         'Answer START on your phone to be notified again, or connect it again'),
        ('gmail', 'failed', format('%s is no longer watched', p_address),
         format('%s can no longer read %s: its consent has ended, or Gmail has not answered for a day.', p_project,
                p_address),
         'New mail is reported once the inbox is connected again'),
        ('imap', 'failed', format('%s is no longer watched', p_address),
         format('%s can no longer read %s: its server refuses the login, or has not answered for a day.', p_project,
                p_address),
         'New mail is reported once the inbox is connected again'))
        AS w(what, status, subject, happened, mended)
     WHERE w.what = p_what AND w.status = p_status
$$;
COMMENT ON FUNCTION mailqueue.error_words(text, text, text, text) IS
    'Texts of the mail to a person about a channel or an inbox in error.';

-- p_url: page of the person where it can be mended; NULL: the project mends it.
CREATE OR REPLACE FUNCTION mailqueue.mail_of_error(p_project text, p_shown text, p_to text, p_what text, p_status text,
    p_address text, p_url text) RETURNS uuid
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.enqueue(p_project, p_to, left(w.subject, 900),
               format('<!doctype html><html lang="en"><body><p>%s</p><p>%s</p></body></html>',
                      mailqueue.html_text(w.happened), mailqueue.html_text(w.mended)
                      || CASE WHEN p_url IS NULL THEN '. Please ask ' || mailqueue.html_text(p_shown) || '.'
                              ELSE format(': <a href="%s">%s</a>', mailqueue.html_text(p_url),
                                          mailqueue.html_text(p_url)) END),
               format(E'%s\n\n%s%s\n', w.happened, w.mended,
                      CASE WHEN p_url IS NULL THEN '. Please ask ' || p_shown || '.' ELSE E':\n' || p_url END),
               '{"tags": ["inbox-error"], "track_opens": false, "track_clicks": false, "unsubscribe": false}')
      FROM mailqueue.error_words(p_shown, p_what, p_status, p_address) AS w
$$;
COMMENT ON FUNCTION mailqueue.mail_of_error(text, text, text, text, text, text, text) IS
    'Queue the mail to a person about a channel or an inbox in error; returns its id.';

-- p_pages: address below which the pages of projects stand; NULL: there are none. A mail that is refused, such as by a
-- project that is full, is tried again after 5 minutes, 10, 20 and so on to a day.
CREATE OR REPLACE FUNCTION mailqueue.tell_of_errors(p_pages text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_at_once CONSTANT integer := 50;                        -- of each kind
    v_now timestamptz := clock_timestamp();
    v_count integer := 0;
    v_told_at timestamptz; v_tell_at timestamptz;            -- afterwards; NULL: as it was, and no more
    t record;
BEGIN
    FOR t IN
        WITH channels AS MATERIALIZED (
            SELECT c.id, c.user_id, c.channel_type AS what, c.status, NULL::text AS address, '/channels' AS page,
                   c.tell_failures
              FROM mailqueue.notification_channels AS c WHERE c.tell_at <= v_now
             ORDER BY c.tell_at LIMIT c_at_once FOR NO KEY UPDATE SKIP LOCKED
        ), inboxes AS MATERIALIZED (
            SELECT m.id, m.user_id, m.provider AS what, m.status, m.email_address AS address, '' AS page,
                   m.tell_failures
              FROM mailqueue.mailboxes AS m WHERE m.tell_at <= v_now
             ORDER BY m.tell_at LIMIT c_at_once FOR NO KEY UPDATE SKIP LOCKED
        )
        SELECT d.*, u.email, u.project_id, p.name, coalesce(p.display_name, p.name) AS shown,
               p.deleted_at IS NOT NULL AS is_deleted,
               EXISTS (SELECT FROM mailqueue.inbox_logins AS l WHERE l.user_id = u.id) AS has_login
          FROM (SELECT * FROM channels UNION ALL SELECT * FROM inboxes) AS d
          JOIN mailqueue.inbox_users AS u ON u.id = d.user_id
          JOIN mailqueue.projects AS p ON p.id = u.project_id
    LOOP
        v_told_at := NULL; v_tell_at := NULL;
        BEGIN
            IF NOT t.is_deleted THEN
                PERFORM mailqueue.mail_of_error(t.name, t.shown, t.email, t.what, t.status, t.address,
                                                CASE WHEN t.has_login THEN p_pages || t.name || t.page END);
                v_told_at := v_now;
                v_count := v_count + 1;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            v_tell_at := v_now + least(interval '1 d', interval '5 min' * 2 ^ least(t.tell_failures, 10));
            PERFORM mailqueue.record_operation(t.project_id, 'inbox_user.not_told', t.user_id::text,
                                               jsonb_build_object('of', t.id, 'reason', left(SQLERRM, 200)),
                                               'inbox watch');
        END;
        UPDATE mailqueue.notification_channels AS c
           SET told_at = coalesce(v_told_at, c.told_at), tell_at = v_tell_at,
               tell_failures = CASE WHEN v_tell_at IS NULL THEN 0 ELSE least(t.tell_failures + 1, 100) END
         WHERE c.id = t.id;
        UPDATE mailqueue.mailboxes AS m
           SET told_at = coalesce(v_told_at, m.told_at), tell_at = v_tell_at,
               tell_failures = CASE WHEN v_tell_at IS NULL THEN 0 ELSE least(t.tell_failures + 1, 100) END
         WHERE m.id = t.id;
    END LOOP;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.tell_of_errors(text) IS
    'Mail persons whose channels or inboxes have ended in error; returns the number of mails. Workers call it every '
    'few seconds.';
