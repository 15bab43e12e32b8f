-- Parts of a claim; see claim.sql, whose planner settings they inherit.

-- Lanes that are ready, those first whose turn it is.
CREATE OR REPLACE FUNCTION mailqueue.pick_lanes(p_priority smallint, p_vclock bigint, p_without_projects integer[],
    p_without_lanes integer[], p_count integer) RETURNS mailqueue.lanes[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_lanes mailqueue.lanes[];
BEGIN
    WITH pick AS MATERIALIZED (
        SELECT l AS lane FROM mailqueue.lanes AS l
         WHERE l.priority = p_priority AND l.blocked_until IS NULL AND l.vtime >= p_vclock
           AND l.project_limit <> ALL (p_without_projects) AND l.id <> ALL (p_without_lanes)
         ORDER BY l.vtime, l.id LIMIT p_count FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(k.lane) INTO v_lanes FROM pick AS k;
    RETURN v_lanes;
END $$;
COMMENT ON FUNCTION mailqueue.pick_lanes(smallint, bigint, integer[], integer[], integer) IS
    'Lock ready lanes of one class in their order, skipping those that another claim holds; NULL where there is none.';

-- The limits of the projects, domains and first accounts of some lanes, without those that are locked already. Of many
-- accounts only the first are locked: further ones are needed only when those are blocked; see choose_account().
CREATE OR REPLACE FUNCTION mailqueue.first_limits(p_lanes mailqueue.lanes[], p_locked integer[]) RETURNS integer[]
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT n.id FROM unnest(p_lanes) AS l
         CROSS JOIN LATERAL unnest(ARRAY[l.project_limit, l.domain_limit] || l.account_limits[1:8]) AS n(id)
         WHERE n.id IS NOT NULL AND n.id <> ALL (p_locked));
END $$;
COMMENT ON FUNCTION mailqueue.first_limits(mailqueue.lanes[], integer[]) IS
    'Ids of the limits that lanes need first.';

CREATE OR REPLACE FUNCTION mailqueue.lock_limits(p_limits integer[], p_may_wait boolean, p_now timestamptz)
RETURNS mailqueue.claim_limit[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_locked integer[] := p_limits;
BEGIN
    IF p_limits = '{}' THEN
        RETURN '{}';
    END IF;
    IF p_may_wait THEN
        PERFORM FROM mailqueue.limits AS m WHERE m.id = ANY (p_limits) ORDER BY m.id FOR NO KEY UPDATE;
    ELSE
        v_locked := ARRAY(SELECT m.id FROM mailqueue.limits AS m WHERE m.id = ANY (p_limits)
                             FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN ARRAY(
        SELECT ROW(r.limit_id, r.sender_account_id, least(r.headroom, r.batch_size),
                   r.room, r.until, r.why, r.today, 0, 0, s.revision, s.is_fallback, r.rate, r.tokens,
                   r.has_windows, r.low_opens_at)::mailqueue.claim_limit
          FROM mailqueue.headroom(v_locked, p_now) AS r
          LEFT JOIN mailqueue.sender_accounts AS s ON s.id = r.sender_account_id);
END $$;
COMMENT ON FUNCTION mailqueue.lock_limits(integer[], boolean, timestamptz) IS
    'Lock limits and compute their headroom; without p_may_wait those that another claim holds are left out.';

-- A rate is looked at again when it gives a tenth of a second's worth; other limits of which this claim has taken all
-- are looked at by the next claim.
CREATE OR REPLACE FUNCTION mailqueue.wait_for_limit(m mailqueue.claim_limit, p_rate text, p_now timestamptz,
    OUT until timestamptz, OUT why text)
LANGUAGE plpgsql
AS $$
BEGIN
    why := coalesce(m.why, CASE WHEN m.tokens - m.used < 1 THEN p_rate ELSE 'recheck' END);
    until := CASE WHEN m.until IS NOT NULL THEN m.until
                  WHEN m.why IS NULL AND m.tokens - m.used < 1
                       THEN p_now + make_interval(secs => ((greatest(1, ceil(m.rate / 10)) - m.tokens + m.used)
                                                           / m.rate)::float8)
                  ELSE p_now + interval '20 ms' END;
END $$;
COMMENT ON FUNCTION mailqueue.wait_for_limit(mailqueue.claim_limit, text, timestamptz) IS
    'Until when a limit without headroom makes a lane wait, and why.';

-- Mails of one lane are sent at the slowest of the rates that hold for them. All of these are taken to have as many
-- recipients as they have on average.
CREATE OR REPLACE FUNCTION mailqueue.pace_of_pick(p_limits mailqueue.claim_limit[], p_places integer[],
    p_emails integer, p_recipients integer, OUT due_now float8, OUT is_first_due boolean, OUT rate float8)
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    m mailqueue.claim_limit;
    v_place integer;
    v_seconds numeric;
    v_longest numeric;
BEGIN
    FOREACH v_place IN ARRAY coalesce(p_places, '{}') LOOP   -- the limit that makes it wait longest
        m := p_limits[v_place];
        CONTINUE WHEN m.rate IS NULL;
        v_seconds := (p_recipients - m.tokens + m.used) / m.rate;
        CONTINUE WHEN v_seconds <= v_longest;
        v_longest := v_seconds;
        due_now := (m.tokens - m.used - 0.45 * m.rate) * p_emails / p_recipients;
        is_first_due := m.tokens - m.used >= 1 + m.rate / 4; -- the bucket is full: nothing was sent before
        rate := m.rate * p_emails / p_recipients;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.pace_of_pick(mailqueue.claim_limit[], integer[], integer, integer) IS
    'How many mails of a pick may be sent at once, whether one may in any case, and the rate of the others a second.';

-- A lane whose limits are gone would be ready forever: no claim could lock them.
CREATE OR REPLACE FUNCTION mailqueue.are_limits_there(p_limits integer[], p_all boolean) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_there integer := (SELECT count(DISTINCT c.limit_id) FROM mailqueue.limit_counters AS c
                          JOIN mailqueue.limits AS m ON m.id = c.limit_id WHERE c.limit_id = ANY (p_limits));
BEGIN
    RETURN v_there > 0 AND (NOT p_all OR v_there = cardinality(array_remove(p_limits, NULL)));
END $$;
COMMENT ON FUNCTION mailqueue.are_limits_there(integer[], boolean) IS
    'Whether these limits, or with p_all false any of them, exist with their counters.';

-- Which account of a lane sends: the first that has headroom. A fallback sends only while none before it may.
-- place and the place arguments are places in p_limits. Without a place the lane waits: until and why say how long, and
-- 'busy' that an account is held by another claim or avoided. unseen: limits to lock before the choice can be made.
CREATE OR REPLACE FUNCTION mailqueue.choose_account(p_lane mailqueue.lanes, p_ids integer[],
    p_limits mailqueue.claim_limit[], p_project integer, p_domain integer, p_busy integer[], p_avoid integer[],
    p_now timestamptz, OUT place integer, OUT until timestamptz, OUT why text, OUT unseen integer[])
LANGUAGE plpgsql
AS $$
DECLARE
    m mailqueue.claim_limit;
    v_wait record;
    v_is_spare boolean := false;                             -- an account before may send, or this is not known
BEGIN
    until := 'infinity';
    IF cardinality(p_lane.account_limits) = 0 THEN
        why := 'no_sender';
        RETURN;
    END IF;
    FOREACH place IN ARRAY ARRAY[p_domain, p_project] LOOP
        CONTINUE WHEN place IS NULL;
        m := p_limits[place];
        IF m.headroom - m.used <= 0 THEN
            SELECT w.until, w.why INTO until, why
              FROM mailqueue.wait_for_limit(m, CASE WHEN place = p_domain THEN 'domain_rate' ELSE 'rate' END,
                                            p_now) AS w;
            place := NULL;
            RETURN;
        END IF;
    END LOOP;
    IF p_lane.priority = 3 AND p_limits[p_project].low_opens_at IS NOT NULL THEN
        until := p_limits[p_project].low_opens_at;
        why := 'outside_window';
        place := NULL;
        RETURN;
    END IF;
    FOR k IN 1..cardinality(p_lane.account_limits) LOOP
        CONTINUE WHEN p_lane.account_limits[k] IS NULL;
        place := array_position(p_ids, p_lane.account_limits[k]);
        IF p_lane.account_limits[k] = ANY (p_avoid) OR p_lane.account_limits[k] = ANY (p_busy) THEN
            why := 'busy';
            v_is_spare := true;
            CONTINUE;
        ELSIF place IS NULL THEN
            unseen := p_lane.account_limits[k : k + greatest(8, k) - 1];
            RETURN;
        END IF;
        m := p_limits[place];
        IF m.headroom - m.used > 0 AND NOT (v_is_spare AND m.is_fallback) THEN
            RETURN;
        END IF;
        v_is_spare := v_is_spare OR m.why IS NULL;
        IF why IS DISTINCT FROM 'busy' THEN
            v_wait := mailqueue.wait_for_limit(m, 'rate', p_now);
            IF why IS NULL OR v_wait.until < until THEN
                until := v_wait.until;
                why := v_wait.why;
            END IF;
        END IF;
    END LOOP;
    place := NULL;
    why := coalesce(why, 'no_sender');
END $$;
COMMENT ON FUNCTION mailqueue.choose_account(mailqueue.lanes, integer[], mailqueue.claim_limit[], integer, integer,
                                             integer[], integer[], timestamptz) IS
    'Choose the account that sends the mail of a lane, or say until when the lane waits and why.';

-- Rows of one lane that fit, in order of being due: about p_quota recipients, the last message may go over it, and
-- never more than p_room, none of p_skip. Messages with more recipients than p_room are skipped, not waited for.
-- contents are those of ids, written on the days between content_from and content_to.
CREATE OR REPLACE FUNCTION mailqueue.pick_emails(p_lane integer, p_floor timestamptz, p_now timestamptz,
    p_quota integer, p_room integer, p_skip uuid[], OUT ids uuid[], OUT recipients integer, OUT last_due timestamptz,
    OUT passed integer, OUT contents bigint[], OUT content_from date, OUT content_to date)
LANGUAGE plpgsql
AS $$
DECLARE
    v_ids uuid[];
    v_contents bigint[];
    v_sizes integer[];
BEGIN
    WITH got AS MATERIALIZED (
        SELECT q.id, q.run_at, q.recipients, q.content_id, q.content_on FROM mailqueue.email_queue AS q
         WHERE q.status = 'pending' AND q.lane_id = p_lane AND q.run_at <= p_now AND q.run_at >= p_floor
           AND q.recipients <= p_room AND q.crashes = 0      -- suspects: see suspects.sql
           AND q.id <> ALL (p_skip)
         ORDER BY q.run_at LIMIT p_quota FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(g.id), array_agg(g.content_id), array_agg(g.recipients::integer), coalesce(sum(g.recipients), 0),
           max(g.run_at), 0, min(g.content_on), max(g.content_on)
      INTO v_ids, v_contents, v_sizes, recipients, last_due, passed, content_from, content_to FROM got AS g;
    IF recipients <= p_quota THEN
        ids := v_ids; contents := v_contents;
        RETURN;
    END IF;
    ids := '{}'; contents := '{}'; recipients := 0; last_due := NULL;
    FOR i IN 1..cardinality(v_ids) LOOP
        IF recipients < p_quota AND recipients + v_sizes[i] <= p_room THEN
            ids := ids || v_ids[i];
            contents := contents || v_contents[i];
            recipients := recipients + v_sizes[i];
        ELSE
            passed := passed + 1;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.pick_emails(integer, timestamptz, timestamptz, integer, integer, uuid[]) IS
    'Lock the due mails of one lane that fit into a quota and the room of its limits.';

-- When a lane is looked at again that had less than its quota: it is empty, its next mail is not due, another claim
-- holds it, or it is too large for the rest of the day. NULL: at once. p_taken, p_last_due, p_picked: what was picked.
CREATE OR REPLACE FUNCTION mailqueue.next_look(p_lane mailqueue.lanes, p_taken uuid[], p_last_due timestamptz,
    p_picked integer, p_has_passed boolean, p_room integer, p_now timestamptz, p_is_full boolean,
    OUT until timestamptz, OUT why text)
LANGUAGE plpgsql
AS $$
DECLARE
    v_size integer;
BEGIN
    SELECT q.run_at, q.recipients INTO until, v_size FROM mailqueue.email_queue AS q
     WHERE q.status = 'pending' AND q.lane_id = p_lane.id AND q.id <> ALL (coalesce(p_taken, '{}')) AND q.crashes = 0
       AND q.run_at >= CASE WHEN p_is_full THEN '-infinity' ELSE greatest(p_lane.due_floor, p_last_due) END
     ORDER BY q.run_at LIMIT 1;
    IF until IS NULL THEN
        until := CASE WHEN p_is_full THEN 'infinity' ELSE p_now + interval '1 second' END;
        why := 'empty';
    ELSIF until > p_now THEN
        until := CASE WHEN p_is_full THEN until ELSE least(until, p_now + interval '1 second') END;
        why := 'not_due';
    ELSIF NOT p_has_passed AND v_size <= p_room THEN
        until := p_now + interval '50 ms';                   -- another claim holds it
        why := 'recheck';
    ELSIF p_picked = 0 THEN
        until := p_now + interval '5 s';
        why := 'recheck';
    ELSE
        until := NULL;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.next_look(mailqueue.lanes, uuid[], timestamptz, integer, boolean, integer, timestamptz,
                                        boolean) IS
    'Until when a lane that gave less mail than wanted is blocked, and why.';

CREATE OR REPLACE FUNCTION mailqueue.reserve_claimed(p_limits mailqueue.claim_limit[], p_platform_day date,
    p_recipients integer, p_has_windows boolean, p_now timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_platform_day IS NOT NULL THEN
        PERFORM mailqueue.reserve(0, p_platform_day, p_recipients, p_now);
    END IF;
    PERFORM mailqueue.reserve_all(array_agg(m.id), array_agg(m.today), array_agg(m.used), p_now)
       FROM unnest(p_limits) AS m WHERE m.used > 0;
    IF p_has_windows THEN
        PERFORM mailqueue.reserve_windows(array_agg(m.id), array_agg(m.used), p_now) FROM unnest(p_limits) AS m;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.reserve_claimed(mailqueue.claim_limit[], date, integer, boolean, timestamptz) IS
    'Reserve what a claim took of its limits, and of that of the installation where it has one.';
