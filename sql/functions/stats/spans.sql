-- The spans of time of an answer: hours, days, weeks and months as the calendar of a time zone has them.

-- A day on which clocks change has 23 or 25 hours, each a span of its own. The last row is the end.
CREATE OR REPLACE FUNCTION mailqueue.stats_spans(p_from timestamptz, p_to timestamptz, p_bucket text, p_zone text)
RETURNS TABLE (started_at timestamptz, local_at timestamp)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
DECLARE
    v_step interval := ('1 ' || CASE p_bucket WHEN 'hour' THEN 'day' ELSE p_bucket END)::interval;
    v_local timestamp;
    v_at timestamptz;
    v_next timestamptz;
BEGIN
    IF p_bucket = 'minute' THEN
        v_at := date_trunc('minute', p_from);
        RETURN QUERY SELECT g.at, mailqueue.utc_to_local(v_at, p_zone) + (g.at - v_at)
                       FROM generate_series(v_at, p_to + interval '59.999999 s', interval '1 min') AS g(at);
        RETURN;
    END IF;
    v_local := date_trunc(CASE p_bucket WHEN 'hour' THEN 'day' ELSE p_bucket END,
                          mailqueue.utc_to_local(p_from, p_zone));
    v_at := mailqueue.local_to_utc(v_local, p_zone);
    WHILE v_at < p_to LOOP
        v_next := mailqueue.local_to_utc(v_local + v_step, p_zone);
        IF p_bucket <> 'hour' THEN
            RETURN QUERY SELECT v_at, v_local;
        ELSIF v_next - v_at = interval '24 hours' THEN
            RETURN QUERY SELECT v_at + make_interval(hours => h), v_local + make_interval(hours => h)
                           FROM generate_series(0, 23) AS h
                          WHERE v_at + make_interval(hours => h + 1) > p_from
                            AND v_at + make_interval(hours => h) < p_to;
        ELSE
            RETURN QUERY
            SELECT i.at, mailqueue.utc_to_local(i.at, p_zone)
              FROM (SELECT o.at, lead(o.at, 1, v_next) OVER (ORDER BY o.at) AS next
                      FROM (SELECT DISTINCT unnest(CASE WHEN l.instants = '{}'
                                                        THEN ARRAY[mailqueue.local_to_utc(l.wall, p_zone)]
                                                        ELSE l.instants END) AS at
                              FROM (SELECT w.wall, mailqueue.local_instants(w.wall, p_zone) AS instants
                                      FROM (SELECT v_local + make_interval(hours => h) AS wall
                                              FROM generate_series(0, 23) AS h) AS w) AS l) AS o
                     WHERE o.at < v_next) AS i
             WHERE i.next > p_from AND i.at < p_to
             ORDER BY i.at;
        END IF;
        v_local := v_local + v_step;
        v_at := v_next;
    END LOOP;
    IF p_bucket = 'hour' THEN
        -- The end of the last hour, which may be in the middle of a day.
        v_at := mailqueue.stats_hour_end(p_to, p_zone);
        v_local := mailqueue.utc_to_local(v_at, p_zone);
    END IF;
    RETURN QUERY SELECT v_at, v_local;
END $$;
COMMENT ON FUNCTION mailqueue.stats_spans(timestamptz, timestamptz, text, text) IS
    'The start of each minute, hour, day, week or month of a time zone between two times, and the end of the last.';

CREATE OR REPLACE FUNCTION mailqueue.stats_hour_end(p_at timestamptz, p_zone text) RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN date_trunc('hour', l.local) = l.local THEN p_at
                ELSE mailqueue.stats_quarter(p_at + (date_trunc('hour', l.local) + interval '1 hour' - l.local)) END
      FROM (SELECT mailqueue.utc_to_local(p_at, p_zone) AS local) AS l
$$;
COMMENT ON FUNCTION mailqueue.stats_hour_end(timestamptz, text) IS
    'The end of the hour of a time zone that a time is in.';
