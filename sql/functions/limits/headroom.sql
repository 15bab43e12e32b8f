-- What limits allow at present. The only implementation of limits by day, hour and minute, warm-up, rates and pauses.

-- A rate is kept in two places. Claims draw from a bucket that is filled at the rate, and workers send what a claim
-- took one after another, at the rate. Almost half a second's worth is claimed ahead: few claims are enough, and one
-- that is late delays no mail. Workers may be late as well. Where the burst is small the rate is up to a twentieth
-- lower, and after a pause the first mail is followed by others a fifth of a second later, so that burst and rate
-- together are not exceeded in any second.
CREATE OR REPLACE FUNCTION mailqueue.pace_of_rate(p_rate numeric, p_burst integer, OUT rate numeric, OUT burst integer,
    OUT capacity numeric)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT p_rate - greatest(0, p_rate / 10 - b.burst) / 2, b.burst, greatest(b.burst, 1 + p_rate / 4)
      FROM (SELECT coalesce(p_burst, greatest(1, ceil(p_rate)))::integer AS burst) AS b
$$;
COMMENT ON FUNCTION mailqueue.pace_of_rate(numeric, integer) IS
    'How claims keep a rate with this burst, or with a burst of one second: their rate and the capacity of its bucket.';

-- daily_limit is that of today: the account's own, or that of its warm-up stage if it is lower. stage is NULL for
-- accounts without warm-up, or after it. room: what is left of the day, the hour and the minute. Hours and minutes are
-- the last 60 minutes and seconds, counted in slots of a sixtieth: a slot counts until all of it is over.
-- low_opens_at: until when mail of low priority waits for the window of its project; NULL: it need not.
CREATE OR REPLACE FUNCTION mailqueue.headroom(p_limits integer[], p_now timestamptz)
RETURNS TABLE (limit_id integer, sender_account_id integer, today date, sent integer, reserved integer,
               daily_limit integer, headroom integer, batch_size integer, until timestamptz, why text, stage integer,
               room integer, rate numeric, tokens numeric, has_windows boolean, hour_left integer, minute_left integer,
               low_opens_at timestamptz)
