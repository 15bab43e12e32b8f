-- Waking lanes: the only place where lanes become ready. Workers call it in its own statement before each claim.
--
-- No wake-up is lost: a signal is consumed only by a transaction that then holds the lane's lock, and a claim that
-- marks a lane empty holds that lock from before it reads to its commit. Asynchronous commit is safe here, and the
-- statement of workers asks for it: a crash that undoes it also restores the deleted signals.

CREATE OR REPLACE FUNCTION mailqueue.gather_lanes(OUT woken integer, OUT next_wake interval)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_floor xid8;
    v_new_floor xid8;
    v_lanes integer[];
    v_due timestamptz[];
    v_signals integer := 0;
    v_brake interval;
BEGIN
    woken := 0;
    -- While the rate of the whole installation is used up no lane is blocked, but no claim would find mail.
    IF EXISTS (SELECT FROM mailqueue.limits AS m WHERE m.id = 0 AND m.rate_per_second IS NOT NULL) THEN
        SELECT r.until - v_now INTO v_brake FROM mailqueue.headroom('{0}', v_now) AS r WHERE r.why IS NOT NULL;
    END IF;
    -- The row is locked, and thereby written, only where there is work: an idle queue writes nothing.
    SELECT g.signal_floor INTO v_floor FROM mailqueue.lane_gather AS g
     WHERE g.is_only
       AND (EXISTS (SELECT FROM mailqueue.lane_signals AS s WHERE s.xid >= g.signal_floor)
            OR EXISTS (SELECT FROM mailqueue.order_signals AS o WHERE o.look_at <= v_now)
            OR EXISTS (SELECT FROM mailqueue.lanes AS l WHERE l.blocked_until <= v_now)
            OR g.signal_floor > pg_snapshot_xmax(pg_current_snapshot())
            OR EXISTS (SELECT FROM mailqueue.lane_classes AS c
                        WHERE c.priority >= 0                -- all of them, by the index
                          AND c.moved_at < v_now - interval '50 ms'
                          AND (SELECT l.vtime FROM mailqueue.lanes AS l
                                WHERE l.priority = c.priority AND l.blocked_until IS NULL AND l.vtime >= c.vclock
                                ORDER BY l.vtime, l.id LIMIT 1) > c.vclock))
       FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM FROM mailqueue.lane_gather AS g
          WHERE g.is_only
            AND (EXISTS (SELECT FROM mailqueue.lane_signals AS s WHERE s.xid >= g.signal_floor)
                 OR EXISTS (SELECT FROM mailqueue.order_signals AS o WHERE o.look_at <= v_now)
                 OR EXISTS (SELECT FROM mailqueue.lanes AS l WHERE l.blocked_until <= v_now));
        IF FOUND THEN
            woken := -1;                                         -- another process is doing it
        ELSE
            SELECT l.blocked_until - v_now INTO next_wake FROM mailqueue.lanes AS l
             WHERE l.blocked_until IS NOT NULL AND l.blocked_until < 'infinity' ORDER BY l.blocked_until LIMIT 1;
            IF EXISTS (SELECT FROM mailqueue.project_usage_changes)
               OR EXISTS (SELECT FROM mailqueue.refusals AS r WHERE r.project_id IS NOT NULL) THEN
                PERFORM mailqueue.count_usage();
            END IF;
        END IF;
        next_wake := coalesce(v_brake, next_wake);
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM mailqueue.order_signals AS o WHERE o.look_at <= v_now) THEN
        PERFORM mailqueue.release_ordered(v_now);            -- signals the lanes that are woken below
    END IF;
    UPDATE mailqueue.lane_classes AS c SET vclock = n.vtime, moved_at = v_now
      FROM mailqueue.lane_classes AS o
     CROSS JOIN LATERAL (SELECT l.vtime FROM mailqueue.lanes AS l
                          WHERE l.priority = o.priority AND l.blocked_until IS NULL AND l.vtime >= o.vclock
                          ORDER BY l.vtime, l.id LIMIT 1) AS n
     WHERE o.priority >= 0                                   -- all of them, by the index
       AND o.moved_at < v_now - interval '50 ms' AND n.vtime > o.vclock AND c.priority = o.priority;

    IF v_floor > pg_snapshot_xmax(pg_current_snapshot()) THEN
        v_floor := '0';  -- of another server: this database was restored from a dump
        UPDATE mailqueue.lane_gather AS g SET signal_floor = v_floor WHERE g.is_only;
    END IF;
    -- An idle queue ends here: the statements below cost more to begin than to run.
    IF EXISTS (SELECT FROM mailqueue.lane_signals AS s WHERE s.xid >= v_floor) THEN
        WITH gone AS (
            DELETE FROM mailqueue.lane_signals AS s
             WHERE s.ctid = ANY (ARRAY(SELECT o.ctid FROM mailqueue.lane_signals AS o
                                        WHERE o.xid >= v_floor ORDER BY o.xid LIMIT 5000))
            RETURNING s.lane_id, s.due_at, s.emails, s.accepted_on, s.bytes
        ), counted AS (
            INSERT INTO mailqueue.accepted_days AS a (project_id, day, emails)
            SELECT l.project_id, g.accepted_on, sum(g.emails)
              FROM gone AS g JOIN mailqueue.lanes AS l ON l.id = g.lane_id WHERE g.emails > 0
             GROUP BY l.project_id, g.accepted_on
            ON CONFLICT (project_id, day) DO UPDATE
               SET emails = mailqueue.as_count(a.emails) + excluded.emails
        ), used AS (
            INSERT INTO mailqueue.project_usage_changes (project_id, queued_emails, stored_bytes)
            SELECT l.project_id, sum(g.emails), mailqueue.as_count(sum(g.bytes))
              FROM gone AS g JOIN mailqueue.lanes AS l ON l.id = g.lane_id WHERE g.emails > 0 GROUP BY l.project_id
        ), per_lane AS (
            SELECT g.lane_id, min(g.due_at) AS due_at, count(*) AS signals FROM gone AS g GROUP BY g.lane_id
        )
        SELECT array_agg(p.lane_id ORDER BY p.lane_id), array_agg(p.due_at ORDER BY p.lane_id),
               coalesce(sum(p.signals), 0), pg_snapshot_xmin(pg_current_snapshot())
          INTO v_lanes, v_due, v_signals, v_new_floor FROM per_lane AS p;
    END IF;

    IF v_signals > 0 THEN
        -- Wait for the claims that hold these lanes and read only then: their decisions are seen, not overwritten.
        PERFORM FROM mailqueue.lanes AS l WHERE l.id = ANY (v_lanes) ORDER BY l.id FOR NO KEY UPDATE;
        UPDATE mailqueue.lanes AS l
           SET due_floor = least(l.due_floor, s.due_at),
               vtime = CASE WHEN l.blocked_until IS NULL THEN l.vtime ELSE greatest(l.vtime, c.vclock) END,
               blocked_until = CASE WHEN l.blocked_until IS NULL THEN NULL
                                    WHEN l.blocked_reason NOT IN ('empty', 'not_due', 'recheck') THEN l.blocked_until
                                    WHEN s.due_at <= v_now THEN NULL ELSE least(l.blocked_until, s.due_at) END,
               blocked_reason = CASE WHEN l.blocked_until IS NULL THEN NULL
                                     WHEN l.blocked_reason NOT IN ('empty', 'not_due', 'recheck') THEN l.blocked_reason
                                     WHEN s.due_at <= v_now THEN NULL ELSE 'not_due' END
          FROM unnest(v_lanes, v_due) AS s(lane_id, due_at), mailqueue.lane_classes AS c
         WHERE l.id = s.lane_id AND c.priority = l.priority AND (l.blocked_until IS NOT NULL OR l.due_floor > s.due_at);
        woken := v_signals;
    END IF;
    IF v_signals < 5000 THEN
        PERFORM mailqueue.count_usage();
    END IF;
    IF v_signals < 5000 AND v_new_floor::text::bigint > v_floor::text::bigint + 1000 THEN
        UPDATE mailqueue.lane_gather AS g SET signal_floor = v_new_floor WHERE g.is_only;
    END IF;

    FOR i IN 1..2 LOOP
        SELECT l.blocked_until - v_now INTO next_wake FROM mailqueue.lanes AS l
         WHERE l.blocked_until IS NOT NULL AND l.blocked_until < 'infinity' ORDER BY l.blocked_until LIMIT 1;
        EXIT WHEN i = 2 OR next_wake > interval '0' OR next_wake IS NULL;
        WITH due AS MATERIALIZED (
            SELECT l.id FROM mailqueue.lanes AS l WHERE l.blocked_until <= v_now
             ORDER BY l.blocked_until LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
        ), up AS (
            UPDATE mailqueue.lanes AS l
               SET blocked_until = NULL, blocked_reason = NULL,
                   vtime = greatest(l.vtime,
                                    (SELECT c.vclock FROM mailqueue.lane_classes AS c WHERE c.priority = l.priority))
             WHERE l.id = ANY (ARRAY(SELECT d.id FROM due AS d)) RETURNING 1
        )
        SELECT woken + count(*) INTO woken FROM up;
    END LOOP;
    next_wake := coalesce(v_brake, next_wake);
END $$;
COMMENT ON FUNCTION mailqueue.gather_lanes() IS
    'Wake lanes that have new mail or whose block has ended, and count accepted mail. Returns the number of signals '
    'and lanes (-1: another process is doing it) and the wait until the next block ends.';

-- A claim skips lanes and limits that others hold: lanes that are still ready after it have mail, unless all their
-- accounts are avoided.
CREATE OR REPLACE FUNCTION mailqueue.are_lanes_ready(p_avoid integer[] DEFAULT '{}') RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    SELECT EXISTS (SELECT FROM mailqueue.lane_classes AS c
                    WHERE EXISTS (SELECT FROM mailqueue.lanes AS l
                                   WHERE l.priority = c.priority AND l.blocked_until IS NULL AND l.vtime >= c.vclock
                                     AND NOT l.account_limits && ARRAY(
                                         SELECT m.id FROM mailqueue.limits AS m
                                          WHERE m.sender_account_id = ANY (p_avoid))))
$$;
COMMENT ON FUNCTION mailqueue.are_lanes_ready(integer[]) IS 'Whether any lane has mail that a claim may take now.';
