-- Exporting attempts and events as spans of traces, up to a horizon below which nothing is committed any more: see
-- decisions 0070 and 0091. No statement on the path of mail knows of it.

-- The flag "sampled" of a context that was handed in decides; without a context, the ratio does, by random bits of the
-- id. A context of another form is none: see mailqueue/core/trace_context.py.
CREATE OR REPLACE FUNCTION mailqueue.is_traced(p_id uuid, p_traceparent text, p_ratio double precision) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN length(p_traceparent) BETWEEN 55 AND 200
                     AND p_traceparent ~ ('^(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-'
                                          '[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?)$')
                     AND substr(p_traceparent, 4, 32) ~ '[^0]' AND substr(p_traceparent, 37, 16) ~ '[^0]'
                THEN substr(p_traceparent, 55, 1) ~ '[13579bdf]'
                ELSE ('x' || right(p_id::text, 8))::bit(32)::bigint < p_ratio * 4294967296 END
$$;
COMMENT ON FUNCTION mailqueue.is_traced(uuid, text, double precision) IS
    'Whether the spans of an email are exported.';

-- Another process takes the row when the lease is over. A row that is older than p_max_age when a process begins is
-- from a time at which nothing was exported: it begins at that age.
-- State: held (by another process), waiting (for open writers), ready (there may be something to export).
CREATE OR REPLACE FUNCTION mailqueue.begin_trace_page(p_holder uuid, p_lease interval, p_max_age interval,
    p_is_start boolean, OUT state text, OUT exported_to timestamptz, OUT after_key text, OUT until timestamptz,
    OUT is_old boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    c_window CONSTANT interval := '1 min';                   -- of which a page is at most
    v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
    t mailqueue.trace_export;
BEGIN
    INSERT INTO mailqueue.trace_export (exported_to, horizon)
    SELECT v_now, v_now WHERE NOT EXISTS (SELECT FROM mailqueue.trace_export)
    ON CONFLICT DO NOTHING;
    SELECT x.* INTO t FROM mailqueue.trace_export AS x
     WHERE x.holder IS NULL OR x.holder = p_holder OR x.lease_until < v_now FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        state := 'held';
        RETURN;
    END IF;
    IF p_is_start AND t.exported_to < v_now - p_max_age THEN
        t.exported_to := v_now - p_max_age;
        t.after_key := '';
    END IF;
    IF t.horizon > t.exported_to AND t.open_writers <> '{}' THEN
        t.open_writers := ARRAY(SELECT o FROM unnest(mailqueue.stats_writers()) AS o
                                 WHERE o = ANY (t.open_writers) OR o LIKE '-1/%');
    ELSIF t.horizon <= t.exported_to THEN
        t.horizon := greatest(v_now, t.horizon);
        t.open_writers := mailqueue.stats_writers();
    END IF;
    UPDATE mailqueue.trace_export AS x
       SET holder = p_holder, lease_until = clock_timestamp() + p_lease, exported_to = t.exported_to,
           after_key = t.after_key, horizon = t.horizon, open_writers = t.open_writers
     WHERE x.name = t.name;
    exported_to := t.exported_to;
    after_key := t.after_key;
    until := least(t.horizon, date_trunc('milliseconds', t.exported_to + c_window));
    is_old := until < v_now - p_max_age;
    state := CASE WHEN t.open_writers <> '{}' OR t.horizon <= t.exported_to THEN 'waiting' ELSE 'ready' END;
END $$;
COMMENT ON FUNCTION mailqueue.begin_trace_page(uuid, interval, interval, boolean) IS
    'Take or keep the right to export, and say what is exported next.';

-- Events have the millisecond of their id. Custom data of attempts has no template variables, and none beyond 2,000
-- characters; that of events is read from the email.
CREATE OR REPLACE FUNCTION mailqueue.traced_steps(p_from timestamptz, p_after text, p_until timestamptz,
    p_ratio double precision, p_limit integer)
RETURNS TABLE (at timestamptz, key text, email_id uuid, account_id integer, attempt smallint, status text, code text,
               enhanced text, response_ms integer, event_id uuid, type text, source text, occurred_at timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan
SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT s.*
      FROM (SELECT l.sent_at AS at, 'a' || lpad(l.id::text, 20, '0') AS key, l.email_id, l.sender_account_id, l.attempt,
                   l.status, l.error_code, l.enhanced_code, l.response_ms, NULL::uuid, NULL::text, NULL::text,
                   NULL::timestamptz
              FROM mailqueue.send_logs AS l
             WHERE l.sent_at >= p_from AND l.sent_at < p_until
               AND mailqueue.is_traced(l.email_id, l.custom_data ->> 'traceparent', p_ratio)
            UNION ALL
            SELECT mailqueue.uuid_time(e.id), 'e' || e.id::text, e.email_id, e.sender_account_id, NULL, NULL, e.code,
                   NULL, NULL, e.id, e.type, e.source, e.occurred_at
              FROM mailqueue.email_events AS e
             CROSS JOIN LATERAL (
                    SELECT h.custom_data FROM mailqueue.email_history AS h WHERE h.id = e.email_id
                    UNION ALL
                    SELECT q.custom_data FROM mailqueue.email_queue AS q WHERE q.id = e.email_id LIMIT 1) AS m
             WHERE e.id >= mailqueue.first_uuid(p_from) AND e.id < mailqueue.first_uuid(p_until)
               AND mailqueue.is_traced(e.email_id, m.custom_data ->> 'traceparent', p_ratio)) AS s
     WHERE (s.at, s.key COLLATE "C") > (p_from, p_after COLLATE "C")
     ORDER BY s.at, s.key COLLATE "C" LIMIT p_limit;
END $$;
COMMENT ON FUNCTION mailqueue.traced_steps(timestamptz, text, timestamptz, double precision, integer) IS
    'Attempts and events of emails whose spans are exported, in the order in which they were written.';

-- Of an email that is no longer stored, accepted_at is NULL. The first step of an email also exports that it was
-- accepted. An event in the millisecond of an attempt follows it.
CREATE OR REPLACE FUNCTION mailqueue.read_trace_page(p_from timestamptz, p_after text, p_until timestamptz,
    p_ratio double precision, p_limit integer)
RETURNS TABLE (at timestamptz, key text, email_id uuid, account_id integer, attempt smallint, status text, code text,
               enhanced text, response_ms integer, event_id uuid, type text, source text, occurred_at timestamptz,
               project_id uuid, is_test boolean, accepted_at timestamptz, traceparent text, provider text,
               waited_from timestamptz, is_first boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    SELECT s.*, m.project_id, m.is_test, m.created_at, left(m.traceparent, 200), a.provider,
           greatest(m.created_at, b.last_at),
           b.last_at IS NULL AND NOT EXISTS (
               SELECT FROM mailqueue.email_events AS e WHERE e.email_id = s.email_id
                  AND e.id < coalesce(s.event_id, mailqueue.first_uuid(s.at)))
      FROM mailqueue.traced_steps(p_from, p_after, p_until, p_ratio, p_limit) AS s
      LEFT JOIN LATERAL (
            SELECT h.project_id, h.is_test, h.created_at, h.custom_data ->> 'traceparent' AS traceparent
              FROM mailqueue.email_history AS h WHERE h.id = s.email_id
            UNION ALL
            SELECT q.project_id, q.is_test, q.created_at, q.custom_data ->> 'traceparent'
              FROM mailqueue.email_queue AS q WHERE q.id = s.email_id LIMIT 1) AS m ON true
     CROSS JOIN LATERAL (
            SELECT max(l.sent_at) AS last_at FROM mailqueue.send_logs AS l
             WHERE l.email_id = s.email_id
               AND CASE WHEN s.event_id IS NULL THEN l.sent_at < s.at
                        ELSE l.sent_at < s.at + interval '1 ms' END) AS b
      LEFT JOIN mailqueue.sender_accounts AS a ON a.id = s.account_id
     ORDER BY s.at, s.key COLLATE "C"
$$;
COMMENT ON FUNCTION mailqueue.read_trace_page(timestamptz, text, timestamptz, double precision, integer) IS
    'The next attempts and events to export as spans, with what their emails say; no address and no content.';

CREATE OR REPLACE FUNCTION mailqueue.end_trace_page(p_holder uuid, p_to timestamptz, p_after text, p_spans bigint,
    p_left_out bigint, p_error text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    c_kept CONSTANT interval := '2 days';
    c_most CONSTANT integer := 5000;                         -- at once: more than a page of steps can add
BEGIN
    UPDATE mailqueue.trace_export AS x
       SET exported_to = coalesce(p_to, x.exported_to), after_key = coalesce(p_after, x.after_key),
           spans = x.spans + p_spans, left_out = x.left_out + p_left_out, last_error = left(p_error, 500),
           exported_at = CASE WHEN p_spans > 0 THEN clock_timestamp() ELSE x.exported_at END
     WHERE x.holder = p_holder;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM mailqueue.send_stages AS s
     USING (SELECT o.email_id, o.noted_at FROM mailqueue.send_stages AS o
             WHERE o.noted_at < clock_timestamp() - c_kept ORDER BY o.noted_at LIMIT c_most) AS old
     WHERE s.email_id = old.email_id AND s.noted_at = old.noted_at;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.end_trace_page(uuid, timestamptz, text, bigint, bigint, text) IS
    'Write how far spans are exported; p_to NULL: the collector did not take the page. False: another process exports.';

CREATE OR REPLACE FUNCTION mailqueue.release_trace_export(p_holder uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.trace_export AS x SET holder = NULL, lease_until = NULL WHERE x.holder = p_holder
$$;
COMMENT ON FUNCTION mailqueue.release_trace_export(uuid) IS 'Give up the right to export, when a process ends.';
