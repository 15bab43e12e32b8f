-- Checks of the mail flow. The cost does not depend on the number of mails: nothing here counts them all.

-- One index look-up for each lane with pending mail, whatever its size.
CREATE OR REPLACE FUNCTION mailqueue.lanes_waiting() RETURNS TABLE (lane_id integer, oldest_run_at timestamptz)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
    WITH RECURSIVE lane AS (
        (SELECT q.lane_id, q.run_at FROM mailqueue.email_queue AS q
          WHERE q.status = 'pending' ORDER BY q.lane_id, q.run_at LIMIT 1)
        UNION ALL
        SELECT n.lane_id, n.run_at FROM lane AS l CROSS JOIN LATERAL (
            SELECT q.lane_id, q.run_at FROM mailqueue.email_queue AS q
             WHERE q.status = 'pending' AND q.lane_id > l.lane_id ORDER BY q.lane_id, q.run_at LIMIT 1) AS n
    )
    SELECT l.lane_id, l.run_at FROM lane AS l
$$;
COMMENT ON FUNCTION mailqueue.lanes_waiting() IS 'Lanes with pending mail, each with the time its first mail is due.';

CREATE OR REPLACE FUNCTION mailqueue.due_of_lane(p_lane integer, p_most integer) RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
    SELECT count(*)::integer FROM (SELECT FROM mailqueue.email_queue AS q
        WHERE q.status = 'pending' AND q.lane_id = p_lane AND q.run_at <= clock_timestamp()
        ORDER BY q.run_at LIMIT p_most) AS due
$$;
COMMENT ON FUNCTION mailqueue.due_of_lane(integer, integer) IS 'Number of due mails of a lane, counted up to a bound.';

-- The BRIN index finds the last minutes; a scan would read the month from its beginning.
CREATE OR REPLACE FUNCTION mailqueue.was_sent_since(p_since timestamptz) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET jit = off
AS $$ SELECT EXISTS (SELECT FROM mailqueue.email_history AS h WHERE h.finished_at > p_since AND h.status = 'sent') $$;
COMMENT ON FUNCTION mailqueue.was_sent_since(timestamptz) IS 'Whether any mail was sent since a point in time.';

CREATE OR REPLACE FUNCTION mailqueue.span_words(p_span interval) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN s < 120 THEN trunc(s) || ' s' WHEN s < 7200 THEN trunc(s / 60) || ' min'
                WHEN s < 172800 THEN trunc(s / 3600) || ' h' ELSE trunc(s / 86400) || ' days' END
      FROM (SELECT extract(epoch FROM p_span)) AS span(s)
$$;
COMMENT ON FUNCTION mailqueue.span_words(interval) IS 'An interval as text.';

CREATE OR REPLACE FUNCTION mailqueue.some_words(p_words text[]) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT array_to_string(p_words[1:3], ', ')
           || CASE WHEN cardinality(p_words) > 3 THEN ' and ' || cardinality(p_words) - 3 || ' more' ELSE '' END
$$;
COMMENT ON FUNCTION mailqueue.some_words(text[]) IS 'The first three texts, and the number of the others.';

