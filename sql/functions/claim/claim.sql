-- Claiming: lanes in turn, headroom reserved, rows assigned, all in one transaction.
--
-- The functions that workers call pin the planner's settings, because a plan cached while the queue was empty would
-- cost seconds later; the functions that these call inherit the settings. All need READ COMMITTED: each statement must
-- see the newest commits.

-- A row for each mail, in the order of the claim; a row without id for each content; and a last one without either:
-- whether more can be claimed now, and when the next block of a lane ends.
-- p_avoid: sender accounts whose servers do not respond to this worker. It holds mail of theirs, and takes no more.
-- send_at: when a mail is to be sent, in seconds since 1970, where a rate is kept. In the last row: the time now.
-- p_reads: read contents, each once, and recipients.
-- p_may_mark: this worker has nothing marked and nothing to mark, so that a claim of one mail also marks it; the last
-- row has the verdict.
CREATE OR REPLACE FUNCTION mailqueue.claim_and_read(p_worker integer, p_limit integer, p_lease interval,
    p_avoid integer[], p_reads boolean, p_may_mark boolean)
RETURNS TABLE (id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb, content_id bigint, content_on date,
               found_content_id bigint, subject text, html_body text, text_body text, from_email text, from_name text,
               reply_to text, headers jsonb, files jsonb, template_version_id uuid, template_language text,
               tracking_options smallint, header_recipients jsonb, several jsonb, send_at float8, verdict text,
               reason text, stopped text[], is_left boolean, next_wake interval)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_claim bigint;
    v_asked integer := p_limit;                              -- recipients of the whole claim
    v_left integer;                                          -- of these, not yet found
    v_platform_day date;                                     -- NULL: the installation has no rate
    v_has_rates boolean := EXISTS (SELECT FROM mailqueue.domain_rates);
    v_avoid integer[] := '{}';                               -- limits of the accounts to avoid
    v_ids integer[] := '{}'; v_limits mailqueue.claim_limit[] := '{}';  -- limits locked so far, and their ids
    v_busy integer[];                                        -- limits that another claim holds, this round
    v_first smallint; v_order smallint[]; c record;          -- classes
    v_max_share integer;                                     -- recipients of one project in this class
    v_full_projects integer[] := '{}';                       -- limits of projects that have their share of a class
    v_has_full_projects boolean := false;
    v_passed integer[] := '{}';                              -- lanes skipped for the accounts to avoid
    v_lanes mailqueue.lanes[]; l mailqueue.lanes;            -- of this round
    v_changed mailqueue.lanes[];                             -- lanes as they are after this round
    v_picks mailqueue.claim_pick[];
    v_last bigint; v_weights bigint;
    p integer; d integer; a integer;                         -- places in v_limits: project, domain, account
    v_is_test boolean; v_is_full boolean;
    v_has_windows boolean := false;                          -- an account of this claim has a limit by hour or minute
    v_due_now float8; v_is_first_due boolean; v_rate float8;  -- pace of the mails of one lane
    v_choice record; v_got record; v_picked integer; v_quota integer; v_room integer;
    v_mails uuid[] := '{}';                                  -- all that were picked
    v_contents bigint[] := '{}';                             -- their contents
    v_from date; v_to date;                                  -- days between which these were written
    v_several uuid[] := '{}';                                -- messages that have recipients of their own
    v_skip uuid[] := ARRAY(SELECT r.row_id FROM mailqueue.refused_rows AS r    -- see queue/refused.sql
                            WHERE r.table_name = 'email_queue' AND r.retry_at > v_now LIMIT 10000);
    v_isolates boolean := coalesce(current_setting('mailqueue.isolates_claims', true) = 'email_queue', false);
    v_refused uuid[]; m record;                              -- its mark
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'claim_emails() needs READ COMMITTED' USING ERRCODE = '25001';
    END IF;
    PERFORM FROM mailqueue.workers AS w
      WHERE w.id = p_worker AND w.lost_at IS NULL AND w.stopped_at IS NULL
        AND w.sends_on = current_setting('mailqueue.server', true)
        FOR KEY SHARE;
    IF NOT FOUND AND NOT mailqueue.may_send(p_worker) THEN
        send_at := extract(epoch FROM v_now);
        is_left := false;
        next_wake := interval '1 s';
        RETURN NEXT;
        RETURN;
    END IF;
    v_claim := nextval('mailqueue.claim_no_seq');
    -- The rate of the whole installation is the first limit locked, as in settling.
    PERFORM FROM mailqueue.limits AS m WHERE m.id = 0 AND m.rate_per_second IS NOT NULL FOR NO KEY UPDATE;
    IF FOUND THEN
        v_now := clock_timestamp();
        SELECT least(v_asked, r.headroom), r.today INTO v_asked, v_platform_day
          FROM mailqueue.headroom('{0}', v_now) AS r;
    END IF;
    v_left := v_asked;
    IF p_avoid <> '{}' THEN
        v_avoid := ARRAY(SELECT m.id FROM mailqueue.limits AS m WHERE m.sender_account_id = ANY (p_avoid));
    END IF;

    -- Every twentieth claim begins with the second class, another with the third, another with the last, so that no
    -- class starves. A project that has its share of a class takes more mail, of any class, only after the other
    -- projects, in a second turn of the classes.
    v_first := CASE v_claim % 20 WHEN 5 THEN 1 WHEN 10 THEN 2 WHEN 15 THEN 3 ELSE 0 END;
    v_order := v_first || array_remove('{0,1,2,3}', v_first);
    FOR c IN SELECT k.priority, k.vclock, k.project_share, t.turn
               FROM unnest(v_order || v_order) WITH ORDINALITY AS o(priority, n)
              CROSS JOIN LATERAL (SELECT CASE WHEN o.n > cardinality(v_order) THEN 2 ELSE 1 END AS turn) AS t
               JOIN mailqueue.lane_classes AS k ON k.priority = o.priority
              WHERE EXISTS (SELECT FROM mailqueue.lanes AS r
                             WHERE r.priority = k.priority AND r.blocked_until IS NULL AND r.vtime >= k.vclock)
              ORDER BY o.n LOOP
        EXIT WHEN v_left <= 0 OR c.turn = 2 AND NOT v_has_full_projects;
        IF c.turn = 2 THEN
            v_full_projects := '{}';
        END IF;
        v_max_share := CASE WHEN c.turn = 1 AND c.project_share IS NOT NULL
                                 THEN greatest(1, floor(v_asked * c.project_share)) END;
        FOR i IN 1..cardinality(v_limits) LOOP
            v_limits[i].share := 0;
        END LOOP;
        FOR v_round IN 0..5 LOOP
            EXIT WHEN v_left <= 0;
            v_lanes := mailqueue.pick_lanes(c.priority, c.vclock, v_full_projects, v_passed,
                                            least(8 * 4 ^ v_round, v_left)::integer);
            EXIT WHEN v_lanes IS NULL;
            -- The first round waits for limits, in the order of their ids; later rounds must not wait.
            v_limits := v_limits || mailqueue.lock_limits(mailqueue.first_limits(v_lanes, v_ids), v_ids = '{}', v_now);
            v_ids := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
            v_busy := '{}'; v_picks := '{}'; v_changed := '{}';
            SELECT sum(k.weight), max(k.vtime) INTO v_weights, v_last FROM unnest(v_lanes) AS k;

            FOREACH l IN ARRAY v_lanes LOOP
                EXIT WHEN v_left <= 0;
                v_quota := greatest(1, ceil(v_left::numeric * l.weight / v_weights))::integer;
                v_weights := v_weights - l.weight;
                p := array_position(v_ids, l.project_limit);
                d := array_position(v_ids, l.domain_limit);
                IF p IS NULL OR (d IS NULL AND l.domain_limit IS NOT NULL) THEN  -- another claim holds the limit
                    IF NOT mailqueue.are_limits_there(ARRAY[l.project_limit, l.domain_limit], true) THEN
                        l.blocked_until := 'infinity'; l.blocked_reason := 'no_sender';
                        v_changed := v_changed || l;
                    END IF;
                    CONTINUE;
                END IF;
                CONTINUE WHEN v_max_share <= v_limits[p].share;

                LOOP
                    v_choice := mailqueue.choose_account(l, v_ids, v_limits, p, d, v_busy, v_avoid, v_now);
                    EXIT WHEN v_choice.unseen IS NULL;
                    v_limits := v_limits || mailqueue.lock_limits(v_choice.unseen, false, v_now);
                    v_ids := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
                    v_busy := v_busy || ARRAY(SELECT u FROM unnest(v_choice.unseen) AS u WHERE u <> ALL (v_ids));
                END LOOP;
                a := v_choice.place;
                IF a IS NULL THEN
                    IF v_choice.why = 'busy' AND NOT mailqueue.are_limits_there(l.account_limits, false) THEN
                        v_choice.until := 'infinity'; v_choice.why := 'no_sender';
                    END IF;
                    IF v_choice.why <> 'busy' THEN           -- the lane waits as a whole; its rows are not read
                        l.blocked_until := v_choice.until; l.blocked_reason := v_choice.why;
                        v_changed := v_changed || l;
                    ELSIF l.account_limits && v_avoid THEN   -- behind the other lanes: the class's clock must move on
                        l.vtime := v_last;
                        v_changed := v_changed || l;
                        v_passed := v_passed || l.id;
                    END IF;
                    CONTINUE;
                END IF;

                -- The last message may exceed shares, batches and rates, but not what is left of the day.
                v_quota := least(v_quota, v_limits[a].headroom - v_limits[a].used,
                                 v_limits[p].headroom - v_limits[p].used, v_limits[d].headroom - v_limits[d].used,
                                 v_max_share - v_limits[p].share);
                v_room := least(v_limits[a].day_left - v_limits[a].used, v_limits[p].day_left - v_limits[p].used);
                v_is_full := l.probed_at < v_now - interval '1 second';  -- once a second from the beginning of the lane
                -- Once, or where rows are isolated until none of those picked is refused; at last no row.
                FOR i IN 0..10 LOOP
                    v_got := mailqueue.pick_emails(l.id, CASE WHEN v_is_full THEN '-infinity' ELSE l.due_floor END,
                                                   v_now, CASE WHEN i < 10 THEN v_quota ELSE 0 END, v_room, v_skip);
                    EXIT WHEN NOT v_isolates OR v_got.ids IS NULL;
                    v_refused := mailqueue.refused_rows_of('email_queue', p_worker, v_got.ids);
                    EXIT WHEN v_refused = '{}';
                    v_skip := v_skip || v_refused;
                END LOOP;
                v_picked := v_got.recipients;
                v_is_test := coalesce(l.home_route, l.route) LIKE '(test)%';  -- only its trap counts test mail
                IF v_has_rates AND d IS NULL AND v_picked > 0 AND NOT v_is_test THEN
                    SELECT r.ids, r.recipients, v_got.last_due AS last_due, v_got.passed AS passed,
                           v_got.contents AS contents, v_got.content_from AS content_from,
                           v_got.content_to AS content_to INTO v_got
                      FROM mailqueue.move_rated(l.id, v_got.ids) AS r;
                END IF;
                IF v_got.recipients > 0 THEN
                    v_due_now := NULL; v_rate := NULL;
                    IF num_nonnulls(v_limits[a].rate, v_limits[p].rate, v_limits[d].rate) > 0 THEN
                        SELECT s.* INTO v_due_now, v_is_first_due, v_rate FROM mailqueue.pace_of_pick(
                            v_limits, ARRAY[a, d, CASE WHEN NOT v_is_test THEN p END], cardinality(v_got.ids),
                            v_got.recipients) AS s;
                    END IF;
                    v_picks := v_picks || ROW(v_got.ids, v_limits[a].account, v_limits[a].revision, v_limits[a].today,
                        CASE WHEN NOT v_is_test THEN v_limits[p].today END, v_due_now, v_is_first_due,
                        v_rate)::mailqueue.claim_pick;
                    v_has_windows := v_has_windows OR v_limits[a].has_windows;
                    v_mails := v_mails || v_got.ids;
                    v_contents := v_contents || v_got.contents;
                    v_from := least(v_from, v_got.content_from);
                    v_to := greatest(v_to, v_got.content_to);
                    v_left := v_left - v_got.recipients;
                    v_limits[a].used := v_limits[a].used + v_got.recipients;
                    IF NOT v_is_test THEN
                        v_limits[p].used := v_limits[p].used + v_got.recipients;
                    END IF;
                    IF d IS NOT NULL THEN
                        v_limits[d].used := v_limits[d].used + v_got.recipients;
                    END IF;
                    v_limits[p].share := v_limits[p].share + v_got.recipients;
                    IF v_limits[p].share >= v_max_share THEN
                        v_has_full_projects := true;
                        v_full_projects := v_full_projects || l.project_limit;
                    END IF;
                    -- Its block is over: a circuit may be half open.
                    IF v_limits[a].why IS NULL AND v_limits[a].until IS NOT NULL THEN
                        PERFORM mailqueue.begin_probe(v_limits[a].id, v_claim);
                    END IF;
                END IF;

                IF v_picked < v_quota THEN
                    SELECT n.until, n.why INTO l.blocked_until, l.blocked_reason
                      FROM mailqueue.next_look(l, v_got.ids || v_skip, v_got.last_due, v_picked, v_got.passed > 0,
                                               v_room, v_now, v_is_full) AS n;
                END IF;
                l.vtime := l.vtime + v_got.recipients * 100000::bigint / l.weight;
                l.due_floor := coalesce(v_got.last_due, l.due_floor);
                l.probed_at := CASE WHEN v_is_full THEN v_now ELSE l.probed_at END;
                v_changed := v_changed || l;
            END LOOP;

            -- In every round: locks of this transaction do not hide rows from its next round, their status does.
            IF v_picks <> '{}' THEN
                IF p_reads THEN
                    -- Not by the count of recipients: of several, one may be left.
                    v_several := ARRAY(SELECT DISTINCT r.email_id FROM mailqueue.email_recipients AS r
                                        WHERE r.email_id = ANY (v_mails));
                END IF;
                -- Not in a function of its own, which would copy each row once more.
                RETURN QUERY
                UPDATE mailqueue.email_queue AS q
                   SET status = 'assigned', claim_no = v_claim, worker_id = p_worker, assigned_at = v_now,
                       lease_until = v_now + p_lease, attempts = least(q.attempts, 32766) + 1,
                       assigned_to = x.account, account_day = x.account_day, project_day = x.project_day
                  FROM unnest(v_picks) AS x CROSS JOIN LATERAL unnest(x.ids) WITH ORDINALITY AS i(id, n)
                 WHERE q.id = i.id
                RETURNING q.id, q.claim_no, q.assigned_to, x.revision, q.project_id, q.attempts, q.recipients,
                          q.unknowns, q.expires_at, q.category, q.recipient_email, q.recipient_name, q.custom_data,
                          q.content_id, q.content_on,
                          NULL::bigint, NULL, NULL, NULL, NULL, NULL, NULL, NULL::jsonb, NULL::jsonb, NULL::uuid, NULL,
                          NULL::smallint, NULL::jsonb,
                          CASE WHEN q.id = ANY (v_several) THEN
                               (SELECT jsonb_agg(jsonb_build_array(r.kind, r.address, r.name, r.status)
                                                 ORDER BY r.position)
                                  FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id) END,
                          CASE WHEN i.n > x.due_now AND (i.n > 1 OR NOT x.is_first_due)
                               THEN extract(epoch FROM v_now)::float8 + least((i.n - x.due_now) / x.rate, 0.45) END,
                          NULL, NULL, NULL::text[], NULL::boolean, NULL::interval;
            END IF;
            EXIT WHEN v_changed = '{}';
            UPDATE mailqueue.lanes AS k
               SET vtime = u.vtime, due_floor = u.due_floor, probed_at = u.probed_at, blocked_until = u.blocked_until,
                   blocked_reason = u.blocked_reason
              FROM unnest(v_changed) AS u WHERE k.id = u.id;
        END LOOP;
    END LOOP;

    IF v_left < v_asked THEN
        PERFORM mailqueue.reserve_claimed(v_limits, v_platform_day, v_asked - v_left, v_has_windows, v_now);
    END IF;
    IF p_reads AND v_left < v_asked THEN
        -- By id on the days of all mails together: partitions of other days are not opened.
        RETURN QUERY
        SELECT NULL::uuid, NULL::bigint, NULL::integer, NULL::integer, NULL::uuid, NULL::smallint, NULL::smallint,
               NULL::smallint, NULL::timestamptz, NULL, NULL, NULL, NULL::jsonb, NULL::bigint, NULL::date,
               c.id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers, c.files,
               c.template_version_id, c.template_language, c.tracking_options,
               c.header_recipients, NULL::jsonb, NULL::float8, NULL, NULL, NULL::text[], NULL::boolean, NULL::interval
          FROM mailqueue.email_contents AS c
         WHERE c.id = ANY (v_contents) AND c.created_on BETWEEN v_from AND v_to;
    END IF;
    -- v_left counts recipients: a claim of one recipient is one mail.
    IF p_may_mark AND v_asked - v_left = 1 THEN
        SELECT k.verdict, k.reason, k.stopped INTO verdict, reason, stopped
          FROM mailqueue.mark_emails(p_worker, v_mails, ARRAY[v_claim], '{}', '{}') AS k;
    END IF;
    send_at := extract(epoch FROM clock_timestamp());
    -- Lanes that are still ready have mail, or are held by another claim.
    is_left := v_left <= 0 OR EXISTS (
        SELECT FROM mailqueue.lane_classes AS k
         WHERE EXISTS (SELECT FROM mailqueue.lanes AS r
                        WHERE r.priority = k.priority AND r.blocked_until IS NULL AND r.vtime >= k.vclock
                          AND NOT r.account_limits && v_avoid));
    next_wake := (SELECT l.blocked_until FROM mailqueue.lanes AS l
                   WHERE l.blocked_until IS NOT NULL AND l.blocked_until < 'infinity'
                   ORDER BY l.blocked_until LIMIT 1) - clock_timestamp();
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.claim_and_read(integer, integer, interval, integer[], boolean, boolean) IS
    'Claim due mail of about so many recipients for one worker, lanes in turn, limits reserved, and read it. Rows that '
    'another worker is claiming are skipped, not waited for.';
