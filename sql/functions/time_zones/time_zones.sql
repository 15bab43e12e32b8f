-- Local times and instants, by the rules of the package tzdata that `mailqueue migrate` loaded. PostgreSQL's own rules
-- depend on the host; what is stored must not.

CREATE OR REPLACE FUNCTION mailqueue.time_zone_release() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.release FROM mailqueue.time_zone_releases AS r
$$;
COMMENT ON FUNCTION mailqueue.time_zone_release() IS
    'The release of the IANA time zone database in use, such as 2026b; NULL before rules were loaded.';

CREATE OR REPLACE FUNCTION mailqueue.known_zone(p_name text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT z.name FROM mailqueue.time_zones AS z WHERE z.name = p_name
$$;
COMMENT ON FUNCTION mailqueue.known_zone(text) IS 'The name of a time zone, or NULL if there is none of that name.';

-- Local times differ from UTC by less than 16 hours.
CREATE OR REPLACE FUNCTION mailqueue.zone_offsets_near(p_at timestamptz, p_zone text)
RETURNS TABLE (from_at timestamptz, until timestamptz, utc_offset interval)
LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_rules text := (SELECT z.rules FROM mailqueue.time_zones AS z WHERE z.name = p_zone);
    v_end timestamptz := (SELECT r.until FROM mailqueue.time_zone_releases AS r);
BEGIN
    IF v_rules IS NULL THEN
        PERFORM mailqueue.refuse('time_zone', format('there is no time zone %s', to_json(left(p_zone, 100))));
    ELSIF NOT isfinite(p_at) OR p_at >= v_end - interval '16 hours' THEN
        RAISE EXCEPTION 'rules of time zones end at %, got %', v_end, p_at
            USING ERRCODE = 'datetime_field_overflow', HINT = 'Use an earlier time.';
    END IF;
    RETURN QUERY
    SELECT CASE WHEN n.is_oldest AND n.count < 4 THEN '-infinity' ELSE n.from_at END, n.until, n.utc_offset
      FROM (SELECT l.from_at, lead(l.from_at, 1, 'infinity') OVER w AS until, l.utc_offset,
                   row_number() OVER w = 1 AS is_oldest, count(*) OVER () AS count
              FROM (SELECT o.from_at, o.utc_offset
                      FROM mailqueue.time_zone_offsets AS o
                     WHERE o.zone = v_rules AND o.from_at <= greatest(p_at + interval '16 hours', '2020-01-01Z')
                     ORDER BY o.from_at DESC LIMIT 4) AS l
            WINDOW w AS (ORDER BY l.from_at)) AS n
     ORDER BY n.from_at;
END $$;
COMMENT ON FUNCTION mailqueue.zone_offsets_near(timestamptz, text) IS
    'The offsets from UTC that a zone has within 16 hours of an instant, each with the time for which it holds.';

CREATE OR REPLACE FUNCTION mailqueue.local_instants(p_wall timestamp, p_zone text) RETURNS timestamptz[]
LANGUAGE sql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(array_agg(i.at ORDER BY i.at), '{}')
      FROM mailqueue.zone_offsets_near(p_wall AT TIME ZONE 'UTC', p_zone) AS o
     CROSS JOIN LATERAL (SELECT p_wall AT TIME ZONE 'UTC' - o.utc_offset AS at) AS i
     WHERE i.at >= o.from_at AND i.at < o.until
$$;
COMMENT ON FUNCTION mailqueue.local_instants(timestamp, text) IS
    'The instants of a local time, earliest first: one; two when clocks are set back; none when they are set forward.';

-- Most of the time no clock changes within 16 hours: then the last change before decides, and zone_offsets_near() is
-- not asked. p_is_wall: the instant stands for a local time. One expression, so that plpgsql runs it without a call.
CREATE OR REPLACE FUNCTION mailqueue.steady_offset(p_at timestamptz, p_zone text, p_is_wall boolean) RETURNS interval
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (SELECT l.utc_offset
              FROM mailqueue.time_zones AS z
             CROSS JOIN LATERAL (SELECT o.from_at, o.utc_offset FROM mailqueue.time_zone_offsets AS o
                                  WHERE o.zone = z.rules
                                    AND o.from_at <= p_at + CASE WHEN p_is_wall THEN interval '16 hours' ELSE '0' END
                                  ORDER BY o.from_at DESC LIMIT 1) AS l
             WHERE z.name = p_zone AND isfinite(p_at)
               AND l.from_at <= p_at - CASE WHEN p_is_wall THEN interval '16 hours' ELSE '0' END
               AND p_at < (SELECT r.until FROM mailqueue.time_zone_releases AS r) - interval '16 hours')
$$;
COMMENT ON FUNCTION mailqueue.steady_offset(timestamptz, text, boolean) IS
    'The offset of a zone at an instant, or at a local time written as if it were UTC; NULL where clocks change near a '
    'local time, or there are no rules.';

CREATE OR REPLACE FUNCTION mailqueue.local_to_utc(p_wall timestamp, p_zone text) RETURNS timestamptz
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_wall timestamptz := p_wall AT TIME ZONE 'UTC';
    v_offset interval := mailqueue.steady_offset(v_wall, p_zone, true);
BEGIN
    IF v_offset IS NOT NULL THEN
        RETURN v_wall - v_offset;
    END IF;
    RETURN (SELECT coalesce(min(i.at) FILTER (WHERE i.at >= o.from_at AND i.at < o.until),
                            -- Clocks were set forward over it: the change itself is the first moment after it.
                            min(o.from_at) FILTER (WHERE o.from_at > i.at))
              FROM mailqueue.zone_offsets_near(v_wall, p_zone) AS o
             CROSS JOIN LATERAL (SELECT v_wall - o.utc_offset AS at) AS i);
END $$;
COMMENT ON FUNCTION mailqueue.local_to_utc(timestamp, text) IS
    'The instant of a local time: the earlier of two, and the first moment after a gap for a local time within it.';

CREATE OR REPLACE FUNCTION mailqueue.utc_to_local(p_at timestamptz, p_zone text) RETURNS timestamp
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_offset interval := mailqueue.steady_offset(p_at, p_zone, false);
BEGIN
    IF v_offset IS NOT NULL THEN
        RETURN (p_at + v_offset) AT TIME ZONE 'UTC';
    END IF;
    RETURN (SELECT (p_at + o.utc_offset) AT TIME ZONE 'UTC' FROM mailqueue.zone_offsets_near(p_at, p_zone) AS o
             WHERE p_at >= o.from_at AND p_at < o.until);
END $$;
COMMENT ON FUNCTION mailqueue.utc_to_local(timestamptz, text) IS 'The local time of an instant in a time zone.';