-- Lanes with due mail and what blocks them, computed now: the columns of a lane are as old as the last claim. why is
-- NULL for lanes that are not blocked; is_slowed is true for rates, which imply a backlog.
CREATE OR REPLACE FUNCTION mailqueue.lanes_due()
RETURNS TABLE (lane_id integer, priority smallint, project text, route text,
    project_limit integer, oldest_due_at timestamptz, why text, is_slowed boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH due AS MATERIALIZED (
        SELECT l.id, l.priority, p.name AS project,
               coalesce(nullif(coalesce(l.home_route, l.route), ''), 'default') AS route,
               l.project_limit, l.account_limits, l.domain_limit, w.oldest_run_at,
               l.blocked_reason = 'set_aside' AND l.blocked_until > clock_timestamp() AS is_aside
          FROM mailqueue.lanes_waiting() AS w
          JOIN mailqueue.lanes AS l ON l.id = w.lane_id
          JOIN mailqueue.projects AS p ON p.id = l.project_id
         WHERE w.oldest_run_at <= clock_timestamp()
    ), room AS MATERIALIZED (
        SELECT h.limit_id, h.why, h.low_opens_at, m.rate_per_second IS NOT NULL AS is_rated
          FROM mailqueue.headroom((SELECT coalesce(array_agg(DISTINCT x.id), '{}')
                                     FROM due AS d
                                    CROSS JOIN LATERAL unnest(d.account_limits
                                                              || ARRAY[0, d.project_limit, d.domain_limit])
                                       AS x(id)
                                    WHERE x.id IS NOT NULL), clock_timestamp()) AS h
          JOIN mailqueue.limits AS m ON m.id = h.limit_id
    ), accounts AS (
        SELECT d.id, CASE WHEN bool_and(r.why IS NOT NULL) THEN min(r.why) END AS why, bool_or(r.is_rated) AS is_rated
          FROM due AS d CROSS JOIN LATERAL unnest(d.account_limits) AS x(id) JOIN room AS r ON r.limit_id = x.id
         GROUP BY d.id
    )
    SELECT d.id, d.priority, d.project, d.route, d.project_limit, d.oldest_run_at,
           CASE WHEN z.since IS NOT NULL THEN 'paused'
                WHEN d.is_aside THEN 'set_aside' WHEN d.account_limits = '{}' THEN 'no_sender'
                ELSE coalesce(p.why, CASE WHEN d.priority = 3 AND p.low_opens_at IS NOT NULL THEN 'outside_window' END,
                              f.why, a.why, b.why) END,
           coalesce(p.is_rated, false) OR coalesce(f.is_rated, false) OR coalesce(a.is_rated, false)
           OR coalesce(b.is_rated, false)
      FROM due AS d
      LEFT JOIN accounts AS a ON a.id = d.id
      LEFT JOIN room AS p ON p.limit_id = d.project_limit
      LEFT JOIN room AS f ON f.limit_id = d.domain_limit
      LEFT JOIN room AS b ON b.limit_id = 0
     CROSS JOIN mailqueue.platform_pause() AS z
$$;
COMMENT ON FUNCTION mailqueue.lanes_due() IS 'Lanes with due mail, since when, and what blocks them.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_mail() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_lanes jsonb; v_projects text[];
    v_running integer; v_waiting interval; v_told text;
    v_span interval; v_count integer; v_most integer; v_traps_only boolean;
BEGIN
    -- All columns below refer to the same lanes.
    SELECT jsonb_agg(d) INTO v_lanes FROM mailqueue.lanes_due() AS d;
    SELECT count(*) INTO v_running FROM mailqueue.workers AS w
     WHERE w.kind = 'send' AND w.stopped_at IS NULL AND w.lost_at IS NULL AND NOT w.is_stopping
       AND w.drained_at IS NULL AND w.beat_at > v_now - interval '30 s';

    RETURN QUERY
    WITH lane AS MATERIALIZED (
        SELECT d.*, v_now - d.oldest_due_at AS wait
          FROM jsonb_to_recordset(v_lanes) AS d(priority smallint, project text, route text,
               oldest_due_at timestamptz, why text, is_slowed boolean)
         WHERE d.why IS NULL OR d.why IN ('hourly_limit', 'minute_limit', 'rate', 'domain_rate', 'brake')
    ), free AS (
        SELECT DISTINCT ON (l.priority) l.* FROM lane AS l WHERE l.why IS NULL AND NOT l.is_slowed
         ORDER BY l.priority, l.wait DESC
    ), slowed AS (
        SELECT DISTINCT ON (l.priority) l.* FROM lane AS l WHERE l.why IS NOT NULL OR l.is_slowed
         ORDER BY l.priority, l.wait DESC
    )
    SELECT format('oldest %s mail', c.name),
           CASE WHEN f.wait > mailqueue.system_interval('oldest_due_alarm') THEN 'alarm'
                WHEN f.wait > mailqueue.system_interval('oldest_due_warning')
                     OR s.wait > mailqueue.system_interval('oldest_due_alarm') THEN 'warning' ELSE 'ok' END,
           coalesce(nullif(concat_ws('; ',
               CASE WHEN f.wait IS NOT NULL THEN
                   format('what may go has been due for %s, in project %s, route %s', mailqueue.span_words(f.wait),
                          f.project, f.route) END,
               CASE WHEN s.wait > mailqueue.system_interval('oldest_due_warning') THEN
                   format('what a rate holds back for %s, in project %s, route %s', mailqueue.span_words(s.wait),
                          s.project, s.route) END,
               CASE WHEN c.priority = 3 THEN (
                   SELECT 'some waits for the window of project '
                          || mailqueue.some_words(array_agg(DISTINCT w.project ORDER BY w.project))
                     FROM jsonb_to_recordset(v_lanes) AS w(project text, why text)
                    WHERE w.why = 'outside_window') END),
                           ''),
               'none is due and free to go'),
           CASE WHEN f.wait > mailqueue.system_interval('oldest_due_warning') THEN
                    CASE WHEN v_running = 0 THEN 'start a worker: mailqueue worker send'
                         ELSE 'see mailqueue why ID for one of them; if workers are busy, start more' END
                WHEN s.wait > mailqueue.system_interval('oldest_due_alarm')
                     THEN 'raise the rate, or let it take its time' END
      FROM (VALUES (0, 'critical'), (1, 'high'), (2, 'normal'), (3, 'low')) AS c(priority, name)
      LEFT JOIN free AS f ON f.priority = c.priority
      LEFT JOIN slowed AS s ON s.priority = c.priority;

    -- Mail that no claim has touched: counted slightly past the threshold, for projects without a recent claim.
    v_most := mailqueue.system_number('not_moving_mails');
    v_span := mailqueue.system_interval('not_moving_after');
    SELECT array_agg(format('more than %s %s mails in project %s, route %s', v_most,
                            (ARRAY['critical', 'high', 'normal', 'low'])[d.priority + 1], d.project, d.route)
                     ORDER BY d.oldest_due_at)
      INTO v_projects
      FROM jsonb_to_recordset(v_lanes)
        AS d(lane_id integer, priority smallint, project text, route text, project_limit integer,
           oldest_due_at timestamptz, why text, is_slowed boolean)
     CROSS JOIN LATERAL (SELECT n.tokens_at FROM mailqueue.limit_counters AS n WHERE n.limit_id = d.project_limit
                          ORDER BY n.rev DESC LIMIT 1) AS n
     WHERE d.why IS NULL AND d.oldest_due_at < v_now - v_span AND n.tokens_at < v_now - v_span
       AND mailqueue.due_of_lane(d.lane_id, v_most + 1) > v_most;
    RETURN QUERY SELECT 'movement', CASE WHEN v_projects IS NULL THEN 'ok' ELSE 'alarm' END,
        CASE WHEN v_projects IS NULL THEN 'due mail is being claimed'
             ELSE format('due and not claimed for %s: %s', mailqueue.span_words(v_span),
                         mailqueue.some_words(v_projects)) END,
        CASE WHEN v_projects IS NOT NULL
                  THEN 'see mailqueue why ID for one of them, and whether workers run and reach the database' END;

    SELECT max(v_now - d.oldest_due_at) INTO v_waiting
      FROM jsonb_to_recordset(v_lanes) AS d(oldest_due_at timestamptz, why text, is_slowed boolean) WHERE d.why IS NULL;
    v_span := mailqueue.system_interval('nothing_sent_alarm');
    v_count := CASE WHEN v_waiting > v_span AND NOT mailqueue.was_sent_since(v_now - v_span) THEN 1 ELSE 0 END;
    RETURN QUERY SELECT 'sending', CASE v_count WHEN 0 THEN 'ok' ELSE 'alarm' END,
        CASE WHEN v_count > 0
                  THEN format('nothing was sent for %s, and mail that may go is due', mailqueue.span_words(v_span))
             WHEN v_waiting IS NULL THEN 'nothing waits' ELSE 'mail is being sent, or has only just become due' END,
        CASE WHEN v_count > 0
                  THEN 'see view throughput for how attempts end, and mailqueue why ID for a mail that waits' END;

    v_told := mailqueue.sending_refusal();
    RETURN QUERY SELECT 'restored database', CASE WHEN v_told IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce('no mail is sent: ' || v_told, mailqueue.last_restore_words()),
        CASE WHEN v_told IS NOT NULL
                  THEN 'stop the workers, then mailqueue restored --from TIME holds what may have been sent since; '
                       'mailqueue restored --nothing-lost if nothing was' END;

    v_told := mailqueue.platform_pause_words();
    RETURN QUERY SELECT 'paused', CASE WHEN v_told IS NULL THEN 'ok' ELSE 'warning' END,
        coalesce(v_told, 'sending is not paused as a whole'),
        CASE WHEN v_told IS NOT NULL THEN 'mailqueue resume platform, when the reason is gone' END;

    RETURN QUERY SELECT 'workers',
        CASE WHEN v_running > 0 THEN 'ok' WHEN v_waiting IS NULL THEN 'warning' ELSE 'alarm' END,
        CASE WHEN v_running = 0 THEN 'no worker is running, so no mail is sent'
             ELSE format('%s running', v_running) END,
        CASE WHEN v_running = 0 THEN 'start one with mailqueue worker send' END;

    SELECT array_agg(format('%s (%s, pid %s) holds %s', w.id, w.host, w.pid, w.assigned) ORDER BY w.id) INTO v_projects
      FROM (SELECT w.id, w.host, w.pid,
                   (SELECT count(*) FROM mailqueue.email_queue AS q
                     WHERE q.status = 'assigned' AND q.worker_id = w.id) AS assigned
              FROM mailqueue.workers AS w
             WHERE w.stopped_at IS NULL AND (w.lost_at IS NULL OR w.lost_at > v_now - interval '1 day')
               AND w.beat_at < v_now - interval '30 s') AS w WHERE w.assigned > 0;
    SELECT count(*) INTO v_count FROM mailqueue.workers AS w WHERE w.lost_at > v_now - interval '1 h';
    RETURN QUERY SELECT 'lost workers',
        CASE WHEN v_projects IS NOT NULL THEN 'alarm' WHEN v_count > 3 THEN 'warning' ELSE 'ok' END,
        coalesce('not heard of, with mail: ' || mailqueue.some_words(v_projects),
                 CASE v_count WHEN 0 THEN 'none was lost within an hour'
                              ELSE v_count || ' within an hour, and what they held went back' END),
        CASE WHEN v_projects IS NOT NULL
                  THEN 'start a worker, which gives their mail back, and look at why they stopped'
             WHEN v_count > 3 THEN 'look at the log of their host for why they die' END;

    SELECT array_agg(DISTINCT d.project ORDER BY d.project) INTO v_projects
      FROM mailqueue.lanes_waiting() AS w JOIN mailqueue.lanes AS l ON l.id = w.lane_id AND l.account_limits = '{}'
      JOIN mailqueue.projects AS p ON p.id = l.project_id CROSS JOIN LATERAL (SELECT p.name AS project) AS d;
    v_traps_only := EXISTS (SELECT FROM mailqueue.sender_accounts AS a WHERE a.provider = 'trap')
                    AND NOT EXISTS (SELECT FROM mailqueue.sender_accounts AS a WHERE a.provider <> 'trap');
    RETURN QUERY SELECT 'sender accounts', CASE WHEN v_projects IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce('mail is queued in projects without a sender account: ' || mailqueue.some_words(v_projects),
                 CASE WHEN v_traps_only THEN 'only the mail trap: no mail leaves this installation' END,
                 'every queued mail has one'),
        CASE WHEN v_projects IS NOT NULL
                  THEN format('add one with mailqueue sender add --project %s …', v_projects[1])
             WHEN v_traps_only THEN 'add one with mailqueue sender add, when mail is to leave' END;

    SELECT array_agg(format('%s/%s (%s)', p.name, a.name, coalesce(a.status_reason, m.blocked_reason))
                     ORDER BY p.name, a.name)
      INTO v_projects
      FROM mailqueue.sender_accounts AS a
      JOIN mailqueue.projects AS p ON p.id = a.project_id
      JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
     WHERE a.status = 'suspended'
        OR (m.blocked_reason IN ('suspended', 'unreachable', 'circuit', 'limited')
            AND coalesce(m.blocked_until, 'infinity') > v_now);
    RETURN QUERY SELECT 'stopped accounts', CASE WHEN v_projects IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce('suspended, unreachable or limited: ' || mailqueue.some_words(v_projects),
                 'no account is suspended, unreachable or limited'),
        CASE WHEN v_projects IS NOT NULL
                  THEN 'try them with mailqueue sender test NAME, then mailqueue sender resume NAME' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_mail() IS 'Rows of view health: the mail flow.';
