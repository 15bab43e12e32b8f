-- What a scan found, recorded in the transaction that settles the row of the inbox: a message is known once for each
-- person, and more than ten in a minute become one summary.

-- p_mails: objects with key, message_id, sender_name, sender_address, subject, preview, received_at and rule_id.
-- p_caught_up: when a scan began that read all that was there; NULL: the next one goes on.
CREATE OR REPLACE FUNCTION mailqueue.record_scan(p_mailbox uuid, p_claim bigint, p_cursor jsonb, p_mails jsonb,
    p_caught_up timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_mailbox mailqueue.mailboxes;
    v_is_paused boolean;
    v_fresh jsonb;
    v_channel uuid;
BEGIN
    UPDATE mailqueue.mailboxes AS m SET cursor = p_cursor, last_scanned_at = v_now, refusals = 0,
           caught_up_at = coalesce(p_caught_up, m.caught_up_at, m.last_scanned_at)
     WHERE m.id = p_mailbox AND m.claim_no = p_claim RETURNING * INTO v_mailbox;
    -- Workers of the release before, until release 0.2.0, scan paused inboxes.
    IF NOT FOUND OR jsonb_array_length(p_mails) = 0 OR v_mailbox.paused_by IS NOT NULL THEN
        RETURN 0;
    END IF;
    -- Scans of one person's inboxes take turns here.
    SELECT mailqueue.is_paused(u) INTO v_is_paused FROM mailqueue.inbox_users AS u
     WHERE u.id = v_mailbox.user_id FOR NO KEY UPDATE;
    IF v_is_paused THEN
        RETURN 0;
    END IF;
    WITH given AS (
        SELECT DISTINCT ON (g.key) g.key, g.mail
          FROM (SELECT (o.mail ->> 'key')::uuid AS key, o.mail, o.n
                  FROM jsonb_array_elements(p_mails) WITH ORDINALITY AS o(mail, n)) AS g
         WHERE NOT EXISTS (SELECT FROM mailqueue.muted_senders AS s
                            WHERE s.user_id = v_mailbox.user_id
                              AND s.sender_address = mailqueue.muted_form(g.mail ->> 'sender_address'))
         ORDER BY g.key, g.n
    ), noted AS (
        INSERT INTO mailqueue.seen_messages AS s (user_id, message_key, project_id, seen_at)
        SELECT v_mailbox.user_id, g.key, v_mailbox.project_id, v_now FROM given AS g
        ON CONFLICT (user_id, message_key) DO UPDATE SET seen_at = v_now
         WHERE s.seen_at < v_now - interval '48 h'
        RETURNING s.message_key
    )
    SELECT coalesce(jsonb_agg(g.mail ORDER BY g.mail ->> 'received_at'), '[]') INTO v_fresh
      FROM given AS g JOIN noted AS n ON n.message_key = g.key;
    IF v_fresh = '[]' THEN
        RETURN 0;
    END IF;
    PERFORM mailqueue.check_event_room(v_mailbox.project_id);
    FOR v_channel IN
        SELECT c.id FROM mailqueue.notification_channels AS c
         WHERE c.user_id = v_mailbox.user_id AND c.status IN ('active', 'error') ORDER BY c.id
    LOOP
        PERFORM mailqueue.add_notifications(v_mailbox, v_channel, v_fresh, v_now);
    END LOOP;
    RETURN jsonb_array_length(v_fresh);
END $$;
COMMENT ON FUNCTION mailqueue.record_scan(uuid, bigint, jsonb, jsonb, timestamptz) IS
    'Write how far a claimed inbox was scanned and notify of its new mail; returns the number of messages that were '
    'not known.';

-- Called by workers until release 0.2.0.
CREATE OR REPLACE FUNCTION mailqueue.record_scan(p_mailbox uuid, p_claim bigint, p_cursor jsonb, p_mails jsonb)
RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.record_scan(p_mailbox, p_claim, p_cursor, p_mails, clock_timestamp()) $$;
COMMENT ON FUNCTION mailqueue.record_scan(uuid, bigint, jsonb, jsonb) IS
    'Write a scan that read all that was there; for workers of the release before, until release 0.2.0.';

-- A window is a minute that begins with the first mail after the last window. Its mail is reported one by one, and by
-- a summary at its end as soon as there is more than ten: what waits of it is merged into the summary, too.
CREATE OR REPLACE FUNCTION mailqueue.add_notifications(p_mailbox mailqueue.mailboxes, p_channel uuid, p_mails jsonb,
    p_now timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_single CONSTANT integer := 10;                         -- mails of a window that are reported one by one
    w mailqueue.notification_windows;
    v_mails integer := jsonb_array_length(p_mails);
BEGIN
    INSERT INTO mailqueue.notification_windows (channel_id, project_id, started_at, mails)
    VALUES (p_channel, p_mailbox.project_id, p_now, 0)
    ON CONFLICT (channel_id) DO NOTHING;
    SELECT * INTO w FROM mailqueue.notification_windows AS o WHERE o.channel_id = p_channel FOR NO KEY UPDATE;
    IF w.started_at <= p_now - interval '1 min' THEN
        w.started_at := p_now;
        w.mails := 0;
        w.summary_id := NULL;
    END IF;
    IF w.mails + v_mails > c_single THEN
        PERFORM FROM mailqueue.notifications AS n
          WHERE n.id = w.summary_id AND n.status = 'pending' AND n.attempts = 0 FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            w.summary_id := mailqueue.uuidv7();
            INSERT INTO mailqueue.notifications (id, project_id, user_id, email_account_id, notification_channel_id,
                kind, email_received_at, run_at)
            VALUES (w.summary_id, p_mailbox.project_id, p_mailbox.user_id, p_mailbox.id, p_channel, 'summary', p_now,
                    w.started_at + interval '1 min');
        END IF;
        UPDATE mailqueue.notifications AS n
           SET status = 'merged', summary_id = w.summary_id, finished_at = p_now, updated_at = p_now,
               last_error = 'told of in summary ' || w.summary_id
         WHERE n.id = ANY (ARRAY(SELECT o.id FROM mailqueue.notifications AS o
                                  WHERE o.notification_channel_id = p_channel AND o.status = 'pending'
                                    AND o.kind = 'mail' AND o.attempts = 0 AND o.crashes = 0
                                    AND o.created_at >= w.started_at
                                  ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED));
    END IF;
    INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id, notification_channel_id, summary_id,
        rule_id, message_id, sender_name, sender_address, subject, preview, email_received_at, status, finished_at,
        last_error, created_at, run_at)
    SELECT p_mailbox.project_id, p_mailbox.user_id, p_mailbox.id, p_channel,
           CASE WHEN w.mails + v_mails > c_single THEN w.summary_id END, (g.mail ->> 'rule_id')::uuid,
           g.mail ->> 'message_id', left(g.mail ->> 'sender_name', 256), left(g.mail ->> 'sender_address', 320),
           left(g.mail ->> 'subject', 998), left(g.mail ->> 'preview', 150), (g.mail ->> 'received_at')::timestamptz,
           CASE WHEN w.mails + v_mails > c_single THEN 'merged' ELSE 'pending' END,
           CASE WHEN w.mails + v_mails > c_single THEN p_now END,
           CASE WHEN w.mails + v_mails > c_single THEN 'told of in summary ' || w.summary_id END, p_now, p_now
      FROM jsonb_array_elements(p_mails) WITH ORDINALITY AS g(mail, n) ORDER BY g.n;
    UPDATE mailqueue.notification_windows AS o
       SET started_at = w.started_at, mails = w.mails + v_mails, summary_id = w.summary_id
     WHERE o.channel_id = p_channel;
END $$;
COMMENT ON FUNCTION mailqueue.add_notifications(mailqueue.mailboxes, uuid, jsonb, timestamptz) IS
    'Queue notifications of new mail for a channel, or merge them into the summary of its minute.';

CREATE OR REPLACE FUNCTION mailqueue.notify_of_lost_inbox(p_mailbox uuid, p_claim bigint, p_reason text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id, notification_channel_id, kind, subject,
        preview, email_received_at)
    SELECT m.project_id, m.user_id, m.id, c.id, 'notice',
           left('Inbox ' || m.email_address || ' is no longer watched: reconnect it', 998), left(p_reason, 150),
           clock_timestamp()
      FROM mailqueue.mailboxes AS m
      JOIN mailqueue.notification_channels AS c ON c.user_id = m.user_id AND c.status = 'active'
     WHERE m.id = p_mailbox AND m.claim_no = p_claim
$$;
COMMENT ON FUNCTION mailqueue.notify_of_lost_inbox(uuid, bigint, text) IS
    'Tell a person by every channel that an inbox is given up and has to be reconnected.';
