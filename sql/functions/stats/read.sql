-- Reading counts: of a project or of all, over spans of time between given instants.

-- Spans follow each other: p_starts has the start of each, and the end of the last. Their times are those of quarters
-- of an hour, or of minutes with p_by_minute.
CREATE OR REPLACE FUNCTION mailqueue.read_stats(p_project uuid, p_is_test boolean, p_dimension text, p_value text,
    p_starts timestamptz[], p_by_minute boolean)
RETURNS TABLE (n integer, value text, value2 text, accepted bigint, sent bigint, failed bigint, expired bigint,
               suppressed bigint, cancelled bigint, delivered bigint, soft_bounces bigint, hard_bounces bigint,
               complaints bigint, unsubscribes bigint, opens bigint, unique_opens bigint, machine_opens bigint,
               unique_machine_opens bigint, clicks bigint, unique_clicks bigint, machine_clicks bigint,
               unique_machine_clicks bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
BEGIN
    RETURN QUERY EXECUTE format($f$
        SELECT width_bucket(s.started_at, $5) AS n, s.value, s.value2,
               sum(s.accepted)::bigint, sum(s.sent)::bigint, sum(s.failed)::bigint, sum(s.expired)::bigint,
               sum(s.suppressed)::bigint, sum(s.cancelled)::bigint, sum(s.delivered)::bigint,
               sum(s.soft_bounces)::bigint, sum(s.hard_bounces)::bigint, sum(s.complaints)::bigint,
               sum(s.unsubscribes)::bigint, sum(s.opens)::bigint, sum(s.unique_opens)::bigint,
               sum(s.machine_opens)::bigint, sum(s.unique_machine_opens)::bigint, sum(s.clicks)::bigint,
               sum(s.unique_clicks)::bigint, sum(s.machine_clicks)::bigint, sum(s.unique_machine_clicks)::bigint
          FROM mailqueue.%I AS s
         WHERE s.project_id = $1 AND s.is_test = $2 AND s.dimension = $3 AND ($4 IS NULL OR s.value = $4)
           AND s.started_at >= $5[1] AND s.started_at < $5[cardinality($5)]
         GROUP BY 1, 2, 3$f$, CASE WHEN p_by_minute THEN 'stats_minutes' ELSE 'stats_quarters' END)
     USING coalesce(p_project, '00000000-0000-0000-0000-000000000000'), p_is_test, p_dimension, p_value, p_starts;
END $$;
COMMENT ON FUNCTION mailqueue.read_stats(uuid, boolean, text, text, timestamptz[], boolean) IS
    'Counts by span, from 1, and value; p_project NULL: of all projects together.';

-- The values beyond p_most, which may be very many, and those that were not named when they were counted, are summed
-- here: the answer has at most p_most + 1 rows for each span.
CREATE OR REPLACE FUNCTION mailqueue.read_series(p_project uuid, p_is_test boolean, p_dimension text, p_metric text,
    p_starts timestamptz[], p_by_minute boolean, p_most integer)
RETURNS TABLE (n integer, value text, total bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
BEGIN
    RETURN QUERY EXECUTE format($f$
        WITH counted AS MATERIALIZED (
            SELECT width_bucket(s.started_at, $4) AS n, s.value, sum(s.%1$I)::bigint AS total
              FROM mailqueue.%2$I AS s
             WHERE s.project_id = $1 AND s.is_test = $2 AND s.dimension = $3
               AND s.started_at >= $4[1] AND s.started_at < $4[cardinality($4)]
             GROUP BY 1, 2
        ), chosen AS (
            SELECT c.value FROM counted AS c WHERE c.value <> ''
             GROUP BY c.value ORDER BY sum(c.total) DESC, c.value COLLATE "C" LIMIT $5
        )
        SELECT c.n, o.value, sum(c.total)::bigint
          FROM counted AS c LEFT JOIN chosen AS o ON o.value = c.value
         GROUP BY 1, 2$f$, p_metric, CASE WHEN p_by_minute THEN 'stats_minutes' ELSE 'stats_quarters' END)
     USING coalesce(p_project, '00000000-0000-0000-0000-000000000000'), p_is_test, p_dimension, p_starts, p_most;
END $$;
COMMENT ON FUNCTION mailqueue.read_series(uuid, boolean, text, text, timestamptz[], boolean, integer) IS
    'One count by span, from 1, and value: the p_most values with the highest sums, and NULL for all others together; '
    'p_project NULL: of all projects together.';

CREATE OR REPLACE FUNCTION mailqueue.read_latency(p_project uuid, p_is_test boolean, p_from timestamptz,
    p_until timestamptz)
RETURNS TABLE (sender_account_id integer, attempts bigint, p50_ms integer, p95_ms integer, p99_ms integer)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    WITH class AS (
        SELECT l.sender_account_id, l.up_to_ms, sum(l.attempts) AS attempts
          FROM mailqueue.stats_latency AS l
         WHERE (p_project IS NULL OR l.project_id = p_project) AND l.is_test = p_is_test
           AND l.started_at >= p_from AND l.started_at < p_until
         GROUP BY 1, 2
    ), summed AS (
        SELECT c.*, sum(c.attempts) OVER (PARTITION BY c.sender_account_id ORDER BY c.up_to_ms) AS below,
               sum(c.attempts) OVER (PARTITION BY c.sender_account_id) AS total
          FROM class AS c
    )
    SELECT s.sender_account_id, max(s.total)::bigint, min(s.up_to_ms) FILTER (WHERE s.below >= 0.5 * s.total),
           min(s.up_to_ms) FILTER (WHERE s.below >= 0.95 * s.total),
           min(s.up_to_ms) FILTER (WHERE s.below >= 0.99 * s.total)
      FROM summed AS s GROUP BY s.sender_account_id
$$;
COMMENT ON FUNCTION mailqueue.read_latency(uuid, boolean, timestamptz, timestamptz) IS
    'Attempts of each sender account with the time within which half, 95 % and 99 % of the answers came, as the upper '
    'bound of its class.';

CREATE OR REPLACE FUNCTION mailqueue.stats_progress(OUT as_of timestamptz, OUT now timestamptz,
    OUT rebuilt_from timestamptz, OUT rebuilt_to timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.folded_to, clock_timestamp(), s.rebuilt_from, s.rebuilt_to FROM mailqueue.stats_state AS s
     WHERE s.name = 'all'
$$;
COMMENT ON FUNCTION mailqueue.stats_progress() IS
    'Time before which everything that was written is counted, the time now, and what is counted anew.';
