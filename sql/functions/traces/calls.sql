-- Exporting calls of webhooks as spans. A call is logged with its outcome, up to minutes after it was made, so that no
-- time separates new ones: those that are made while traces are exported are marked. See record_webhook_calls().

-- For two days after the last export, so that a collector that was down misses none.
CREATE OR REPLACE FUNCTION mailqueue.are_calls_traced() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN EXISTS (SELECT FROM mailqueue.trace_export AS x
                WHERE x.name = 'all' AND x.exported_to > clock_timestamp() - interval '2 days');
COMMENT ON FUNCTION mailqueue.are_calls_traced() IS
    'Whether calls of webhooks are marked for the export of their spans.';

-- Of a call whose spans are not exported, accepted_at is NULL: its email is not sampled, or no longer stored.
CREATE OR REPLACE FUNCTION mailqueue.read_traced_calls(p_ratio double precision, p_max_age interval, p_limit integer)
RETURNS TABLE (delivery_id uuid, tried_at timestamptz, attempt smallint, status_code smallint, is_error boolean,
               took_ms integer, webhook_id uuid, url text, event_id uuid, type text, is_told boolean, email_id uuid,
               project_id uuid, is_test boolean, accepted_at timestamptz, traceparent text, is_old boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    SELECT c.delivery_id, c.tried_at, c.attempt, c.status_code, c.is_error, c.took_ms, c.webhook_id, w.url, d.event_id,
           d.type, EXISTS (SELECT FROM mailqueue.email_events AS e WHERE e.id = d.event_id), v.email_id, c.project_id,
           d.is_test, m.created_at, left(m.traceparent, 200), c.tried_at < clock_timestamp() - p_max_age
      FROM (SELECT a.delivery_id, a.tried_at, a.attempt, a.status_code, a.error IS NOT NULL AS is_error, a.took_ms,
                   a.webhook_id, a.project_id
              FROM mailqueue.webhook_attempts AS a WHERE a.awaits_trace ORDER BY a.tried_at LIMIT p_limit) AS c
      LEFT JOIN mailqueue.webhook_deliveries AS d ON d.id = c.delivery_id
      LEFT JOIN mailqueue.webhook_events AS v ON v.id = d.event_id
      LEFT JOIN mailqueue.webhooks AS w ON w.id = c.webhook_id
      LEFT JOIN LATERAL (
            SELECT h.created_at, h.custom_data ->> 'traceparent' AS traceparent
              FROM mailqueue.email_history AS h WHERE h.id = v.email_id
            UNION ALL
            SELECT q.created_at, q.custom_data ->> 'traceparent'
              FROM mailqueue.email_queue AS q WHERE q.id = v.email_id LIMIT 1) AS m
        ON mailqueue.is_traced(v.email_id, m.traceparent, p_ratio)
     ORDER BY c.tried_at
$$;
COMMENT ON FUNCTION mailqueue.read_traced_calls(double precision, interval, integer) IS
    'The oldest calls of webhooks that wait for their export, with what their emails say; no address and no content.';

CREATE OR REPLACE FUNCTION mailqueue.end_traced_calls(p_deliveries uuid[], p_times timestamptz[]) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    UPDATE mailqueue.webhook_attempts AS a SET awaits_trace = NULL
      FROM unnest(p_deliveries, p_times) AS i(delivery_id, tried_at)
     WHERE a.delivery_id = i.delivery_id AND a.tried_at = i.tried_at AND a.awaits_trace
$$;
COMMENT ON FUNCTION mailqueue.end_traced_calls(uuid[], timestamptz[]) IS
    'Write that the spans of calls are exported. The arrays are of one length.';
