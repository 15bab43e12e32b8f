-- Mail that is sent while its caller waits, by a server that the caller names and that is not stored.
--
-- Its records are those of any mail. It is accepted, claimed and marked in one commit before the first byte is sent: if
-- the process dies later, rescue holds the mail as in doubt, and no account of the project ever claims it.

-- A limit, a pause or a missing signature raises 53400; DETAIL: seconds until it may be over.
CREATE OR REPLACE FUNCTION mailqueue.mark_custom_smtp(q mailqueue.email_queue, p_host text, p_pid integer,
    p_version text, OUT worker_id integer, OUT claim_no bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz;
    v_limits integer[];
    v_day date;
    l record;
    v_back record;
BEGIN
    IF NOT mailqueue.is_sending() THEN
        RAISE EXCEPTION 'no mail is sent since the database was restored, copied or promoted: mailqueue restored'
            USING ERRCODE = '53400';
    ELSIF (SELECT z.since IS NOT NULL FROM mailqueue.platform_pause() AS z) THEN
        RAISE EXCEPTION 'all sending is paused' USING ERRCODE = '53400';
    ELSIF (SELECT p.is_dkim_required FROM mailqueue.projects AS p WHERE p.id = q.project_id) THEN
        RAISE EXCEPTION 'signing is required' USING ERRCODE = '53400';
    ELSIF (SELECT z.kind IS NOT NULL FROM mailqueue.pause_of(q.id) AS z) THEN
        RAISE EXCEPTION 'paused' USING ERRCODE = '53400';
    END IF;
    IF q.category = 'marketing' AND NOT q.is_test THEN
        FOR l IN SELECT p.quiet_hours, p.frequency_cap, p.time_zone FROM mailqueue.projects AS p
                  WHERE p.id = q.project_id AND (p.quiet_hours IS NOT NULL OR p.frequency_cap IS NOT NULL) LOOP
            IF l.frequency_cap IS NOT NULL THEN
                PERFORM mailqueue.lock_marketing_counts(ARRAY[q]);
            END IF;
            SELECT * INTO v_back FROM mailqueue.held_back(q, l.quiet_hours, l.frequency_cap, l.time_zone);
            IF v_back.until IS NOT NULL THEN
                RAISE EXCEPTION '%', v_back.words
                      USING ERRCODE = '53400',
                            DETAIL = ceil(extract(epoch FROM v_back.until - clock_timestamp()))::text;
            END IF;
        END LOOP;
    END IF;
    -- The limits of the project and of the installation; those of accounts do not apply to this mail.
    SELECT array_agg(k.id ORDER BY k.id) INTO v_limits FROM (
        SELECT m.id FROM mailqueue.limits AS m
         WHERE m.id = 0 AND m.rate_per_second IS NOT NULL OR m.project_id = q.project_id AND m.sender_account_id IS NULL
         ORDER BY m.id FOR NO KEY UPDATE) AS k;
    v_now := clock_timestamp();
    FOR l IN SELECT * FROM mailqueue.headroom(v_limits, v_now) AS h ORDER BY h.limit_id LOOP
        IF l.low_opens_at IS NOT NULL
           AND (SELECT k.priority = 3 FROM mailqueue.lanes AS k WHERE k.id = q.lane_id) THEN
            RAISE EXCEPTION 'outside_window'
                  USING ERRCODE = '53400', DETAIL = ceil(extract(epoch FROM l.low_opens_at - v_now))::text;
        END IF;
        IF l.headroom < q.recipients AND (l.why IS NOT NULL OR l.daily_limit - l.sent - l.reserved < q.recipients) THEN
            RAISE EXCEPTION '%', coalesce(l.why, 'daily_limit') USING ERRCODE = '53400',
                  DETAIL = CASE WHEN isfinite(l.until) THEN ceil(extract(epoch FROM l.until - v_now))::text ELSE '' END;
        END IF;
        PERFORM mailqueue.reserve(l.limit_id, l.today, q.recipients, v_now);
        v_day := CASE WHEN l.limit_id = 0 THEN v_day ELSE l.today END;
    END LOOP;

    worker_id := mailqueue.start_worker('custom-smtp-mail', p_host, p_pid, p_version, NULL);
    claim_no := nextval('mailqueue.claim_no_seq');
    UPDATE mailqueue.send_intents AS s
       SET email_ids = ARRAY[q.id], claim_nos = ARRAY[mark_custom_smtp.claim_no], marked_at = v_now
     WHERE s.worker_id = mark_custom_smtp.worker_id;
    UPDATE mailqueue.email_queue AS e
       SET status = 'assigned', claim_no = mark_custom_smtp.claim_no, worker_id = mark_custom_smtp.worker_id,
           assigned_at = v_now, lease_until = v_now + interval '30 s', attempts = least(e.attempts, 32766) + 1,
           project_day = v_day, run_at = least(e.run_at, v_now)
     WHERE e.id = q.id;
END $$;
COMMENT ON FUNCTION mailqueue.mark_custom_smtp(mailqueue.email_queue, text, integer, text) IS
    'Reserve, claim and mark one mail in one commit, for a caller that sends it by a custom SMTP server.';

CREATE OR REPLACE FUNCTION mailqueue.begin_custom_smtp_now(p_project text, p_message jsonb, p_host text, p_pid integer,
    p_version text)
RETURNS TABLE (id uuid, state text, reason text, worker_id integer, claim_no bigint, recipients smallint, category text,
               recipient_email text, recipient_name text, content_id bigint, content_on date, subject text,
               html_body text, text_body text, from_email text, from_name text, reply_to text, headers jsonb,
               files jsonb, tracking_options smallint, project_id uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    c_no_meaning CONSTANT text[] := '{is_test,sender,run_at,expires_at,max_attempts,template}';
    v_field text;
    v_id uuid;
    v_worker integer;
    v_claim bigint;
    q mailqueue.email_queue;
BEGIN
    SELECT k INTO v_field FROM jsonb_object_keys(p_message) AS k
     WHERE k = ANY (c_no_meaning) AND p_message -> k <> 'null' LIMIT 1;
    IF v_field IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_field, 'has no meaning together with smtp_override');
    ELSIF coalesce(p_message ->> 'from_email', '') = '' THEN
        PERFORM mailqueue.refuse('from_email', 'is needed with smtp_override');
    ELSIF p_message ->> 'delivery' = 'resend' THEN
        PERFORM mailqueue.refuse('delivery', 'mail that is sent at once is never sent twice: hold, got resend');
    ELSIF NOT mailqueue.is_on('own_servers') THEN
        PERFORM mailqueue.refuse('smtp_override',
                                 'mail with a custom SMTP server is not sent here: the flag own_servers is off');
    ELSIF strpos(p_message ->> 'recipient', '@') = 0 THEN    -- no list of contacts
        PERFORM mailqueue.check_address('recipient', p_message ->> 'recipient');
    END IF;
    v_id := mailqueue.enqueue(p_project, p_message ->> 'recipient', p_message ->> 'subject', p_message ->> 'html',
                              p_message ->> 'text',
                              p_message - '{recipient,subject,html,text}'::text[] || '{"delivery": "hold"}');
    SELECT * INTO q FROM mailqueue.email_queue AS e WHERE e.id = v_id AND e.created_at = now() AND e.status = 'pending';
    IF q.id IS NULL THEN  -- all recipients are suppressed, or it was accepted before
        RETURN QUERY
            SELECT v_id, coalesce(h.state, 'duplicate'), h.reason, NULL::integer, NULL::bigint, NULL::smallint,
                   NULL, NULL, NULL, NULL::bigint, NULL::date, NULL, NULL, NULL, NULL, NULL, NULL, NULL::jsonb,
                   NULL::jsonb, NULL::smallint, NULL::uuid
              FROM (SELECT) AS one LEFT JOIN LATERAL (
                   SELECT e.status AS state, e.reason FROM mailqueue.email_history AS e
                    WHERE e.id = v_id AND e.created_at = now() AND e.status = 'suppressed') AS h ON true;
        RETURN;
    END IF;
    IF q.is_ordered THEN
        PERFORM mailqueue.leave_order(ARRAY[q.id]);
        SELECT * INTO q FROM mailqueue.email_queue AS e WHERE e.id = v_id;
    END IF;
    SELECT m.worker_id, m.claim_no INTO v_worker, v_claim
      FROM mailqueue.mark_custom_smtp(q, p_host, p_pid, p_version) AS m;
    RETURN QUERY
        SELECT q.id, 'sending', NULL, v_worker, v_claim, q.recipients, q.category, q.recipient_email, q.recipient_name,
               c.id, c.created_on, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to,
               c.headers, c.files, c.tracking_options, q.project_id
          FROM mailqueue.email_contents AS c WHERE c.id = q.content_id AND c.created_on = q.content_on;
END $$;
COMMENT ON FUNCTION mailqueue.begin_custom_smtp_now(text, jsonb, text, integer, text) IS
    'Accept one mail, claim and mark it for the caller, who sends it at once by a custom SMTP server. Invalid input '
    'raises 22023, a limit 53400.';

-- p_addresses and later parameters: recipients of a message that has several. Returns false if rescue held the mail
-- meanwhile.
CREATE OR REPLACE FUNCTION mailqueue.settle_custom_smtp(p_worker integer, p_id uuid, p_claim bigint, p_outcome text,
    p_reason text, p_wait interval, p_spent integer, p_left integer, p_log text, p_message_id text, p_code text,
    p_enhanced text, p_reply text, p_ms integer, p_hard boolean,
    p_addresses text[], p_statuses text[], p_reasons text[], p_codes text[], p_hards boolean[],
    p_conversation text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer := cardinality(p_addresses);
    -- otherwise it could not be tried again
    v_is_kept boolean := EXISTS (SELECT FROM mailqueue.custom_smtp_servers AS s WHERE s.email_id = p_id);
    v_lost uuid[];
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.workers AS w WHERE w.id = p_worker AND w.kind = 'custom-smtp-mail')
       OR p_outcome NOT IN ('sent', 'failed', 'unknown', 'retry', 'defer') THEN
        RAISE EXCEPTION 'worker % is not sending this mail, or % is not an outcome of it', p_worker, p_outcome
            USING ERRCODE = '55000';
    ELSIF p_outcome IN ('retry', 'defer') AND NOT v_is_kept THEN  -- no account of the project may send it
        p_outcome := 'failed';
        p_wait := NULL;
    END IF;
    IF v_count > 0 THEN
        PERFORM mailqueue.settle_recipients(array_fill(p_id, ARRAY[v_count]), array_fill(p_claim, ARRAY[v_count]),
                                            p_addresses, p_statuses, p_reasons, p_codes, p_hards);
    END IF;
    v_lost := mailqueue.settle_emails(ARRAY[p_id], ARRAY[p_claim], ARRAY[p_outcome], ARRAY[p_reason], ARRAY[p_wait],
        ARRAY[p_spent], ARRAY[p_left], ARRAY[p_log], ARRAY[p_message_id], ARRAY[NULL::text], ARRAY[p_code],
        ARRAY[p_enhanced], ARRAY[p_reply], ARRAY[p_ms], ARRAY[p_hard],
        CASE WHEN p_conversation IS NOT NULL THEN ARRAY[p_conversation] END);
    IF v_is_kept THEN
        PERFORM mailqueue.keep_custom_smtp_server(p_id, p_worker);
    END IF;
    PERFORM mailqueue.stop_worker(p_worker);
    RETURN v_lost = '{}';
END $$;
COMMENT ON FUNCTION mailqueue.settle_custom_smtp(integer, uuid, bigint, text, text, interval, integer, integer, text,
    text, text, text, text, integer, boolean, text[], text[], text[], text[], boolean[], text) IS
    'Record the outcome of a mail that was sent by a custom SMTP server.';
