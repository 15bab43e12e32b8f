-- Views of administrators over all projects. Functions with their owner's rights: the login of the API may call them,
-- but not in a transaction that acts for a project.

-- The smallest id that uuidv7() returns from a point in time on.
CREATE OR REPLACE FUNCTION mailqueue.first_id_since(p_at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT encode(substring(int8send(floor(extract(epoch FROM greatest(p_at, '1970-01-01 00:00+00'))
                                           * 1000)::bigint) FROM 3)
                  || '\x70008000000000000000',
                  'hex')::uuid
$$;
COMMENT ON FUNCTION mailqueue.first_id_since(timestamptz) IS
    'Smallest id that uuidv7() returns from a point in time on: a bound for ranges of ids.';

CREATE OR REPLACE FUNCTION mailqueue.project_today(p_project uuid)
RETURNS TABLE (day date, daily_limit integer, sent integer, reserved integer, headroom integer, rate_per_second numeric,
               bounces integer, errors integer, blocked_reason text, blocked_until timestamptz, next_day_at timestamptz,
               pending bigint, assigned bigint, held bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        SELECT r.today, m.daily_limit, r.sent, r.reserved,
               CASE WHEN m.daily_limit IS NOT NULL THEN greatest(0, m.daily_limit - r.sent - r.reserved) END,
               p.rate_per_second, CASE WHEN n.day = r.today THEN n.bounces ELSE 0 END,
               CASE WHEN n.day = r.today THEN n.errors ELSE 0 END,
               r.why, nullif(r.until, 'infinity'), (r.today + 1)::timestamp AT TIME ZONE m.time_zone, q.pending,
               q.assigned, q.held
          FROM mailqueue.limits AS m
          JOIN mailqueue.projects AS p ON p.id = m.project_id
         CROSS JOIN LATERAL mailqueue.headroom_now(m.id) AS r
         CROSS JOIN LATERAL (SELECT c.* FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id ORDER BY c.rev DESC
                              LIMIT 1) AS n
         CROSS JOIN LATERAL (
             SELECT (SELECT count(*) FROM mailqueue.lanes AS l
                       JOIN mailqueue.email_queue AS o ON o.lane_id = l.id AND o.status = 'pending'
                      WHERE l.project_id = p_project) AS pending,
                    (SELECT count(*) FROM mailqueue.email_queue AS o
                      WHERE o.status = 'assigned' AND o.project_id = p_project) AS assigned,
                    (SELECT count(*) FROM mailqueue.email_queue AS o
                      WHERE o.status = 'held' AND o.project_id = p_project) AS held) AS q
         WHERE m.project_id = p_project AND m.sender_account_id IS NULL;
END $$;
COMMENT ON FUNCTION mailqueue.project_today(uuid) IS
    'What a project sent today and may still send, and what is in its queue. Limits count recipients, the queue '
    'counts mails; the day is that of the project''s time zone.';

-- Accounts count what they sent, day by day; nothing else knows it without reading the history.
CREATE OR REPLACE FUNCTION mailqueue.has_sent(p_project uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN EXISTS (
        SELECT FROM mailqueue.sender_accounts AS a JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
         WHERE a.provider <> 'trap' AND (p_project IS NULL OR a.project_id = p_project)
           AND (EXISTS (SELECT FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id AND c.sent > 0)
                OR EXISTS (SELECT FROM mailqueue.limit_days AS d WHERE d.limit_id = m.id AND d.sent > 0)));
END $$;
COMMENT ON FUNCTION mailqueue.has_sent(uuid) IS
    'Whether a sender account of a project (NULL: of any) has ever sent mail; the mail trap does not count.';

-- Days of UTC: accepted mail by day of acceptance, outcomes by day of outcome.
CREATE OR REPLACE FUNCTION mailqueue.project_days(p_project uuid, p_days integer)
RETURNS TABLE (day date, accepted bigint, sent bigint, failed bigint, suppressed bigint, expired bigint,
               cancelled bigint, delivered bigint, hard_bounces bigint, soft_bounces bigint, complaints bigint,
               opened bigint, clicked bigint, unsubscribed bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        WITH span AS MATERIALIZED (
            SELECT (now() AT TIME ZONE 'UTC')::date - p_days + 1 AS first,
                   ((now() AT TIME ZONE 'UTC')::date - p_days + 1)::timestamp AT TIME ZONE 'UTC' AS since
        ), counted AS (
            SELECT d.day, 'accepted' AS what, d.emails FROM mailqueue.accepted_days AS d, span
             WHERE d.project_id = p_project AND d.day >= span.first
            UNION ALL
            SELECT s.accepted_on, 'accepted', s.emails FROM mailqueue.lane_signals AS s
              JOIN mailqueue.lanes AS l ON l.id = s.lane_id, span
             WHERE l.project_id = p_project AND s.emails > 0 AND s.accepted_on >= span.first
            UNION ALL
            SELECT (h.finished_at AT TIME ZONE 'UTC')::date, h.status, count(*) FROM mailqueue.email_history AS h
             WHERE h.project_id = p_project
               AND h.finished_at >= ((now() AT TIME ZONE 'UTC')::date - p_days + 1)::timestamp AT TIME ZONE 'UTC'
             GROUP BY 1, 2
            UNION ALL
            SELECT (e.occurred_at AT TIME ZONE 'UTC')::date, 'event ' || e.type, count(*)
              FROM mailqueue.email_events AS e, span
             WHERE e.project_id = p_project AND e.id >= mailqueue.first_id_since(span.since)
               AND e.occurred_at >= span.since
             GROUP BY 1, 2
        )
        SELECT g.day::date, coalesce(sum(c.emails) FILTER (WHERE c.what = 'accepted'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'sent'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'failed'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'suppressed'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'expired'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'cancelled'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event delivered'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event hard_bounce'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event soft_bounce'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event complaint'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event opened'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event clicked'), 0)::bigint,
               coalesce(sum(c.emails) FILTER (WHERE c.what = 'event unsubscribed'), 0)::bigint
          FROM span
         CROSS JOIN LATERAL generate_series(span.first::timestamp, now() AT TIME ZONE 'UTC', '1 day') AS g(day)
          LEFT JOIN counted AS c ON c.day = g.day::date
         GROUP BY g.day ORDER BY g.day;
END $$;
COMMENT ON FUNCTION mailqueue.project_days(uuid, integer) IS
    'Mail of a project on each of the last days (UTC), today last: accepted mail by day of acceptance, outcomes by '
    'day of outcome.';

-- Two logs, each in its own order; the caller merges them by time and passes the position of each for the next page.
CREATE OR REPLACE FUNCTION mailqueue.search_events(p_project uuid, p_type text, p_address text, p_since timestamptz,
    p_until timestamptz, p_before_event uuid, p_before_attempt bigint, p_most integer)
RETURNS TABLE (source text, event_id uuid, attempt_id bigint, occurred_at timestamptz, type text, project text,
               email_id uuid, recipient text, sender text, detail text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_mails uuid[];
    v_address text[] := mailqueue.address_spellings(p_address);
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM mailqueue.check_tenant(p_project);
    IF p_address IS NOT NULL THEN
        v_mails := ARRAY(
            SELECT h.id FROM mailqueue.email_history AS h WHERE lower(h.recipient_email) = ANY (v_address)
            UNION SELECT r.email_id FROM mailqueue.email_recipients AS r WHERE lower(r.address) = ANY (v_address)
            UNION SELECT q.id FROM mailqueue.email_queue AS q WHERE lower(q.recipient_email) = ANY (v_address));
    END IF;
    RETURN QUERY
        SELECT 'event', e.id, NULL::bigint, e.occurred_at, e.type, p.name, e.email_id, e.recipient_email, a.name,
               e.detail
          FROM mailqueue.email_events AS e
          LEFT JOIN mailqueue.projects AS p ON p.id = e.project_id
          LEFT JOIN mailqueue.sender_accounts AS a ON a.id = e.sender_account_id
         WHERE e.id < coalesce(p_before_event, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND e.occurred_at >= p_since
           AND e.occurred_at < p_until
           AND (p_project IS NULL OR e.project_id = p_project) AND (p_type IS NULL OR e.type = p_type)
           AND (v_mails IS NULL
                OR e.email_id = ANY (v_mails) AND coalesce(lower(e.recipient_email) = ANY (v_address), true))
         ORDER BY e.id DESC LIMIT p_most;
    RETURN QUERY
        SELECT 'attempt', NULL::uuid, l.id, l.sent_at, l.status, p.name, l.email_id, l.recipient_email, a.name,
               nullif(concat_ws(' ', l.error_code, l.enhanced_code, l.reply), '')
          FROM mailqueue.send_logs AS l
          LEFT JOIN mailqueue.projects AS p ON p.id = l.project_id
          LEFT JOIN mailqueue.sender_accounts AS a ON a.id = l.sender_account_id
         WHERE l.id < coalesce(p_before_attempt, 9223372036854775807) AND l.sent_at >= p_since AND l.sent_at < p_until
           AND (p_project IS NULL OR l.project_id = p_project) AND (p_type IS NULL OR l.status = p_type)
           AND (v_mails IS NULL OR l.email_id = ANY (v_mails))
         ORDER BY l.id DESC LIMIT p_most;
END $$;
COMMENT ON FUNCTION mailqueue.search_events(uuid, text, text, timestamptz, timestamptz, uuid, bigint, integer) IS
    'Events and attempts of all projects, each newest first, with a limit for each.';

CREATE OR REPLACE FUNCTION mailqueue.queue_board()
RETURNS TABLE (project text, priority smallint, route text, pending bigint, due bigint, assigned bigint, held bigint,
               oldest_due_at timestamptz, blocked_reason text, blocked_until timestamptz, is_estimate boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.name, l.priority, coalesce(nullif(coalesce(l.home_route, l.route), ''), 'default'), d.pending, d.due,
           d.assigned, d.held, d.oldest_due_at,
           CASE WHEN d.due > 0 AND l.blocked_reason NOT IN ('empty', 'not_due', 'recheck') THEN l.blocked_reason END,
           CASE WHEN d.due > 0 AND l.blocked_reason NOT IN ('empty', 'not_due', 'recheck')
                     THEN nullif(l.blocked_until, 'infinity') END,
           d.is_estimate
      FROM mailqueue.lane_depths() AS d
      JOIN mailqueue.lanes AS l ON l.id = d.lane_id
      JOIN mailqueue.projects AS p ON p.id = l.project_id
     WHERE mailqueue.tenant() IS NULL
     ORDER BY l.priority, p.name, l.route
$$;
COMMENT ON FUNCTION mailqueue.queue_board() IS
    'Unfinished mail of each lane of all projects, most urgent first, with the reason if it is blocked.';

CREATE OR REPLACE FUNCTION mailqueue.outcome_board() RETURNS TABLE (status text, emails bigint, is_estimate boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.status, s.emails, s.is_estimate FROM mailqueue.emails_by_status() AS s WHERE mailqueue.tenant() IS NULL
$$;
COMMENT ON FUNCTION mailqueue.outcome_board() IS 'Number of mails of all projects in each status.';

-- Attempts of the last hour, found by the BRIN index however long the log is.
CREATE OR REPLACE FUNCTION mailqueue.flow_board()
RETURNS TABLE (minutes integer, sent bigint, deferred bigint, bounced bigint, failed bigint,
               sent_per_second double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET jit = off
AS $$
    WITH ended AS (
        SELECT CASE WHEN l.sent_at > now() - interval '1 min' THEN 1 WHEN l.sent_at > now() - interval '5 min' THEN 5
                    ELSE 60 END AS within,
               CASE WHEN l.status IN ('rejected', 'unknown') THEN 'failed' ELSE l.status END AS status,
               count(*) AS attempts
          FROM mailqueue.send_logs AS l WHERE l.sent_at > now() - interval '60 min' GROUP BY 1, 2
    )
    SELECT m.minutes, coalesce(sum(e.attempts) FILTER (WHERE e.status = 'sent'), 0)::bigint,
           coalesce(sum(e.attempts) FILTER (WHERE e.status = 'deferred'), 0)::bigint,
           coalesce(sum(e.attempts) FILTER (WHERE e.status = 'bounced'), 0)::bigint,
           coalesce(sum(e.attempts) FILTER (WHERE e.status = 'failed'), 0)::bigint,
           coalesce(sum(e.attempts) FILTER (WHERE e.status = 'sent'), 0)::float8 / (m.minutes * 60)
      FROM unnest('{1,5,60}'::integer[]) AS m(minutes) LEFT JOIN ended AS e ON e.within <= m.minutes
     WHERE mailqueue.tenant() IS NULL
     GROUP BY m.minutes ORDER BY m.minutes
$$;
COMMENT ON FUNCTION mailqueue.flow_board() IS
    'How attempts of all projects ended in the last 1, 5 and 60 minutes, and mails sent a second.';

CREATE OR REPLACE FUNCTION mailqueue.provider_board()
RETURNS TABLE (project text, sender text, provider text, status text, status_reason text, circuit text,
               circuit_since timestamptz, next_probe_at timestamptz, recent_failures bigint, recent_sent bigint,
               failures jsonb, last_errors text[], last_failed_at timestamptz,
               recommendation text, daily_sent integer, daily_limit integer, headroom integer, blocked_reason text,
               blocked_until timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.project, s.sender, s.provider, h.status, s.status_reason, s.circuit, s.circuit_since, s.next_probe_at,
           s.recent_failures::bigint, s.recent_sent::bigint, s.failures, s.last_errors, s.last_failed_at,
           s.recommendation, h.daily_sent, h.daily_limit, h.headroom, h.blocked_reason, h.blocked_until
      FROM mailqueue.sender_health AS s
      JOIN mailqueue.sender_headroom AS h ON h.sender_account_id = s.sender_account_id
     WHERE mailqueue.tenant() IS NULL
     ORDER BY s.recommendation = 'nothing to do', s.project, s.sender
$$;
COMMENT ON FUNCTION mailqueue.provider_board() IS
    'State of each sender account of all projects; accounts that need attention come first.';

CREATE OR REPLACE FUNCTION mailqueue.health_board() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT h.name, h.state, h.found, h.fix FROM mailqueue.health AS h WHERE mailqueue.tenant() IS NULL $$;
COMMENT ON FUNCTION mailqueue.health_board() IS 'Result of each check of the installation.';

-- Found by the BRIN index: the cost is the attempts of the span, however long the log is.
CREATE OR REPLACE FUNCTION mailqueue.traffic_board(p_since timestamptz, p_until timestamptz)
RETURNS TABLE (minute timestamptz, project_id uuid, sent bigint, deferred bigint, bounced bigint, failed bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET jit = off
AS $$
    SELECT date_trunc('minute', l.sent_at, 'UTC'), l.project_id, count(*) FILTER (WHERE l.status = 'sent'),
           count(*) FILTER (WHERE l.status = 'deferred'), count(*) FILTER (WHERE l.status = 'bounced'),
           count(*) FILTER (WHERE l.status IN ('failed', 'rejected', 'unknown'))
      FROM mailqueue.send_logs AS l
     WHERE l.sent_at >= p_since AND l.sent_at < p_until AND mailqueue.tenant() IS NULL
     GROUP BY 1, 2
$$;
COMMENT ON FUNCTION mailqueue.traffic_board(timestamptz, timestamptz) IS
    'How the attempts of a span ended, by minute and project.';

CREATE OR REPLACE FUNCTION mailqueue.account_board(p_since timestamptz)
RETURNS TABLE (project text, sender text, provider text, attempts bigint, sent bigint, deferred bigint, bounced bigint,
               failed bigint, median_ms integer, p95_ms integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_indexscan = off SET jit = off
AS $$
    SELECT p.name, a.name, a.provider, t.attempts, t.sent, t.deferred, t.bounced, t.failed, t.median_ms, t.p95_ms
      FROM (SELECT l.sender_account_id, count(*) AS attempts, count(*) FILTER (WHERE l.status = 'sent') AS sent,
                   count(*) FILTER (WHERE l.status = 'deferred') AS deferred,
                   count(*) FILTER (WHERE l.status = 'bounced') AS bounced,
                   count(*) FILTER (WHERE l.status IN ('failed', 'rejected', 'unknown')) AS failed,
                   percentile_disc(0.5) WITHIN GROUP (ORDER BY l.response_ms) AS median_ms,
                   percentile_disc(0.95) WITHIN GROUP (ORDER BY l.response_ms) AS p95_ms
              FROM mailqueue.send_logs AS l
             WHERE l.sent_at >= p_since AND l.sender_account_id IS NOT NULL AND mailqueue.tenant() IS NULL
             GROUP BY l.sender_account_id) AS t
      JOIN mailqueue.sender_accounts AS a ON a.id = t.sender_account_id
      JOIN mailqueue.projects AS p ON p.id = a.project_id
     ORDER BY t.p95_ms DESC NULLS LAST, p.name, a.name
$$;
COMMENT ON FUNCTION mailqueue.account_board(timestamptz) IS
    'Attempts of each sender account since a time: how they ended, and how long servers took in milliseconds; the '
    'slowest account first.';
