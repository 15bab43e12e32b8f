-- Limits of sender accounts by minute and hour: what was reserved in the last 60 slots counts; see headroom().

-- The caller holds the rows of limits: no other claim counts in their windows.
CREATE OR REPLACE FUNCTION mailqueue.reserve_windows(p_limits integer[], p_counts integer[], p_now timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_epoch bigint := floor(extract(epoch FROM p_now));
BEGIN
    INSERT INTO mailqueue.limit_windows AS w (limit_id, seconds, slot, taken)
    SELECT m.id, s.seconds, v_epoch / (s.seconds / 60), u.count
      FROM unnest(p_limits, p_counts) AS u(limit_id, count)
      JOIN mailqueue.limits AS m ON m.id = u.limit_id
     CROSS JOIN LATERAL (VALUES (60::smallint, m.minute_limit), (3600::smallint, m.hourly_limit)) AS s(seconds, most)
     WHERE u.count > 0 AND s.most IS NOT NULL
    ON CONFLICT (limit_id, seconds, slot) DO UPDATE SET taken = w.taken + excluded.taken;
    DELETE FROM mailqueue.limit_windows AS w
     WHERE w.limit_id = ANY (p_limits)
       AND (w.seconds = 60 AND w.slot <= v_epoch - 61 OR w.seconds = 3600 AND w.slot <= v_epoch / 60 - 61
            OR w.slot > (v_epoch + 300) / (w.seconds / 60));  -- the clock was set back
END $$;
COMMENT ON FUNCTION mailqueue.reserve_windows(integer[], integer[], timestamptz) IS
    'Count claimed recipients in the minute and the hour of their limits, and forget what is over.';

-- What is given back is taken from the oldest slots: nothing that was sent is forgotten before its time.
CREATE OR REPLACE FUNCTION mailqueue.return_windows(p_limits integer[], p_back integer[]) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.limit_windows AS w SET taken = w.taken - b.back
      FROM (SELECT s.limit_id, s.seconds, s.slot, least(s.taken, u.back - s.before) AS back
              FROM (SELECT x.id, sum(x.back) AS back FROM unnest(p_limits, p_back) AS x(id, back) GROUP BY x.id) AS u
              JOIN (SELECT o.limit_id, o.seconds, o.slot, o.taken,
                           coalesce(sum(o.taken) OVER (PARTITION BY o.limit_id, o.seconds ORDER BY o.slot
                                                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
                      FROM mailqueue.limit_windows AS o WHERE o.limit_id = ANY (p_limits)) AS s
                ON s.limit_id = u.id
             WHERE u.back > s.before) AS b
     WHERE w.limit_id = b.limit_id AND w.seconds = b.seconds AND w.slot = b.slot
$$;
COMMENT ON FUNCTION mailqueue.return_windows(integer[], integer[]) IS
    'Take recipients that were not sent to out of the minute and the hour of their limits.';
