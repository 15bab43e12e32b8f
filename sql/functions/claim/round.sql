-- One round of a claim in one class; see claim.sql, whose planner settings these functions inherit.

-- The first round waits for limits, in the order of their ids; later rounds must not wait. The arrays that change with
-- each lane are variables: a change of a field of the state would copy the whole array.
CREATE OR REPLACE FUNCTION mailqueue.claim_round(s mailqueue.claim_state, p_worker integer, p_lanes mailqueue.lanes[])
RETURNS mailqueue.claim_state
LANGUAGE plpgsql
AS $$
DECLARE
    v_limits mailqueue.claim_limit[] := s.limits;            -- all that are locked, and their ids
    v_ids integer[] := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
    v_busy integer[] := '{}';                                -- limits that another claim holds
    v_picks mailqueue.claim_pick[] := '{}';
    v_changed mailqueue.lanes[] := '{}';
    v_last bigint; v_weights bigint;
    l mailqueue.lanes;
    p integer; d integer; a integer;                         -- places in v_limits: project, domain, account
    v_counted integer[]; i integer;                          -- places of those that count the mail of the lane
    v_choice record; v_got record; v_quota integer;
BEGIN
    v_limits := v_limits || mailqueue.lock_limits(mailqueue.first_limits(p_lanes, v_ids), v_ids = '{}', s.began_at);
    v_ids := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
    SELECT sum(k.weight), max(k.vtime) INTO v_weights, v_last FROM unnest(p_lanes) AS k;
    FOREACH l IN ARRAY p_lanes LOOP
        EXIT WHEN s.left_over <= 0;
        v_quota := greatest(1, ceil(s.left_over::numeric * l.weight / v_weights))::integer;
        v_weights := v_weights - l.weight;
        p := array_position(v_ids, l.project_limit);
        d := array_position(v_ids, l.domain_limit);
        IF p IS NULL OR (d IS NULL AND l.domain_limit IS NOT NULL) THEN
            v_changed := v_changed || mailqueue.lane_without_limits(l);
            CONTINUE;
        END IF;
        CONTINUE WHEN s.max_share <= v_limits[p].share;
        LOOP
            v_choice := mailqueue.choose_account(l, v_ids, v_limits, p, d, v_busy, s.avoid, s.began_at);
            EXIT WHEN v_choice.unseen IS NULL;
            v_limits := v_limits || mailqueue.lock_limits(v_choice.unseen, false, s.began_at);
            v_ids := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
            v_busy := v_busy || ARRAY(SELECT u FROM unnest(v_choice.unseen) AS u WHERE u <> ALL (v_ids));
        END LOOP;
        a := v_choice.place;
        IF a IS NULL THEN
            v_got := mailqueue.lane_without_account(l, v_choice.until, v_choice.why, s.avoid, v_last);
            v_changed := v_changed || v_got.changed;
            s.passed := s.passed || v_got.passed;
            CONTINUE;
        END IF;
        -- Only the trap of test mail counts it.
        v_counted := array_remove(ARRAY[a, d, CASE WHEN NOT coalesce(l.home_route, l.route) LIKE '(test)%' THEN p END],
                                  NULL);
        -- The last message may exceed shares, batches and rates, but not what is left of the day.
        v_quota := least(v_quota, v_limits[a].headroom - v_limits[a].used, v_limits[p].headroom - v_limits[p].used,
                         v_limits[d].headroom - v_limits[d].used, s.max_share - v_limits[p].share);
        v_got := mailqueue.pick_from_lane(l, v_quota,
            least(v_limits[a].day_left - v_limits[a].used, v_limits[p].day_left - v_limits[p].used), s.began_at, s.skip,
            CASE WHEN s.isolates THEN p_worker END, s.has_rates AND d IS NULL AND p = ANY (v_counted));
        v_changed := v_changed || v_got.lane;
        s.skip := v_got.skip;
        CONTINUE WHEN v_got.recipients = 0;
        v_picks := v_picks || mailqueue.paced_pick(v_got.ids, v_got.recipients, v_limits, a, p, v_counted);
        FOREACH i IN ARRAY v_counted LOOP
            v_limits[i].used := v_limits[i].used + v_got.recipients;
        END LOOP;
        v_limits[p].share := v_limits[p].share + v_got.recipients;
        IF v_limits[p].share >= s.max_share THEN
            s.has_full_projects := true;
            s.full_projects := s.full_projects || l.project_limit;
        END IF;
        s.left_over := s.left_over - v_got.recipients;
        s.has_windows := s.has_windows OR v_limits[a].has_windows;
        s.mails := s.mails || v_got.ids;
        s.contents := s.contents || v_got.contents;
        s.content_from := least(s.content_from, v_got.content_from);
        s.content_to := greatest(s.content_to, v_got.content_to);
        -- Its block is over: a circuit may be half open.
        IF v_limits[a].why IS NULL AND v_limits[a].until IS NOT NULL THEN
            PERFORM mailqueue.begin_probe(v_limits[a].id, s.claim_no);
        END IF;
    END LOOP;
    s.limits := v_limits; s.picks := v_picks; s.changed := v_changed;
    RETURN s;
END $$;
COMMENT ON FUNCTION mailqueue.claim_round(mailqueue.claim_state, integer, mailqueue.lanes[]) IS
    'Lock the limits of some lanes and pick mail of each; the state then has the picks and the lanes that change.';