LANGUAGE sql STABLE
AS $$
    SELECT m.id, m.sender_account_id, d.today, u.sent, u.reserved, g.daily_limit,
           CASE WHEN w.why IS NOT NULL THEN 0
                ELSE least(z.room, floor(least(z.tokens, 2000000000)),
                           CASE WHEN m.circuit_opened_at IS NOT NULL THEN 1 END)::integer END,
           m.batch_size,
           CASE
               WHEN w.why = 'locked' THEN 'infinity'::timestamptz  -- until its project unlocks it
               WHEN w.why = 'half_open' THEN p_now + interval '250 ms'  -- the result of a probe wakes no worker
               WHEN w.why = 'daily_limit' THEN least((d.today + 1)::timestamp AT TIME ZONE m.time_zone,
                    CASE WHEN u.reserved > 0 THEN p_now + interval '5 s' END)  -- a reservation may still be returned
               WHEN w.why IN ('hourly_limit', 'minute_limit') THEN least(
                    (SELECT to_timestamp((min(x.slot) + 61) * (x.seconds / 60)) FROM mailqueue.limit_windows AS x
                      WHERE x.limit_id = m.id AND x.seconds = CASE w.why WHEN 'hourly_limit' THEN 3600 ELSE 60 END
                        AND x.taken > 0 AND x.slot > e.epoch / (x.seconds / 60) - 61 GROUP BY x.seconds),
                    CASE WHEN u.reserved > 0 THEN p_now + interval '5 s' END)
               WHEN w.why IN ('rate', 'domain_rate', 'brake') THEN p_now + make_interval(secs =>
                    ((least(coalesce(m.capacity, m.burst), greatest(1, ceil(m.rate_per_second / 10))) - z.tokens)
                     / m.rate_per_second)::float8)
               ELSE coalesce(m.blocked_until, CASE WHEN w.why IS NOT NULL THEN 'infinity'::timestamptz END) END,
           w.why, g.stage, z.room, m.rate_per_second, CASE WHEN m.rate_per_second IS NOT NULL THEN z.tokens END,
           num_nonnulls(m.hourly_limit, m.minute_limit) > 0, f.hour_left, f.minute_left,
           CASE WHEN m.low_from IS NOT NULL
                     THEN mailqueue.low_opens_at(m.low_from, m.low_until, m.low_zone, p_now) END
      FROM mailqueue.limits AS m
      CROSS JOIN LATERAL (SELECT c.* FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id ORDER BY c.rev DESC
                           LIMIT 1) AS n
      -- A day never goes back: not for a claim that began before midnight, and not when the time zone changes.
      CROSS JOIN LATERAL (SELECT greatest((p_now AT TIME ZONE m.time_zone)::date, least(n.day, '9999-01-01')) AS today
                           OFFSET 0) AS d                     -- OFFSET: computed once, though used often
      CROSS JOIN LATERAL (SELECT CASE WHEN n.day = d.today THEN n.sent ELSE 0 END AS sent,
                                 CASE WHEN n.day = d.today THEN n.reserved ELSE 0 END AS reserved) AS u
      -- A warm-up stage is a day on which mail was sent: the stages that are over, and today.
      CROSS JOIN LATERAL (SELECT CASE WHEN m.warm_up IS NOT NULL THEN
                                      1 + (SELECT count(*) FROM (SELECT FROM mailqueue.limit_days AS h
                                            WHERE h.limit_id = m.id AND h.day >= m.warm_up_from AND h.day < d.today
                                                                    AND h.sent > 0
                                            LIMIT cardinality(m.warm_up)) AS days)::integer
                                        + (n.day >= m.warm_up_from AND n.day < d.today
                                           AND n.sent > 0)::integer END AS stage OFFSET 0) AS s
      CROSS JOIN LATERAL (SELECT CASE WHEN s.stage <= cardinality(m.warm_up) THEN s.stage END AS stage,
                                 least(m.daily_limit, m.warm_up[s.stage]) AS daily_limit) AS g
      CROSS JOIN LATERAL (SELECT floor(extract(epoch FROM p_now))::bigint AS epoch) AS e
      CROSS JOIN LATERAL (
          SELECT CASE WHEN m.hourly_limit IS NOT NULL THEN greatest(0, m.hourly_limit - (
                      SELECT coalesce(sum(x.taken), 0) FROM mailqueue.limit_windows AS x
                       WHERE x.limit_id = m.id AND x.seconds = 3600 AND x.slot > e.epoch / 60 - 61))::integer
                 END AS hour_left,
                 CASE WHEN m.minute_limit IS NOT NULL THEN greatest(0, m.minute_limit - (
                      SELECT coalesce(sum(x.taken), 0) FROM mailqueue.limit_windows AS x
                       WHERE x.limit_id = m.id AND x.seconds = 60 AND x.slot > e.epoch - 61))::integer
                 END AS minute_left OFFSET 0) AS f
      CROSS JOIN LATERAL (SELECT coalesce(g.daily_limit - u.sent - u.reserved, 2000000000) AS day_left,
                                 least(coalesce(g.daily_limit - u.sent - u.reserved, 2000000000), f.hour_left,
                                       f.minute_left) AS room,
                                 CASE WHEN m.rate_per_second IS NULL THEN 2000000000
                                      -- The clock was set back: allow one, and reserving it restarts the rate from now.
                                      WHEN n.tokens_at > p_now + interval '5 min' THEN 1
                                      ELSE least(coalesce(m.capacity, m.burst),
                                                 n.tokens + m.rate_per_second
                                                 * greatest(0, extract(epoch FROM p_now - n.tokens_at)))
                                 END AS tokens OFFSET 0) AS z
      CROSS JOIN LATERAL (SELECT CASE WHEN m.blocked_reason IS NOT NULL
                                           AND (m.blocked_until IS NULL OR m.blocked_until > p_now)
                                           THEN m.blocked_reason
                                      WHEN m.locked_from <= p_now THEN 'locked'
                                      -- One probe is in flight: no other until it is settled.
                                      WHEN m.circuit_opened_at IS NOT NULL AND m.circuit_held_until > p_now
                                           THEN 'half_open'
                                      WHEN z.day_left <= 0 THEN 'daily_limit'
                                      WHEN f.hour_left = 0 THEN 'hourly_limit'
                                      WHEN f.minute_left = 0 THEN 'minute_limit'
                                      WHEN z.tokens < 1 THEN
                                          CASE WHEN m.id = 0 THEN 'brake' WHEN m.domain IS NOT NULL THEN 'domain_rate'
                                               ELSE 'rate' END
                                      END AS why OFFSET 0) AS w
     WHERE m.id = ANY (p_limits)
$$;
COMMENT ON FUNCTION mailqueue.headroom(integer[], timestamptz) IS
    'Number of recipients that each limit allows now; if 0, why and until when.';

