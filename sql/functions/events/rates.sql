-- Bounce and complaint rates of sender accounts, and their consequences: a warning, then a pause.
--
-- Only bounces for addresses that do not exist count, and each mail once. Bounces about our reputation are counted
-- separately: they suppress no address and pause no account.

-- Sent within the window: whole days of the account's time zone, as its limit counts them; rejections during sending
-- are not included.
CREATE OR REPLACE FUNCTION mailqueue.rates_of_sender(p_account integer, OUT since timestamptz, OUT sent bigint,
    OUT hard_bounces bigint, OUT soft_bounces bigint, OUT about_us bigint, OUT complaints bigint,
    OUT bounce_rate numeric, OUT complaint_rate numeric)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    a record;
    v_refused bigint;
BEGIN
    SELECT x.rates_from, x.rates_sent_before, x.time_zone, m.id AS limit_id INTO a
      FROM mailqueue.sender_accounts AS x JOIN mailqueue.limits AS m ON m.sender_account_id = x.id
     WHERE x.id = p_account AND x.project_id = coalesce(mailqueue.tenant(), x.project_id);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    since := greatest(date_trunc('day', clock_timestamp() - mailqueue.system_interval('rates_window'), a.time_zone),
                      a.rates_from);
    SELECT coalesce(sum(d.sent), 0) - CASE WHEN since = a.rates_from THEN a.rates_sent_before ELSE 0 END INTO sent
      FROM (
        SELECT l.day, l.sent FROM mailqueue.limit_days AS l WHERE l.limit_id = a.limit_id
        UNION ALL
        (SELECT c.day, c.sent FROM mailqueue.limit_counters AS c WHERE c.limit_id = a.limit_id ORDER BY c.rev DESC
          LIMIT 1)) AS d
     WHERE d.day >= (since AT TIME ZONE a.time_zone)::date;
    SELECT count(DISTINCT (v.email_id, lower(v.recipient_email))) FILTER (WHERE v.type = 'hard_bounce'),
           count(*) FILTER (WHERE v.type = 'soft_bounce' AND v.data ->> 'is_about_us' IS NULL),
           count(*) FILTER (WHERE v.type = 'soft_bounce' AND v.data ->> 'is_about_us' IS NOT NULL),
           count(DISTINCT (v.email_id, lower(v.recipient_email))) FILTER (WHERE v.type = 'complaint'),
           count(*) FILTER (WHERE v.type = 'hard_bounce' AND v.source IS NULL)
      INTO hard_bounces, soft_bounces, about_us, complaints, v_refused
      FROM mailqueue.email_events AS v
     WHERE v.sender_account_id = p_account AND v.type IN ('hard_bounce', 'soft_bounce', 'complaint')
       AND v.occurred_at >= since;
    sent := greatest(sent, 0) + v_refused;
    bounce_rate := round(100.0 * hard_bounces / greatest(sent, hard_bounces, 1), 2);
    complaint_rate := round(100.0 * complaints / greatest(sent, complaints, 1), 3);
END $$;
COMMENT ON FUNCTION mailqueue.rates_of_sender(integer) IS
    'Mail that a sender account sent within the window of rates, its bounces and complaints, and their percentages.';

CREATE OR REPLACE FUNCTION mailqueue.watch_rates() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_accounts integer[];
    v_paused integer := 0;
    v_account integer;
BEGIN
    WITH seen AS (
        DELETE FROM mailqueue.rate_signals AS s
         WHERE s.ctid = ANY (ARRAY(SELECT o.ctid FROM mailqueue.rate_signals AS o LIMIT 10000 FOR UPDATE SKIP LOCKED))
        RETURNING s.sender_account_id
    )
    SELECT array_agg(DISTINCT s.sender_account_id ORDER BY s.sender_account_id) INTO v_accounts FROM seen AS s;
    -- All of them before the lanes that a pause locks.
    PERFORM FROM mailqueue.sender_accounts AS a WHERE a.id = ANY (v_accounts) ORDER BY a.id FOR NO KEY UPDATE;
    FOREACH v_account IN ARRAY coalesce(v_accounts, '{}') LOOP
        v_paused := v_paused + mailqueue.judge_rates(v_account)::integer;
    END LOOP;
    RETURN v_paused;
END $$;
COMMENT ON FUNCTION mailqueue.watch_rates() IS
    'Check the rates of accounts with bounces or complaints, and pause accounts above their thresholds; returns the '
    'number paused. Workers call it every few seconds.';

CREATE OR REPLACE FUNCTION mailqueue.judge_rates(p_account integer) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    a record;
    r record;
    v_words text;
    v_kind text;
    v_state text;
