-- Signs that spans of traces are not exported. Once nothing was exported for a day, traces count as turned off.

CREATE OR REPLACE FUNCTION mailqueue.gauges_of_traces()
RETURNS TABLE (name text, labels text[], value double precision)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 'mailqueue_trace_spans', ARRAY[r.result], r.spans::float8
      FROM mailqueue.trace_export AS x
     CROSS JOIN LATERAL (VALUES ('exported', x.spans), ('left_out', x.left_out)) AS r (result, spans)
    UNION ALL
    SELECT 'mailqueue_trace_age_seconds', '{}', extract(epoch FROM clock_timestamp() - x.exported_to)::float8
      FROM mailqueue.trace_export AS x
     WHERE x.exported_to > clock_timestamp() - interval '1 day' OR x.lease_until > clock_timestamp() - interval '5 min'
$$;
COMMENT ON FUNCTION mailqueue.gauges_of_traces() IS 'Those of mailqueue.gauges() that tell of the export of traces.';

-- That no process exports is told by the check of services: see need_of_traces(). The position moves without mail too.
CREATE OR REPLACE FUNCTION mailqueue.health_of_traces() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH export AS (
        SELECT date_trunc('second', x.exported_to) AS since, x.last_error, x.open_writers <> '{}' AS is_blocked,
               x.lease_until > clock_timestamp() - interval '5 min' AS is_running,
               x.exported_to < clock_timestamp() - interval '10 min' AS is_late
          FROM mailqueue.trace_export AS x
    )
    SELECT 'traces', CASE WHEN e.is_running AND e.is_late THEN 'warning' ELSE 'ok' END,
           CASE WHEN e.since IS NULL THEN 'no traces were exported'
                WHEN e.is_running AND e.is_late THEN format('traces wait since %s: %s', e.since,
                     coalesce(e.last_error, CASE WHEN e.is_blocked THEN 'a transaction that writes mail is open'
                                                 ELSE 'more is written than is exported' END))
                ELSE format('traces were exported up to %s', e.since) END,
           CASE WHEN (e.is_running AND e.is_late) IS NOT TRUE THEN NULL
                WHEN e.last_error IS NOT NULL
                THEN 'see whether the collector of MAILQUEUE_TRACES_URL runs; after a day traces are left out'
                WHEN e.is_blocked THEN 'SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start LIMIT 3'
                ELSE 'lower MAILQUEUE_TRACES_RATIO' END
      FROM (SELECT) AS one LEFT JOIN export AS e ON true
$$;
COMMENT ON FUNCTION mailqueue.health_of_traces() IS
    'Rows of view health: a collector that has not taken the spans of traces for more than ten minutes.';
