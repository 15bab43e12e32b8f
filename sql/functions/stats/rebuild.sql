-- Counting anew from what is still in history, and comparing the counts with it.

CREATE OR REPLACE FUNCTION mailqueue.stats_complete_since() RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT date_trunc('day', clock_timestamp() - make_interval(days => min(r.hot_days)), 'UTC') + interval '1 day'
      FROM mailqueue.retention_rules AS r
     WHERE r.kind IN ('email_history', 'email_events', 'send_logs', 'email_contents', 'opens_clicks')
$$;
COMMENT ON FUNCTION mailqueue.stats_complete_since() IS
    'Since when no project''s retention has removed mail or events that were counted.';

CREATE OR REPLACE FUNCTION mailqueue.rebuild_stats(p_from timestamptz, p_by text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_from timestamptz := date_trunc('day', coalesce(p_from, mailqueue.stats_complete_since()), 'UTC');
    s mailqueue.stats_state;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT o.* INTO s FROM mailqueue.stats_state AS o WHERE o.name = 'all' FOR NO KEY UPDATE;
    IF v_from < mailqueue.stats_complete_since() THEN
        PERFORM mailqueue.refuse('from', format('retention has removed mail from before %s; use a later day',
                                                mailqueue.shown(mailqueue.stats_complete_since())));
    ELSIF v_from >= s.folded_to AND s.rebuilt_from IS NULL THEN
        PERFORM mailqueue.refuse('from', format('must be before %s, up to which is counted',
                                                mailqueue.shown(s.folded_to)));
    ELSIF v_from > s.rebuilt_from THEN
        PERFORM mailqueue.refuse('from', format('counting anew from %s is not finished: wait, or begin there again',
                                                mailqueue.shown(s.rebuilt_from)));
    END IF;
    UPDATE mailqueue.stats_state AS o
       SET folded_to = v_from, horizon = v_from, open_writers = '{}', step = '1 hour', rebuilt_from = v_from,
           rebuilt_to = greatest(o.rebuilt_to, o.folded_to), is_cleared = false,
           run_at = CASE WHEN o.status = 'pending' THEN clock_timestamp() ELSE o.run_at END
     WHERE o.id = s.id;
    PERFORM mailqueue.record_operation(NULL, 'stats.rebuilt', 'stats', jsonb_build_object('from', v_from), p_by);
    RETURN v_from;
END $$;
COMMENT ON FUNCTION mailqueue.rebuild_stats(timestamptz, text) IS
    'Delete the counts from a day (UTC) on and count anew from history; NULL: from the first day that is complete '
    'there. Returns its start.';

-- Found by when it happened, not by when it was written: another way than that of counting.
CREATE OR REPLACE FUNCTION mailqueue.stats_happened(s mailqueue.stats_state, p_from timestamptz, p_until timestamptz)
RETURNS SETOF mailqueue.stats_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
DECLARE
    v_ids uuid[]; v_times timestamptz[]; v_known timestamptz[];
    v_events uuid[]; v_event_times timestamptz[];
BEGIN
    SELECT array_agg(h.id), array_agg(h.finished_at),
           array_agg(CASE h.status WHEN 'sent' THEN h.finished_at ELSE coalesce(mailqueue.uuid_time((
               SELECT max(v.id::text)::uuid FROM mailqueue.email_events AS v
                WHERE v.email_id = h.id AND v.type = h.status AND v.source IS NULL)), h.finished_at) END)
      INTO v_ids, v_times, v_known
      FROM mailqueue.email_history AS h
     WHERE h.created_at >= p_from AND h.created_at < p_until OR h.finished_at >= p_from AND h.finished_at < p_until;
    SELECT array_agg(v.id), array_agg(v.occurred_at) INTO v_events, v_event_times
      FROM mailqueue.email_events AS v
     WHERE v.occurred_at >= p_from AND v.occurred_at < p_until
       AND v.type IN ('delivered', 'soft_bounce', 'hard_bounce', 'complaint', 'unsubscribed', 'opened', 'clicked');
    RETURN QUERY
    SELECT f.* FROM mailqueue.stats_facts(v_ids, v_times, v_known, v_events, v_event_times) AS f
     WHERE f.at >= p_from AND f.at < p_until AND mailqueue.is_counted(s, f.known_at, f.at);
END $$;
COMMENT ON FUNCTION mailqueue.stats_happened(mailqueue.stats_state, timestamptz, timestamptz) IS
    'The facts of a time in history that are among the counts.';

-- Every count of the time is compared, also those that are 0 on one side. Corrections that wait belong to the counts.
CREATE OR REPLACE FUNCTION mailqueue.verify_stats(p_from timestamptz, p_until timestamptz, p_limit integer)
RETURNS TABLE (counts bigint, differences bigint, table_name text, project_id uuid, is_test boolean, dimension text,
               value text, value2 text, started_at timestamptz, metric text, counted bigint, in_history bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_from timestamptz := mailqueue.stats_quarter(p_from);
    v_until timestamptz := mailqueue.stats_quarter(p_until);
    s mailqueue.stats_state;
    v_facts mailqueue.stats_fact[];
    v_fixes mailqueue.stats_fact[];
    v_history mailqueue.stats_minutes[];
    v_waiting mailqueue.stats_minutes[];
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT o.* INTO s FROM mailqueue.stats_state AS o WHERE o.name = 'all';
    SELECT array_agg(f) INTO v_facts FROM mailqueue.stats_happened(s, v_from, v_until) AS f;
    SELECT array_agg(f) INTO v_fixes
      FROM (SELECT array_agg(c) AS rows FROM mailqueue.stats_corrections AS c) AS c
     CROSS JOIN LATERAL mailqueue.stats_fixes(c.rows) AS f
     WHERE mailqueue.is_counted(s, f.known_at, f.at) AND f.at >= v_from AND f.at < v_until;
    SELECT array_agg(r) INTO v_history FROM mailqueue.stats_rows(v_facts) AS r;
    SELECT array_agg(r) INTO v_waiting FROM mailqueue.stats_rows(v_fixes) AS r;
    RETURN QUERY
    WITH counted AS (
        SELECT 'stats_minutes' AS grain, m.* FROM mailqueue.stats_minutes AS m
         WHERE m.started_at >= v_from AND m.started_at < v_until
        UNION ALL SELECT 'stats_minutes', w.* FROM unnest(v_waiting) AS w
        UNION ALL
        SELECT 'stats_quarters', q.* FROM mailqueue.stats_quarters AS q
         WHERE q.started_at >= v_from AND q.started_at < v_until
        UNION ALL SELECT 'stats_quarters', w.* FROM unnest(v_waiting) AS w
    ), history AS (
        SELECT g.grain, h.* FROM unnest(v_history) AS h, (VALUES ('stats_minutes'), ('stats_quarters')) AS g(grain)
    ), both_sides AS (
        SELECT c.grain, true AS is_counted, c.project_id, c.is_test, c.dimension, c.value, c.value2, c.started_at,
               v.metric, v.n
          FROM counted AS c CROSS JOIN LATERAL mailqueue.stats_metrics(c.*) AS v
        UNION ALL
        SELECT h.grain, false, h.project_id, h.is_test, h.dimension, h.value, h.value2, h.started_at, v.metric, v.n
          FROM history AS h CROSS JOIN LATERAL mailqueue.stats_metrics(h.*) AS v
    ), latency AS (
        SELECT true AS is_counted, l.project_id, l.is_test, l.sender_account_id, l.started_at, l.up_to_ms, l.attempts
          FROM mailqueue.stats_latency AS l WHERE l.started_at >= v_from AND l.started_at < v_until
        UNION ALL
        SELECT false, l.project_id, m.is_test, l.sender_account_id, mailqueue.stats_quarter(l.sent_at),
               mailqueue.latency_class(l.response_ms), 1
          FROM mailqueue.send_logs AS l
         CROSS JOIN LATERAL (SELECT mailqueue.is_test_email(l.email_id) AS is_test) AS m
         WHERE l.sent_at >= v_from AND l.sent_at < v_until AND l.sent_at < s.folded_to
           AND l.response_ms IS NOT NULL AND l.sender_account_id IS NOT NULL
    ), compared AS (
        SELECT b.grain, b.project_id, b.is_test, b.dimension, b.value, b.value2,
               CASE b.grain WHEN 'stats_quarters' THEN mailqueue.stats_quarter(b.started_at)
                            ELSE b.started_at END AS at,
               b.metric, coalesce(sum(b.n) FILTER (WHERE b.is_counted), 0)::bigint AS counted,
               coalesce(sum(b.n) FILTER (WHERE NOT b.is_counted), 0)::bigint AS in_history
          FROM both_sides AS b GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        UNION ALL
        SELECT 'stats_latency', l.project_id, l.is_test, 'account', l.sender_account_id::text, l.up_to_ms::text,
               l.started_at, 'attempts', coalesce(sum(l.attempts) FILTER (WHERE l.is_counted), 0)::bigint,
               coalesce(sum(l.attempts) FILTER (WHERE NOT l.is_counted), 0)::bigint
          FROM latency AS l GROUP BY l.project_id, l.is_test, l.sender_account_id, l.up_to_ms, l.started_at
    ), totals AS (
        SELECT count(*) AS counts, count(*) FILTER (WHERE c.counted <> c.in_history) AS differences FROM compared AS c
    )
    SELECT t.counts, t.differences, d.grain, d.project_id, d.is_test, d.dimension, d.value, d.value2, d.at, d.metric,
           d.counted, d.in_history
      FROM totals AS t
      LEFT JOIN (SELECT c.* FROM compared AS c WHERE c.counted <> c.in_history
                  ORDER BY c.at, c.grain, c.project_id, c.dimension, c.value, c.value2, c.is_test, c.metric
                  LIMIT p_limit) AS d ON true;
END $$;
COMMENT ON FUNCTION mailqueue.verify_stats(timestamptz, timestamptz, integer) IS
    'Count a time in history and compare it with the counts: how many were compared, how many differ, and the first '
    'that do. Both ends are rounded down to quarters of an hour.';

CREATE OR REPLACE FUNCTION mailqueue.stats_metrics(p_row anyelement) RETURNS TABLE (metric text, n bigint)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT j.key, j.value::bigint FROM jsonb_each_text(to_jsonb(p_row)) AS j
     WHERE j.key NOT IN ('grain', 'project_id', 'is_test', 'dimension', 'value', 'value2', 'started_at')
       AND j.value <> '0'
$$;
COMMENT ON FUNCTION mailqueue.stats_metrics(anyelement) IS 'The counts of a row that are not 0, by name.';