BEGIN
    SELECT * INTO a FROM mailqueue.sender_accounts AS x WHERE x.id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT * INTO r FROM mailqueue.rates_of_sender(p_account) AS x;
    SELECT j.state, j.kind, j.words INTO v_state, v_kind, v_words
      FROM mailqueue.rate_words(a.bounce_warn, a.bounce_pause, a.complaint_warn, a.complaint_pause,
        r.sent, r.hard_bounces, r.complaints, r.bounce_rate, r.complaint_rate) AS j;
    IF v_state = 'ok' THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.notices (project_id, kind, sender_account_id, told)
    SELECT a.project_id, v_kind, a.id, v_words
     WHERE NOT EXISTS (SELECT FROM mailqueue.notices AS n
                        WHERE n.project_id = a.project_id AND n.kind = v_kind AND n.sender_account_id = a.id
                          AND n.noticed_at >= r.since
                          AND (v_state = 'warning' OR n.told LIKE 'too many%'));
    IF v_state = 'warning' OR a.status <> 'active' THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.sender_accounts AS x
       SET status = 'paused', status_reason = v_words, status_until = NULL, paused_by = 'mailqueue', updated_at = now()
     WHERE x.id = a.id;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (a.project_id, 'mailqueue', 'sender.paused_for_rates', 'sender ' || a.name,
            jsonb_build_object('reason', v_words, 'sent', r.sent, 'hard_bounces', r.hard_bounces, 'complaints',
                               r.complaints, 'since', r.since));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.judge_rates(integer) IS
    'Compare the rates of an account with its thresholds: write a notice for its project, and pause it; true if it '
    'was paused.';

CREATE OR REPLACE FUNCTION mailqueue.rate_words(p_bounce_warn numeric, p_bounce_pause numeric, p_complaint_warn numeric,
    p_complaint_pause numeric, p_sent bigint, p_bounces bigint, p_complaints bigint, p_bounce_rate numeric,
    p_complaint_rate numeric, OUT state text, OUT kind text, OUT words text)
LANGUAGE sql STABLE SECURITY DEFINER                         -- for views whose readers cannot read settings
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(w.state, 'ok'), w.kind, w.words
      FROM (SELECT 1) AS one LEFT JOIN LATERAL (
          SELECT c.state, c.kind, c.words FROM (VALUES
              (1, 'pause', 'complaint_rate', p_complaint_rate >= p_complaint_pause AND p_complaint_pause > 0,
               format('too many complaints: %s%% of %s, it is paused at %s%%', p_complaint_rate, p_sent,
                      p_complaint_pause)),
              (2, 'pause', 'bounce_rate', p_bounce_rate >= p_bounce_pause AND p_bounce_pause > 0,
               format('too many bounces: %s%% of %s, it is paused at %s%%', p_bounce_rate, p_sent, p_bounce_pause)),
              (3, 'warning', 'complaint_rate', p_complaint_rate >= p_complaint_warn AND p_complaint_warn > 0,
               format('many complaints: %s%% of %s', p_complaint_rate, p_sent)),
              (4, 'warning', 'bounce_rate', p_bounce_rate >= p_bounce_warn AND p_bounce_warn > 0,
               format('many bounces: %s%% of %s', p_bounce_rate, p_sent))
          ) AS c(n, state, kind, holds, words)
           WHERE c.holds AND p_sent >= mailqueue.system_number('min_sent_for_rates')
             AND CASE c.kind WHEN 'bounce_rate' THEN p_bounces ELSE p_complaints END > 0
           ORDER BY c.n LIMIT 1) AS w ON true
$$;
COMMENT ON FUNCTION mailqueue.rate_words(numeric, numeric, numeric, numeric, bigint, bigint, bigint, numeric,
                                         numeric) IS
    'State of rates by their thresholds: ok, warning or pause, with a text. Accounts below the minimum volume are '
    'always ok.';

CREATE OR REPLACE FUNCTION mailqueue.reset_sender_rates() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.rates_from := clock_timestamp();
    NEW.rates_sent_before := coalesce((
        SELECT CASE WHEN c.day = (clock_timestamp() AT TIME ZONE NEW.time_zone)::date THEN c.sent ELSE 0 END
          FROM mailqueue.limits AS m JOIN mailqueue.limit_counters AS c ON c.limit_id = m.id
         WHERE m.sender_account_id = NEW.id ORDER BY c.rev DESC LIMIT 1), 0);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.reset_sender_rates() IS
    'BEFORE UPDATE that resumes an account paused for its rates: restarts their window.';

-- Triggers keep their names, which give their order.
CREATE OR REPLACE TRIGGER sender_rates_anew BEFORE UPDATE OF status ON mailqueue.sender_accounts
    FOR EACH ROW WHEN (OLD.status = 'paused' AND NEW.status = 'active'
                       AND OLD.status_reason LIKE 'too many %: %, it is paused at %')
    EXECUTE FUNCTION mailqueue.reset_sender_rates();

-- When a suppression is removed, earlier soft bounces no longer count.
CREATE OR REPLACE FUNCTION mailqueue.reset_soft_bounces() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.bounce_list AS b SET soft_from = clock_timestamp()
     WHERE b.project_id = OLD.project_id AND b.email = OLD.address;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.reset_soft_bounces() IS
    'AFTER DELETE of a suppression for soft bounces: restarts their count.';

CREATE OR REPLACE TRIGGER soft_bounces_anew AFTER DELETE ON mailqueue.suppressions
    FOR EACH ROW WHEN (OLD.reason = 'soft_bounce_threshold') EXECUTE FUNCTION mailqueue.reset_soft_bounces();
