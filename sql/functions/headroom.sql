-- What limits still allow right now. The one place where daily limits, rates and pauses are understood.

CREATE OR REPLACE FUNCTION mailqueue.headroom(p_limits integer[], p_now timestamptz)
RETURNS TABLE (limit_id integer, sender_account_id integer, today date, sent integer, reserved integer, daily_limit integer,
               headroom integer, batch_size integer, until timestamptz, why text)
LANGUAGE sql STABLE
AS $$
    SELECT m.id, m.sender_account_id, d.today, u.sent, u.reserved, m.daily_limit,
           CASE WHEN w.why IS NOT NULL THEN 0 ELSE least(z.day_left, floor(least(z.tokens, 2000000000)))::integer END,
           m.batch_size,
           CASE w.why
               WHEN 'daily_limit' THEN least((d.today + 1)::timestamp AT TIME ZONE m.time_zone,
                    CASE WHEN u.reserved > 0 THEN p_now + interval '5 s' END)  -- a reservation may still come back
               WHEN 'rate' THEN p_now + make_interval(secs =>
                    ((least(m.burst, greatest(1, ceil(m.rate_per_second / 10))) - z.tokens) / m.rate_per_second)::float8)
               ELSE coalesce(m.blocked_until, CASE WHEN w.why IS NOT NULL THEN 'infinity'::timestamptz END) END,
           w.why
      FROM mailqueue.limits AS m
      CROSS JOIN LATERAL (SELECT c.* FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id ORDER BY c.rev DESC LIMIT 1) AS n
      -- A day never goes back: not for a claim that began before midnight, not when the time zone is changed.
      CROSS JOIN LATERAL (SELECT greatest((p_now AT TIME ZONE m.time_zone)::date, n.day) AS today) AS d
      CROSS JOIN LATERAL (SELECT CASE WHEN n.day = d.today THEN n.sent ELSE 0 END AS sent,
                                 CASE WHEN n.day = d.today THEN n.reserved ELSE 0 END AS reserved) AS u
      CROSS JOIN LATERAL (SELECT coalesce(m.daily_limit - u.sent - u.reserved, 2000000000) AS day_left,
                                 CASE WHEN m.rate_per_second IS NULL THEN 2000000000
                                      ELSE least(m.burst, n.tokens + m.rate_per_second * greatest(0, extract(epoch FROM p_now - n.tokens_at)))
                                 END AS tokens) AS z
      CROSS JOIN LATERAL (SELECT CASE WHEN m.blocked_reason IS NOT NULL AND (m.blocked_until IS NULL OR m.blocked_until > p_now) THEN m.blocked_reason
                                      WHEN z.day_left <= 0 THEN 'daily_limit'
                                      WHEN z.tokens < 1 THEN 'rate' END AS why) AS w
     WHERE m.id = ANY (p_limits)
$$;
COMMENT ON FUNCTION mailqueue.headroom(integer[], timestamptz) IS
    'How many recipients each limit allows now; when 0, why and until when.';

-- For views: their reader needs the right to every function named in them, and this one shows no more than they do.
CREATE OR REPLACE FUNCTION mailqueue.headroom_now(p_limit integer)
RETURNS TABLE (limit_id integer, sender_account_id integer, today date, sent integer, reserved integer, daily_limit integer,
               headroom integer, batch_size integer, until timestamptz, why text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT h.* FROM mailqueue.headroom(ARRAY[p_limit], clock_timestamp()) AS h $$;
COMMENT ON FUNCTION mailqueue.headroom_now(integer) IS 'What one limit allows right now, for those who may not read the tables behind it.';

-- Reserve in a claim. The caller holds the rows of limits.
CREATE OR REPLACE FUNCTION mailqueue.reserve(p_limit integer, p_day date, p_count integer, p_now timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    v_at tid;
    c record;
BEGIN
    SELECT n.ctid AS at, n.* INTO c FROM mailqueue.limit_counters AS n WHERE n.limit_id = p_limit ORDER BY n.rev DESC LIMIT 1;
    v_at := c.at;
    IF c.day < p_day THEN  -- a new day: yesterday's counts leave, its open reservations settle there
        INSERT INTO mailqueue.limit_days (limit_id, day, sent, reserved, bounces, errors)
        VALUES (p_limit, c.day, c.sent, c.reserved, c.bounces, c.errors)
        ON CONFLICT ON CONSTRAINT limit_days_pkey DO UPDATE
           SET sent = limit_days.sent + excluded.sent, reserved = limit_days.reserved + excluded.reserved,
               bounces = limit_days.bounces + excluded.bounces, errors = limit_days.errors + excluded.errors;
        c.sent := 0; c.reserved := 0; c.bounces := 0; c.errors := 0;
    END IF;
    UPDATE mailqueue.limit_counters AS n
       SET rev = n.rev + 1, day = p_day, sent = c.sent, reserved = c.reserved + p_count, bounces = c.bounces, errors = c.errors,
           tokens = CASE WHEN m.rate_per_second IS NULL THEN n.tokens
                         ELSE least(m.burst, n.tokens + m.rate_per_second * greatest(0, extract(epoch FROM p_now - n.tokens_at))) - p_count END,
           tokens_at = greatest(n.tokens_at, p_now)
      FROM mailqueue.limits AS m
     WHERE m.id = p_limit AND n.ctid = v_at;
END $$;
COMMENT ON FUNCTION mailqueue.reserve(integer, date, integer, timestamptz) IS 'Take headroom for claimed recipients.';

-- Turn reservations into sent or give them back; in id order, so that settlers never deadlock.
CREATE OR REPLACE FUNCTION mailqueue.settle_limits(p_limits integer[], p_days date[], p_spent integer[], p_back integer[],
    p_bounces integer[], p_errors integer[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    u record;
    v_at tid;
    v_day date;
BEGIN
    PERFORM FROM mailqueue.limits AS m WHERE m.id = ANY (p_limits) ORDER BY m.id FOR NO KEY UPDATE;
    FOR u IN SELECT x.l, x.d, sum(x.s)::integer AS s, sum(x.b)::integer AS b, sum(x.bo)::integer AS bo, sum(x.e)::integer AS e
               FROM unnest(p_limits, p_days, p_spent, p_back, p_bounces, p_errors) AS x(l, d, s, b, bo, e) GROUP BY x.l, x.d LOOP
        SELECT n.ctid, n.day INTO v_at, v_day FROM mailqueue.limit_counters AS n WHERE n.limit_id = u.l ORDER BY n.rev DESC LIMIT 1;
        IF v_day = u.d THEN
            UPDATE mailqueue.limit_counters AS n
               SET rev = n.rev + 1, sent = n.sent + u.s, reserved = n.reserved - u.s - u.b, bounces = n.bounces + u.bo, errors = n.errors + u.e,
                   tokens = least(m.burst, n.tokens + u.b)
              FROM mailqueue.limits AS m WHERE n.ctid = v_at AND m.id = u.l;
        ELSE
            UPDATE mailqueue.limit_days AS h SET sent = h.sent + u.s, reserved = h.reserved - u.s - u.b,
                   bounces = h.bounces + u.bo, errors = h.errors + u.e
             WHERE h.limit_id = u.l AND h.day = u.d;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.settle_limits(integer[], date[], integer[], integer[], integer[], integer[]) IS
    'Count claimed recipients as sent, or give their headroom back.';
