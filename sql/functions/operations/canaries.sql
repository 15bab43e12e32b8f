-- Canaries: sender accounts by which a small email is sent at an interval, on the way of all others. Each is a row of
-- the queue `canaries`. What is missed is not made up for: the next email is of the next interval.

CREATE OR REPLACE FUNCTION mailqueue.put_canary(p_project text, p_sender text, p_recipient text, p_every interval,
    p_by text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 100;                          -- of the installation
    v_project uuid := mailqueue.project_taking(p_project);
    v_account integer;
    v_recipient text := (mailqueue.split_mailbox(p_recipient)).address;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT a.id INTO v_account FROM mailqueue.sender_accounts AS a
     WHERE a.project_id = v_project AND a.name = p_sender AND a.provider <> 'trap';
    IF v_account IS NULL THEN
        PERFORM mailqueue.refuse('sender', format('project %s has no sender account %s other than the mail trap',
                                                  to_json(left(p_project, 100)), to_json(left(p_sender, 100))));
    END IF;
    PERFORM mailqueue.check_address('recipient', v_recipient);
    v_recipient := mailqueue.wire_address('recipient', v_recipient);
    IF p_every IS NULL OR p_every NOT BETWEEN '1 min' AND '1 day' OR extract(epoch FROM p_every) % 60 <> 0 THEN
        PERFORM mailqueue.refuse('every', format('1 minute to 1 day in whole minutes, got %s',
                                                 coalesce(p_every::text, 'nothing')));
    END IF;
    INSERT INTO mailqueue.canaries AS c (project_id, sender_account_id, recipient, every)
    VALUES (v_project, v_account, v_recipient, p_every)
    ON CONFLICT (sender_account_id) DO UPDATE
       SET recipient = excluded.recipient, every = excluded.every, set_up_at = now(), status = 'pending',
           run_at = now(), attempts = 0, crashes = 0, claim_no = NULL, worker_id = NULL, assigned_at = NULL,
           lease_until = NULL, last_error = NULL, finished_at = NULL;
    IF (SELECT count(*) FROM mailqueue.canaries) > c_most THEN
        PERFORM mailqueue.refuse('sender', format('an installation has at most %s canaries', c_most));
    END IF;
    PERFORM mailqueue.record_operation(v_project, 'canary.set', 'sender ' || p_sender,
                                       jsonb_build_object('every', p_every), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.put_canary(text, text, text, interval, text) IS
    'Send a small email by a sender account at an interval, or change that; raises 22023 naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.remove_canary(p_project text, p_sender text, p_by text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
BEGIN
    PERFORM mailqueue.check_administers();
    DELETE FROM mailqueue.canaries AS c USING mailqueue.sender_accounts AS a
     WHERE c.sender_account_id = a.id AND a.project_id = v_project AND a.name = p_sender;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(v_project, 'canary.removed', 'sender ' || p_sender, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_canary(text, text, text) IS
    'Send no more canary emails by a sender account. False if none were sent.';

-- In the transaction that settles the claims. The idempotency key is of the canary as it was set up and the interval:
-- two processes make one email, and a canary that was changed has another at once. An email that waits for longer than
-- two intervals is not sent any more.
CREATE OR REPLACE FUNCTION mailqueue.send_canaries(p_ids uuid[])
RETURNS TABLE (id uuid, next_at timestamptz, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    c_kept CONSTANT integer := 60;                           -- ids of emails
    c record; m record;
    v_begins timestamptz;
BEGIN
    FOR c IN SELECT k.id, k.every, k.recipient, k.set_up_at, a.name AS sender, p.name AS project
               FROM unnest(p_ids) AS i(id)
               JOIN mailqueue.canaries AS k ON k.id = i.id
               JOIN mailqueue.projects AS p ON p.id = k.project_id
               JOIN mailqueue.sender_accounts AS a ON a.id = k.sender_account_id
              ORDER BY k.id LOOP
        v_begins := date_bin(c.every, clock_timestamp(), '2000-01-01 00:00Z');
        send_canaries.id := c.id; next_at := v_begins + c.every; reason := NULL;
        BEGIN
            SELECT b.id, b.status, b.reason INTO m FROM mailqueue.accept_batch(c.project, jsonb_build_array(
                jsonb_build_object(
                    'recipient', c.recipient, 'sender', c.sender, 'subject', 'Canary by ' || c.sender,
                    'text', format('This email is sent by %s every %s, so that its absence is noticed.', c.sender,
                                   mailqueue.span_words(c.every)),
                    'category', 'canary', 'tags', '["canary"]'::jsonb, 'delivery', 'resend', 'track_opens', false,
                    'track_clicks', false, 'unsubscribe', false, 'expires_at', v_begins + 2 * c.every,
                    'idempotency_key', format('canary %s %s %s', c.id, extract(epoch FROM c.set_up_at),
                                              extract(epoch FROM v_begins)::bigint)))) AS b;
            IF m.status = 'queued' THEN
                UPDATE mailqueue.canaries AS k SET email_ids = (m.id || k.email_ids)[1 : c_kept] WHERE k.id = c.id;
            ELSIF m.status <> 'duplicate' THEN
                reason := concat_ws(': ', m.status, m.reason);
            END IF;
        EXCEPTION WHEN SQLSTATE 'MQ002' OR disk_full OR invalid_parameter_value THEN
            reason := SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.send_canaries(uuid[]) IS
    'Queue an email of each canary; returns when the next one is due, and why there is none now.';

-- The cost does not depend on the number of emails: those of a canary are looked up by their ids.
CREATE OR REPLACE FUNCTION mailqueue.canary_board()
RETURNS TABLE (project text, sender text, provider text, recipient text, every interval, emails_per_day integer,
    newest_email uuid, last_sent_at timestamptz, last_delivered_at timestamptz, tells_deliveries boolean,
    is_late boolean, is_delivery_late boolean, last_error text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    SELECT p.name, a.name, a.provider, c.recipient, c.every, (86400 / extract(epoch FROM c.every))::integer,
           c.email_ids[1], s.at, d.at, t.tells,
           coalesce(s.at, c.set_up_at) < clock_timestamp() - 3 * c.every - interval '1 min',
           t.tells AND coalesce(d.at, c.set_up_at) < clock_timestamp() - 3 * c.every - interval '10 min',
           c.last_error
      FROM mailqueue.canaries AS c
      JOIN mailqueue.projects AS p ON p.id = c.project_id
      JOIN mailqueue.sender_accounts AS a ON a.id = c.sender_account_id
      LEFT JOIN LATERAL (
           SELECT h.finished_at AS at
             FROM generate_subscripts(c.email_ids, 1) AS n
            CROSS JOIN LATERAL (SELECT e.finished_at FROM mailqueue.email_history AS e
                                 WHERE e.id = c.email_ids[n] AND e.status = 'sent' AND e.finished_at >= c.created_at
                                 LIMIT 1) AS h
            ORDER BY n LIMIT 1) AS s ON true
      LEFT JOIN LATERAL (
           SELECT v.occurred_at AS at
             FROM generate_subscripts(c.email_ids, 1) AS n
            CROSS JOIN LATERAL (SELECT e.occurred_at FROM mailqueue.email_events AS e
                                 WHERE e.email_id = c.email_ids[n] AND e.type = 'delivered'
                                   AND e.occurred_at >= c.created_at
                                 LIMIT 1) AS v
            ORDER BY n LIMIT 1) AS d ON true
     CROSS JOIN LATERAL (
           SELECT d.at IS NOT NULL
                  OR EXISTS (SELECT FROM mailqueue.stats_accounts AS x
                              WHERE x.sender_account_id = c.sender_account_id AND x.tells_since IS NOT NULL) AS tells
           ) AS t
     ORDER BY p.name, a.name
$$;
COMMENT ON FUNCTION mailqueue.canary_board() IS
    'Canaries, when the last of their newest 60 emails was sent and delivered, and whether that is too long ago.';

CREATE OR REPLACE FUNCTION mailqueue.gauges_of_canaries()
RETURNS TABLE (name text, labels text[], value double precision)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH stages AS MATERIALIZED (
        SELECT b.provider, s.stage, s.is_late,
               coalesce(extract(epoch FROM clock_timestamp() - s.at), 'infinity')::float8 AS age
          FROM mailqueue.canary_board() AS b
         CROSS JOIN LATERAL (VALUES ('sent', b.last_sent_at, b.is_late, true),
                                    ('delivered', b.last_delivered_at, b.is_delivery_late, b.tells_deliveries))
            AS s (stage, at, is_late, is_told)
         WHERE s.is_told
    )
    SELECT 'mailqueue_canary_age_seconds', ARRAY[g.provider, g.stage], max(g.age) FROM stages AS g
     GROUP BY g.provider, g.stage
    UNION ALL
    SELECT 'mailqueue_canary_late', ARRAY[g.provider, g.stage], bool_or(g.is_late)::integer FROM stages AS g
     GROUP BY g.provider, g.stage
$$;
COMMENT ON FUNCTION mailqueue.gauges_of_canaries() IS 'Those of mailqueue.gauges() that tell of canaries.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_canaries() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    WITH board AS MATERIALIZED (
        SELECT * FROM mailqueue.canary_board()
    ), told AS (
        SELECT count(*) AS canaries,
               array_agg(format('%s of project %s since %s%s', b.sender, b.project,
                                CASE WHEN b.is_late THEN coalesce(b.last_sent_at::text, 'it was set up')
                                     ELSE coalesce(b.last_delivered_at::text, 'it was set up')
                                          || ' (sent, not delivered)' END,
                                ' (' || b.last_error || ')') ORDER BY b.project, b.sender)
                   FILTER (WHERE b.is_late OR b.is_delivery_late) AS late,
               (array_agg(b.newest_email ORDER BY b.project, b.sender)
                   FILTER (WHERE b.is_late OR b.is_delivery_late))[1] AS newest
          FROM board AS b
    ), missing AS (
        SELECT array_agg(DISTINCT a.provider ORDER BY a.provider) AS providers
          FROM mailqueue.sender_accounts AS a
         WHERE EXISTS (SELECT FROM board) AND a.provider <> 'trap' AND a.status = 'active'
           AND NOT EXISTS (SELECT FROM board AS b WHERE b.provider = a.provider)
    )
    SELECT 'canaries',
           CASE WHEN t.late IS NOT NULL THEN 'alarm' WHEN m.providers IS NOT NULL THEN 'warning' ELSE 'ok' END,
           concat_ws('; ',
               CASE WHEN t.late IS NOT NULL THEN 'no canary email by ' || mailqueue.some_words(t.late)
                    WHEN t.canaries = 0 THEN 'no canary emails are set up'
                    ELSE t.canaries || ' sender accounts send theirs' END,
               'no canary for the providers ' || mailqueue.some_words(m.providers)),
           CASE WHEN t.late IS NOT NULL
                     THEN 'see mailqueue canary list' || coalesce(' and mailqueue why ' || t.newest, '')
                WHEN m.providers IS NOT NULL THEN 'mailqueue canary set SENDER --project PROJECT --to ADDRESS' END
      FROM told AS t CROSS JOIN missing AS m
$$;
COMMENT ON FUNCTION mailqueue.health_of_canaries() IS
    'Rows of view health: canary emails that were not sent, and providers without any.';