-- Another claim holds a limit of the lane, or it is gone.
CREATE OR REPLACE FUNCTION mailqueue.lane_without_limits(l mailqueue.lanes) RETURNS mailqueue.lanes[]
LANGUAGE plpgsql
AS $$
BEGIN
    IF mailqueue.are_limits_there(ARRAY[l.project_limit, l.domain_limit], true) THEN
        RETURN '{}';
    END IF;
    l.blocked_until := 'infinity'; l.blocked_reason := 'no_sender';
    RETURN ARRAY[l];
END $$;
COMMENT ON FUNCTION mailqueue.lane_without_limits(mailqueue.lanes) IS
    'A lane that gives no mail because a limit of its project or domain is not locked; empty where nothing changes.';

-- p_until, p_why: as choose_account() returns them. p_last: the last turn of this round.
CREATE OR REPLACE FUNCTION mailqueue.lane_without_account(l mailqueue.lanes, p_until timestamptz, p_why text,
    p_avoid integer[], p_last bigint, OUT changed mailqueue.lanes[], OUT passed integer[])
LANGUAGE plpgsql
AS $$
BEGIN
    changed := '{}'; passed := '{}';
    IF p_why = 'busy' AND NOT mailqueue.are_limits_there(l.account_limits, false) THEN
        p_until := 'infinity'; p_why := 'no_sender';
    END IF;
    IF p_why <> 'busy' THEN                                  -- the lane waits as a whole; its rows are not read
        l.blocked_until := p_until; l.blocked_reason := p_why;
        changed := ARRAY[l];
    ELSIF l.account_limits && p_avoid THEN                   -- behind the other lanes: the class's clock must move on
        l.vtime := p_last;
        changed := ARRAY[l];
        passed := ARRAY[l.id];
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.lane_without_account(mailqueue.lanes, timestamptz, text, integer[], bigint) IS
    'A lane that gives no mail because no account may send it: changed, empty where nothing changes, and passed by.';

-- Once, or where rows are isolated until none of those picked is refused; at last no row.
-- p_isolates_for: the worker of a claim that isolates its rows. p_moves: mail of domains with a rate is moved.
CREATE OR REPLACE FUNCTION mailqueue.pick_from_lane(l mailqueue.lanes, p_quota integer, p_room integer,
    p_now timestamptz, p_skip uuid[], p_isolates_for integer, p_moves boolean, OUT lane mailqueue.lanes,
    OUT ids uuid[], OUT recipients integer, OUT contents bigint[], OUT content_from date, OUT content_to date,
    OUT skip uuid[])
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_is_full boolean := l.probed_at < p_now - interval '1 second';  -- once a second from the beginning of the lane
    v_got record; v_refused uuid[];
    v_picked integer;
BEGIN
    skip := p_skip;
    FOR i IN 0..10 LOOP
        v_got := mailqueue.pick_emails(l.id, CASE WHEN v_is_full THEN '-infinity' ELSE l.due_floor END, p_now,
                                       CASE WHEN i < 10 THEN p_quota ELSE 0 END, p_room, skip);
        EXIT WHEN p_isolates_for IS NULL OR v_got.ids IS NULL;
        v_refused := mailqueue.refused_rows_of('email_queue', p_isolates_for, v_got.ids);
        EXIT WHEN v_refused = '{}';
        skip := skip || v_refused;
    END LOOP;
    ids := v_got.ids; recipients := v_got.recipients; contents := v_got.contents;
    content_from := v_got.content_from; content_to := v_got.content_to;
    v_picked := recipients;
    IF p_moves AND v_picked > 0 THEN
        SELECT r.ids, r.recipients INTO ids, recipients FROM mailqueue.move_rated(l.id, v_got.ids) AS r;
    END IF;
    lane := l;
    IF v_picked < p_quota THEN
        SELECT n.until, n.why INTO lane.blocked_until, lane.blocked_reason
          FROM mailqueue.next_look(l, ids || skip, v_got.last_due, v_picked, v_got.passed > 0, p_room, p_now,
                                   v_is_full) AS n;
    END IF;
    lane.vtime := l.vtime + recipients * 100000::bigint / l.weight;
    lane.due_floor := coalesce(v_got.last_due, l.due_floor);
    lane.probed_at := CASE WHEN v_is_full THEN p_now ELSE l.probed_at END;
END $$;
COMMENT ON FUNCTION mailqueue.pick_from_lane(mailqueue.lanes, integer, integer, timestamptz, uuid[], integer,
                                             boolean) IS
    'Pick mail of one lane; the lane as it is then has its next turn, and a block where it had too little mail.';

CREATE OR REPLACE FUNCTION mailqueue.paced_pick(p_ids uuid[], p_recipients integer,
    p_limits mailqueue.claim_limit[], a integer, p integer, p_counted integer[]) RETURNS mailqueue.claim_pick
LANGUAGE plpgsql
AS $$
DECLARE
    v_pick mailqueue.claim_pick := ROW(p_ids, p_limits[a].account, p_limits[a].revision, p_limits[a].today,
                                       CASE WHEN p = ANY (p_counted) THEN p_limits[p].today END, NULL, NULL, NULL);
    v_place integer;
BEGIN
    FOREACH v_place IN ARRAY p_counted LOOP
        IF p_limits[v_place].rate IS NOT NULL THEN
            SELECT s.due_now, s.is_first_due, s.rate INTO v_pick.due_now, v_pick.is_first_due, v_pick.rate
              FROM mailqueue.pace_of_pick(p_limits, p_counted, cardinality(p_ids), p_recipients) AS s;
            EXIT;
        END IF;
    END LOOP;
    RETURN v_pick;
END $$;
COMMENT ON FUNCTION mailqueue.paced_pick(uuid[], integer, mailqueue.claim_limit[], integer, integer, integer[]) IS
    'A pick of mails for the account at place a, and their pace where a limit that counts them has a rate.';
