-- Claiming: lanes in turn, headroom reserved, rows taken, all in one transaction.
--
-- Planner settings are pinned because a plan cached while the queue was empty would otherwise cost seconds.
-- Needs READ COMMITTED: each statement must see the newest commits.

DROP FUNCTION IF EXISTS mailqueue.claim_emails(integer, integer, interval);

-- p_avoid: sender accounts whose servers say nothing to this worker just now. It holds mail of theirs, and takes no
-- more.
CREATE OR REPLACE FUNCTION mailqueue.claim_emails(p_worker integer, p_limit integer, p_lease interval,
    p_avoid integer[] DEFAULT '{}')
RETURNS TABLE (id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb, content_id bigint, content_on date)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_claim bigint;
    v_left integer := p_limit; v_asked integer := p_limit;
    v_first smallint; v_order smallint[]; v_class record;
    -- what one project may have of a class, and who has it
    v_most integer; v_capped integer[] := '{}'; v_is_capped boolean := false;
    v_avoid integer[] := '{}'; v_passed integer[] := '{}';   -- limits of p_avoid, and lanes passed over for them
    v_vtimes bigint[]; v_last bigint;
    v_is_braked boolean; v_is_rated boolean; v_brake_day date;
    l record;                                                -- lanes of this round
    v_lanes integer[]; v_floors timestamptz[]; v_probes timestamptz[]; v_projects integer[]; v_domains integer[];
    v_accounts text[];
    v_weights integer[]; v_tests boolean[];                  -- lanes of test mail: its trap is all that counts it
    h_id integer[] := '{}'; h_account integer[] := '{}'; h_now integer[] := '{}'; h_room integer[] := '{}';
    -- limits seen
    h_until timestamptz[] := '{}'; h_why text[] := '{}'; h_day date[] := '{}'; h_used integer[] := '{}';
    h_revision integer[] := '{}';
    h_fallback boolean[] := '{}';
    h_share integer[];                                       -- of these, taken from this class
    v_need integer[];
    v_weight_sum bigint;
    v_quota integer; v_room integer; v_size integer; v_picked integer;
    p integer; a integer; d integer; i integer;              -- places in h_: project, account, domain
    v_candidates integer[];
    v_until timestamptz; v_why text; v_full boolean; v_next timestamptz;
    -- an account before may send, or nobody knows: no case for a fallback
    v_is_spare boolean;
    v_got record;
    -- rows of this round
    r_ids uuid[]; r_accounts integer[]; r_revisions integer[]; r_account_days date[]; r_project_days date[];
    u_ids integer[]; u_steps bigint[]; u_floors timestamptz[]; u_probes timestamptz[]; u_untils timestamptz[];
    u_whys text[];
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'claim_emails() needs READ COMMITTED' USING ERRCODE = '25001';
    END IF;
    PERFORM FROM mailqueue.workers AS w WHERE w.id = p_worker AND w.lost_at IS NULL AND w.stopped_at IS NULL
       FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'worker % was declared lost', p_worker USING ERRCODE = '55000';
    END IF;
    v_claim := nextval('mailqueue.claim_no_seq');
    -- The rate of the whole installation: first of all limits here, as in settling.
    PERFORM FROM mailqueue.limits AS m WHERE m.id = 0 AND m.rate_per_second IS NOT NULL FOR NO KEY UPDATE;
    v_is_braked := FOUND;
    IF v_is_braked THEN
        v_now := clock_timestamp();
        SELECT least(v_left, r.headroom), r.today INTO v_left, v_brake_day FROM mailqueue.headroom('{0}', v_now) AS r;
        v_asked := v_left;
    END IF;
    IF p_avoid <> '{}' THEN
        v_avoid := ARRAY(SELECT m.id FROM mailqueue.limits AS m WHERE m.sender_account_id = ANY (p_avoid));
    END IF;
    v_is_rated := EXISTS (SELECT FROM mailqueue.domain_rates);

    -- Every twentieth claim begins with the second class, another with the third, another with the last: nobody
    -- starves. A project that has its share of a class stands back until the others had theirs, and then gets what is
    -- left.
    v_first := CASE v_claim % 20 WHEN 5 THEN 1 WHEN 10 THEN 2 WHEN 15 THEN 3 ELSE 0 END;
    v_order := v_first || array_remove('{0,1,2,3}', v_first);
    FOR v_class IN SELECT c.priority, c.vclock, c.project_share,
                          CASE WHEN t.n > cardinality(v_order) THEN 2 ELSE 1 END AS turn
                     FROM unnest(v_order || v_order) WITH ORDINALITY AS t(priority, n)
                     JOIN mailqueue.lane_classes AS c ON c.priority = t.priority ORDER BY t.n LOOP
        EXIT WHEN v_left <= 0;
        IF v_class.turn = 2 THEN
            EXIT WHEN NOT v_is_capped;
            v_capped := '{}';
        END IF;
        v_most := CASE WHEN v_class.turn = 1 AND v_class.project_share IS NOT NULL
                            THEN greatest(1, floor(v_asked * v_class.project_share)) END;
        h_share := array_fill(0, ARRAY[cardinality(h_id)]);
        FOR v_round IN 0..5 LOOP
            EXIT WHEN v_left <= 0;
            WITH pick AS MATERIALIZED (
                SELECT l.* FROM mailqueue.lanes AS l
                 WHERE l.priority = v_class.priority AND l.blocked_until IS NULL AND l.vtime >= v_class.vclock
                   AND l.project_limit <> ALL (v_capped) AND l.id <> ALL (v_passed)
                 ORDER BY l.vtime, l.id LIMIT least(8 * 4 ^ v_round, v_left)::integer FOR NO KEY UPDATE SKIP LOCKED
            )
            SELECT array_agg(k.id), array_agg(k.due_floor), array_agg(k.probed_at), array_agg(k.project_limit),
                   array_agg(k.domain_limit), array_agg(k.account_limits::text), array_agg(k.weight),
                   array_agg(k.vtime), max(k.vtime), array_agg(coalesce(k.home_route, k.route) LIKE '(test)%')
              INTO v_lanes, v_floors, v_probes, v_projects, v_domains, v_accounts, v_weights, v_vtimes, v_last, v_tests
              FROM pick AS k;
            EXIT WHEN v_lanes IS NULL;

            -- Limits of these lanes. The first round waits for them in id order, later rounds must not wait.
            SELECT array_agg(DISTINCT e ORDER BY e) INTO v_need
              FROM (SELECT unnest(v_projects || v_domains) AS e
                    UNION SELECT unnest(x::integer[]) FROM unnest(v_accounts) AS x) AS s
             WHERE e <> ALL (h_id) AND e IS NOT NULL;
            IF v_need IS NOT NULL THEN
                IF h_id = '{}' THEN
                    PERFORM FROM mailqueue.limits AS m WHERE m.id = ANY (v_need) ORDER BY m.id FOR NO KEY UPDATE;
                ELSE
                    SELECT array_agg(m.id) INTO v_need FROM (
                        SELECT m.id FROM mailqueue.limits AS m WHERE m.id = ANY (v_need)
                           FOR NO KEY UPDATE SKIP LOCKED) AS m;
                END IF;
                SELECT h_id || array_agg(r.limit_id), h_account || array_agg(r.sender_account_id),
                       h_now || array_agg(least(r.headroom, r.batch_size)),
                       h_room || array_agg(coalesce(r.daily_limit - r.sent - r.reserved, 2000000000)),
                       h_until || array_agg(r.until), h_why || array_agg(r.why),
                       h_day || array_agg(r.today), h_used || array_agg(0), h_share || array_agg(0),
                       h_revision || array_agg(s.revision), h_fallback || array_agg(s.is_fallback)
                  INTO h_id, h_account, h_now, h_room, h_until, h_why, h_day, h_used, h_share, h_revision, h_fallback
                  FROM mailqueue.headroom(coalesce(v_need, '{}'), v_now) AS r
                  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = r.sender_account_id;
            END IF;

            r_ids := '{}'; r_accounts := '{}'; r_revisions := '{}'; r_account_days := '{}'; r_project_days := '{}';
            u_ids := '{}'; u_steps := '{}'; u_floors := '{}'; u_probes := '{}'; u_untils := '{}'; u_whys := '{}';
            SELECT sum(w) INTO v_weight_sum FROM unnest(v_weights) AS w;
            FOR i IN 1..cardinality(v_lanes) LOOP
                EXIT WHEN v_left <= 0;
                v_quota := greatest(1, ceil(v_left::numeric * v_weights[i] / v_weight_sum))::integer;
                v_weight_sum := v_weight_sum - v_weights[i];
                p := array_position(h_id, v_projects[i]);
                d := array_position(h_id, v_domains[i]);
                CONTINUE WHEN p IS NULL OR (d IS NULL AND v_domains[i] IS NOT NULL);  -- another claim holds the limit
                CONTINUE WHEN v_most <= h_share[p];          -- its project has had its share
                a := NULL; v_until := 'infinity'; v_why := NULL; v_is_spare := false;
                v_candidates := v_accounts[i]::integer[];
                IF cardinality(v_candidates) = 0 THEN
                    v_why := 'no_sender';
                ELSIF h_now[d] - h_used[d] <= 0 THEN
                    v_until := coalesce(h_until[d], v_now + interval '20 ms');
                    v_why := coalesce(h_why[d], 'recheck');
                ELSIF h_now[p] - h_used[p] > 0 THEN
                    FOR k IN 1..cardinality(v_candidates) LOOP  -- the first account that has headroom
                        a := array_position(h_id, v_candidates[k]);
                        IF a IS NULL OR v_candidates[k] = ANY (v_avoid) THEN
                            a := NULL;
                            v_why := 'busy';
                            v_is_spare := true;
                        ELSIF h_now[a] - h_used[a] > 0 AND NOT (v_is_spare AND h_fallback[a]) THEN
                            EXIT;
                        ELSE
                            v_is_spare := v_is_spare OR h_why[a] IS NULL;
                            IF v_why IS DISTINCT FROM 'busy'
                               AND (v_why IS NULL OR coalesce(h_until[a], v_now + interval '20 ms') < v_until) THEN
                                v_until := coalesce(h_until[a], v_now + interval '20 ms');
                                v_why := coalesce(h_why[a], 'recheck');
                            END IF;
                            a := NULL;
                        END IF;
                    END LOOP;
                ELSE
                    v_until := coalesce(h_until[p], v_now + interval '20 ms');
                    v_why := coalesce(h_why[p], 'recheck');
                END IF;
                -- behind the others: the clock of the class must not stand still
                IF a IS NULL AND v_why = 'busy' AND v_candidates && v_avoid THEN
                    v_passed := v_passed || v_lanes[i];
                    u_ids := u_ids || v_lanes[i]; u_steps := u_steps || v_last - v_vtimes[i];
                    u_floors := u_floors || v_floors[i];
                    u_probes := u_probes || v_probes[i]; u_untils := u_untils || NULL::timestamptz;
                    u_whys := u_whys || NULL::text;
                    CONTINUE;
                END IF;
                CONTINUE WHEN a IS NULL AND v_why = 'busy';
                IF a IS NULL THEN                            -- the lane waits as a whole; its rows are not touched
                    u_ids := u_ids || v_lanes[i]; u_steps := u_steps || 0::bigint; u_floors := u_floors || v_floors[i];
                    u_probes := u_probes || v_probes[i]; u_untils := u_untils || v_until; u_whys := u_whys || v_why;
                    CONTINUE;
                END IF;

                -- Shares, batches and rates bend for the last message; what is left of the day does not.
                v_quota := least(v_quota, h_now[a] - h_used[a], h_now[p] - h_used[p], h_now[d] - h_used[d],
                                 v_most - h_share[p]);
                v_room := least(h_room[a] - h_used[a], h_room[p] - h_used[p]);
                v_full := v_probes[i] < v_now - interval '1 second';  -- once a second without the floor
                v_got := mailqueue.pick_emails(v_lanes[i], CASE WHEN v_full THEN '-infinity' ELSE v_floors[i] END,
                                               v_now, v_quota, v_room);
                v_picked := v_got.recipients;
                IF v_is_rated AND d IS NULL AND v_picked > 0 AND NOT v_tests[i] THEN
                    SELECT r.ids, r.recipients, v_got.last_due AS last_due, v_got.passed AS passed INTO v_got
                      FROM mailqueue.move_rated(v_lanes[i], v_got.ids) AS r;
                END IF;
                IF v_got.recipients > 0 THEN
                    r_ids := r_ids || v_got.ids;
                    r_accounts := r_accounts || array_fill(h_account[a], ARRAY[cardinality(v_got.ids)]);
                    r_revisions := r_revisions || array_fill(h_revision[a], ARRAY[cardinality(v_got.ids)]);
                    r_account_days := r_account_days || array_fill(h_day[a], ARRAY[cardinality(v_got.ids)]);
                    r_project_days := r_project_days
                        || array_fill(CASE WHEN NOT v_tests[i] THEN h_day[p] END, ARRAY[cardinality(v_got.ids)]);
                    h_used[a] := h_used[a] + v_got.recipients;
                    -- its block is over: a circuit may be half open
                    IF h_why[a] IS NULL AND h_until[a] IS NOT NULL THEN
                        PERFORM mailqueue.begin_probe(h_id[a], v_claim);
                    END IF;
                    IF NOT v_tests[i] THEN
                        h_used[p] := h_used[p] + v_got.recipients;
                    END IF;
                    h_share[p] := h_share[p] + v_got.recipients;
                    IF d IS NOT NULL THEN
                        h_used[d] := h_used[d] + v_got.recipients;
                    END IF;
                    IF h_share[p] >= v_most THEN
                        v_is_capped := true;
                        v_capped := v_capped || v_projects[i];
                    END IF;
                    v_left := v_left - v_got.recipients;
                END IF;
                v_next := NULL; v_why := NULL;
                -- nothing more for now: empty, not due, or too big for the rest
                IF v_picked < v_quota THEN
                    SELECT q.run_at, q.recipients INTO v_next, v_size FROM mailqueue.email_queue AS q
                     WHERE q.status = 'pending' AND q.lane_id = v_lanes[i] AND q.id <> ALL (coalesce(v_got.ids, '{}'))
                       AND q.run_at >= CASE WHEN v_full THEN '-infinity' ELSE greatest(v_floors[i], v_got.last_due) END
                     ORDER BY q.run_at, q.id LIMIT 1;
                    IF v_next IS NULL THEN
                        v_next := CASE WHEN v_full THEN 'infinity' ELSE v_now + interval '1 second' END;
                        v_why := 'empty';
                    ELSIF v_next > v_now THEN
                        v_next := CASE WHEN v_full THEN v_next ELSE least(v_next, v_now + interval '1 second') END;
                        v_why := 'not_due';
                    ELSIF v_got.passed = 0 AND v_size <= v_room THEN
                        v_next := v_now + interval '50 ms';  -- somebody else holds it
                        v_why := 'recheck';
                    ELSIF v_picked = 0 THEN
                        v_next := v_now + interval '5 s';
                        v_why := 'recheck';
                    ELSE
                        v_next := NULL;
                    END IF;
                END IF;
                u_ids := u_ids || v_lanes[i];
                u_steps := u_steps || (v_got.recipients * 100000 / v_weights[i])::bigint;
                u_floors := u_floors || coalesce(v_got.last_due, v_floors[i]);
                u_probes := u_probes || CASE WHEN v_full THEN v_now ELSE v_probes[i] END;
                u_untils := u_untils || v_next;
                u_whys := u_whys || v_why;
            END LOOP;

            -- In every round: our own locks do not hide rows from the next round, their status does.
            RETURN QUERY
                UPDATE mailqueue.email_queue AS q
                   SET status = 'assigned', claim_no = v_claim, worker_id = p_worker, assigned_at = v_now,
                       lease_until = v_now + p_lease, attempts = least(q.attempts, 32766) + 1, assigned_to = x.account,
                       account_day = x.account_day, project_day = x.project_day
                  FROM unnest(r_ids, r_accounts, r_revisions, r_account_days, r_project_days)
                    AS x(id, account, revision, account_day, project_day)
                 WHERE q.id = x.id
                RETURNING q.id, q.claim_no, q.assigned_to, x.revision, q.project_id, q.attempts, q.recipients,
                          q.unknowns, q.expires_at, q.category, q.recipient_email, q.recipient_name, q.custom_data,
                          q.content_id, q.content_on;
            UPDATE mailqueue.lanes AS l
               SET vtime = l.vtime + u.step, due_floor = u.due_floor, probed_at = u.probed_at, blocked_until = u.until,
                   blocked_reason = u.why
              FROM unnest(u_ids, u_steps, u_floors, u_probes, u_untils, u_whys)
                AS u(id, step, due_floor, probed_at, until, why)
             WHERE l.id = u.id;
            EXIT WHEN cardinality(u_ids) = 0;
        END LOOP;
    END LOOP;

    IF v_is_braked AND v_left < v_asked THEN
        PERFORM mailqueue.reserve(0, v_brake_day, v_asked - v_left, v_now);
    END IF;
    IF v_left < v_asked THEN
        PERFORM mailqueue.reserve_all(h_id, h_day, h_used, v_now);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.claim_emails(integer, integer, interval, integer[]) IS
    'Take about so many recipients'' worth of due mail for one worker, lanes in turn, limits reserved. Rows another '
    'worker is claiming are skipped, not waited for.';