-- For views: their reader needs EXECUTE on every function named in them, and this one shows no more than they do.
CREATE OR REPLACE FUNCTION mailqueue.headroom_now(p_limit integer)
RETURNS TABLE (limit_id integer, sender_account_id integer, today date, sent integer, reserved integer,
               daily_limit integer, headroom integer, batch_size integer, until timestamptz, why text, stage integer,
               room integer, rate numeric, tokens numeric, has_windows boolean, hour_left integer, minute_left integer,
               low_opens_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT h.* FROM mailqueue.headroom(ARRAY[p_limit], clock_timestamp()) AS h $$;
COMMENT ON FUNCTION mailqueue.headroom_now(integer) IS
    'What one limit allows now, for roles that cannot read the tables behind it.';

-- Reserve in a claim. The caller holds the rows of limits. Domains and the installation have a rate but no counters.
CREATE OR REPLACE FUNCTION mailqueue.reserve(p_limit integer, p_day date, p_count integer, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_at tid;
    c record;
BEGIN
    SELECT n.ctid AS at, n.* INTO c FROM mailqueue.limit_counters AS n WHERE n.limit_id = p_limit ORDER BY n.rev DESC
     LIMIT 1;
    v_at := c.at;
    -- a new day: yesterday's counters move to limit_days, and its open reservations are settled there
    IF c.day < p_day AND (c.sent, c.reserved, c.bounces, c.errors) <> (0, 0, 0, 0) THEN
        INSERT INTO mailqueue.limit_days (limit_id, day, sent, reserved, bounces, errors)
        VALUES (p_limit, c.day, c.sent, c.reserved, c.bounces, c.errors)
        ON CONFLICT ON CONSTRAINT limit_days_pkey DO UPDATE
           SET sent = least(limit_days.sent, 1000000000) + least(excluded.sent, 1000000000),
               reserved = least(limit_days.reserved, 1000000000) + least(excluded.reserved, 1000000000),
               bounces = least(limit_days.bounces, 1000000000) + least(excluded.bounces, 1000000000),
               errors = least(limit_days.errors, 1000000000) + least(excluded.errors, 1000000000);
        c.sent := 0; c.reserved := 0; c.bounces := 0; c.errors := 0;
    END IF;
    UPDATE mailqueue.limit_counters AS n
       SET rev = n.rev + 1, day = p_day, sent = c.sent,
           reserved = least(c.reserved, 2000000000) + CASE WHEN m.project_id IS NULL THEN 0 ELSE p_count END,
           bounces = c.bounces, errors = c.errors,
           tokens = CASE WHEN m.rate_per_second IS NULL THEN n.tokens
                         ELSE least(coalesce(m.capacity, m.burst),
                                    n.tokens + m.rate_per_second * greatest(0, extract(epoch FROM p_now - n.tokens_at)))
                              - p_count END,
           tokens_at = CASE WHEN n.tokens_at > p_now + interval '5 min' THEN p_now ELSE greatest(n.tokens_at, p_now) END
      FROM mailqueue.limits AS m
     WHERE m.id = p_limit AND n.ctid = v_at;
END $$;
COMMENT ON FUNCTION mailqueue.reserve(integer, date, integer, timestamptz) IS
    'Reserve headroom for claimed recipients.';

-- The same for all limits of a claim. Nearly always the counter is of the current day, and one statement is enough.
CREATE OR REPLACE FUNCTION mailqueue.reserve_all(p_limits integer[], p_days date[], p_counts integer[],
    p_now timestamptz)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_done integer[];
BEGIN
    WITH reserved AS (
        UPDATE mailqueue.limit_counters AS n
           SET rev = n.rev + 1,
               reserved = least(n.reserved, 2000000000) + CASE WHEN m.project_id IS NULL THEN 0 ELSE u.count END,
               tokens = CASE WHEN m.rate_per_second IS NULL THEN n.tokens
                             ELSE least(coalesce(m.capacity, m.burst),
                                        n.tokens + m.rate_per_second
                                        * greatest(0, extract(epoch FROM p_now - n.tokens_at)))
                                  - u.count END,
               tokens_at = CASE WHEN n.tokens_at > p_now + interval '5 min' THEN p_now
                                ELSE greatest(n.tokens_at, p_now) END
          FROM unnest(p_limits, p_days, p_counts) AS u(limit_id, day, count)
          JOIN mailqueue.limits AS m ON m.id = u.limit_id
         CROSS JOIN LATERAL (SELECT c.ctid AS at, c.day FROM mailqueue.limit_counters AS c
                              WHERE c.limit_id = u.limit_id ORDER BY c.rev DESC LIMIT 1) AS c
         WHERE u.count > 0 AND c.day = u.day AND n.ctid = c.at
        RETURNING n.limit_id
    )
    SELECT array_agg(r.limit_id) INTO v_done FROM reserved AS r;
    FOR i IN 1..cardinality(p_limits) LOOP
        IF p_counts[i] > 0 AND array_position(v_done, p_limits[i]) IS NULL THEN  -- a new day
            PERFORM mailqueue.reserve(p_limits[i], p_days[i], p_counts[i], p_now);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.reserve_all(integer[], date[], integer[], timestamptz) IS
    'Reserve headroom of several limits for claimed recipients.';

-- Turn reservations into sent or return them; in id order, so that settlers cannot deadlock. What returns to accounts
-- returns to the rate of the installation as well; that of a domain only waits longer. p_errors is NULL for mail in
-- doubt. p_claims are the claims of the mail: one of them may hold the probe of a circuit.
CREATE OR REPLACE FUNCTION mailqueue.settle_limits(p_limits integer[], p_days date[], p_spent integer[],
    p_back integer[], p_bounces integer[], p_errors integer[], p_claims bigint[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_at tid;
    v_back integer;
    v_circuits integer[];
    v_has_windows boolean;
    v_ids integer[];                                         -- of the limits, and how many tokens each may have
    v_most numeric[];
BEGIN
    IF 0 < ANY (p_back) THEN
        SELECT sum(x.back) INTO v_back FROM unnest(p_limits, p_back) AS x(id, back)
          JOIN mailqueue.limits AS m ON m.id = x.id AND m.sender_account_id IS NOT NULL
         WHERE x.back > 0
           AND EXISTS (SELECT FROM mailqueue.limits AS b WHERE b.id = 0 AND b.rate_per_second IS NOT NULL);
    END IF;
    SELECT array_agg(k.id) FILTER (WHERE k.circuit_probe_claim = ANY (p_claims)), bool_or(k.has_windows),
           array_agg(k.id), array_agg(k.most)
      INTO v_circuits, v_has_windows, v_ids, v_most
      FROM (SELECT m.id, m.circuit_probe_claim, num_nonnulls(m.hourly_limit, m.minute_limit) > 0 AS has_windows,
                   coalesce(m.capacity, m.burst) AS most
              FROM mailqueue.limits AS m
             WHERE m.id = ANY (CASE WHEN v_back > 0 THEN 0 || p_limits ELSE p_limits END)
             ORDER BY m.id FOR NO KEY UPDATE) AS k;
    IF v_back > 0 THEN
        SELECT n.ctid INTO v_at FROM mailqueue.limit_counters AS n WHERE n.limit_id = 0 ORDER BY n.rev DESC LIMIT 1;
        UPDATE mailqueue.limit_counters AS n
           SET rev = n.rev + 1, tokens = least(coalesce(m.capacity, m.burst), n.tokens + v_back)
          FROM mailqueue.limits AS m WHERE n.ctid = v_at AND m.id = 0;
    END IF;
    IF v_has_windows AND 0 < ANY (p_back) THEN
        PERFORM mailqueue.return_windows(p_limits, p_back);
    END IF;
    WITH u AS MATERIALIZED (
        SELECT x.l, x.d, sum(x.s)::integer AS s, sum(x.b)::integer AS b, sum(x.bo)::integer AS bo,
               coalesce(sum(x.e), 0)::integer AS e
          FROM unnest(p_limits, p_days, p_spent, p_back, p_bounces, p_errors) AS x(l, d, s, b, bo, e) GROUP BY x.l, x.d
    ), today AS MATERIALIZED (
        UPDATE mailqueue.limit_counters AS n
           SET rev = n.rev + 1, sent = least(n.sent, 2000000000) + u.s, reserved = greatest(0, n.reserved - u.s - u.b),
               bounces = least(n.bounces, 2000000000) + u.bo, errors = least(n.errors, 2000000000) + u.e,
               tokens = least(m.most, n.tokens + u.b)
          FROM u JOIN unnest(v_ids, v_most) AS m(id, most) ON m.id = u.l
         CROSS JOIN LATERAL (SELECT c.ctid AS at, c.day FROM mailqueue.limit_counters AS c WHERE c.limit_id = u.l
                              ORDER BY c.rev DESC LIMIT 1) AS c
         WHERE c.day = u.d AND n.ctid = c.at
        RETURNING u.l, u.d
    )
    UPDATE mailqueue.limit_days AS h
       SET sent = least(h.sent, 2000000000) + u.s, reserved = greatest(0, h.reserved - u.s - u.b),
           bounces = least(h.bounces, 2000000000) + u.bo, errors = least(h.errors, 2000000000) + u.e
      FROM u
     WHERE NOT EXISTS (SELECT FROM today AS t WHERE t.l = u.l AND t.d = u.d) AND h.limit_id = u.l AND h.day = u.d;
    IF v_circuits IS NOT NULL THEN
        PERFORM mailqueue.probe_settled(x.l, x.s > 0 AND x.e = 0)
           FROM unnest(p_limits, p_spent, p_errors) AS x(l, s, e) WHERE x.l = ANY (v_circuits);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.settle_limits(integer[], date[], integer[], integer[], integer[], integer[], bigint[]) IS
    'Count claimed recipients as sent, or return their headroom.';
