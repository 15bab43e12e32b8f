-- Suspects: mail whose worker died while handling it. It is handled alone, in a process of its own, and fails after the
-- third death there. The kernel does the same with the rows of its queues; see sql/functions/queue.

-- The rows stay assigned: rescue returns them, marked mail by its policy for unknown outcomes. The first is the one
-- that kept the event loop from turning, if any did: the others go before it.
CREATE OR REPLACE FUNCTION mailqueue.suspect_emails(p_ids uuid[], p_claims bigint[], p_alone boolean, p_reason text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE mailqueue.email_queue AS q
       SET crashes = CASE WHEN p_alone THEN least(greatest(q.crashes, 1), 32766) + 1 ELSE greatest(q.crashes, 1) END,
           run_at = CASE WHEN p_alone THEN clock_timestamp() + q.crashes * interval '2 s' * (1 + random())
                         WHEN q.id = p_ids[1] AND cardinality(p_ids) > 1
                              THEN greatest(q.run_at, clock_timestamp() + interval '1 s')
                         ELSE q.run_at END,
           last_error = 'its worker stopped while handling it: ' || left(p_reason, 900)
      FROM (SELECT o.id FROM mailqueue.email_queue AS o JOIN unnest(p_ids, p_claims) AS i(id, claim_no)
                ON i.id = o.id AND i.claim_no = o.claim_no
             WHERE o.status = 'assigned' ORDER BY o.id FOR NO KEY UPDATE OF o) AS h
     WHERE q.id = h.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.suspect_emails(uuid[], bigint[], boolean, text) IS
    'Count a death of the worker on mails whose handling had begun; returns how many claims still held.';

-- 3: MAX_CRASHES in mailqueue/core/queues/registry.py; the first death made it a suspect.
CREATE OR REPLACE FUNCTION mailqueue.fail_suspects() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_reasons text[];
BEGIN
    SELECT array_agg(x.id), array_agg(x.reason) INTO v_ids, v_reasons FROM (
        SELECT q.id, 'it stopped its worker: '
                     || regexp_replace(q.last_error, '^its worker stopped while handling it: ', '') AS reason
          FROM mailqueue.email_queue AS q
         WHERE q.status = 'pending' AND q.crashes > 3 ORDER BY q.run_at LIMIT 1000 FOR UPDATE SKIP LOCKED) AS x;
    IF v_ids IS NOT NULL THEN
        INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
        SELECT q.project_id, 'email.stopped_worker', 'email ' || q.id, jsonb_build_object('reason', f.reason)
          FROM mailqueue.email_queue AS q JOIN unnest(v_ids, v_reasons) AS f(id, reason) ON f.id = q.id;
        PERFORM mailqueue.retire_emails(v_ids, NULL, array_fill('failed'::text, ARRAY[cardinality(v_ids)]), v_reasons,
                                        NULL, NULL);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.fail_suspects() IS 'Finish mail that has stopped its worker three times while alone.';

-- One suspect, with the same limits as any mail. One that cannot be sent now is looked at again in half a minute: a
-- process is started for suspects that are due. Waits for no lock of another claim: a suspect behind one stays due.
CREATE OR REPLACE FUNCTION mailqueue.claim_suspect(p_worker integer, p_lease interval)
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
    v_platform_day date; v_platform_room integer;
    v_ids integer[]; v_limits mailqueue.claim_limit[]; v_busy integer[];
    s record; l mailqueue.lanes; v_choice record; v_moved record;
    p integer; d integer; a integer;                         -- places in v_limits: project, domain, account
    v_is_test boolean;
    v_later uuid[] := '{}';
    v_skip uuid[] := ARRAY(SELECT r.row_id FROM mailqueue.refused_rows AS r    -- see queue/refused.sql
                            WHERE r.table_name = 'email_queue' AND r.retry_at > v_now LIMIT 10000);
BEGIN
    PERFORM FROM mailqueue.workers AS w
      WHERE w.id = p_worker AND w.lost_at IS NULL AND w.stopped_at IS NULL
        AND w.sends_on = current_setting('mailqueue.server', true)
        FOR KEY SHARE;
    IF NOT FOUND AND NOT mailqueue.may_send(p_worker) THEN
        RETURN;
    END IF;
    v_claim := nextval('mailqueue.claim_no_seq');
    PERFORM FROM mailqueue.limits AS m WHERE m.id = 0 AND m.rate_per_second IS NOT NULL FOR NO KEY UPDATE;
    IF FOUND THEN
        SELECT r.headroom, r.today INTO v_platform_room, v_platform_day FROM mailqueue.headroom('{0}', v_now) AS r;
    END IF;
    FOR s IN SELECT q.id, q.lane_id, q.recipients FROM mailqueue.email_queue AS q
              WHERE q.status = 'pending' AND q.crashes > 0 AND q.run_at <= v_now AND q.id <> ALL (v_skip)
              ORDER BY q.run_at LIMIT 50 LOOP
        IF v_platform_room <= 0 OR NOT EXISTS (
            SELECT FROM mailqueue.lanes AS k WHERE k.id = s.lane_id
               AND (k.blocked_until IS NULL OR k.blocked_reason IN ('empty', 'not_due', 'recheck')))
        THEN
            v_later := v_later || s.id;
            CONTINUE;
        END IF;
        SELECT k.* INTO l FROM mailqueue.lanes AS k
         WHERE k.id = s.lane_id AND (k.blocked_until IS NULL
                                     OR k.blocked_reason IN ('empty', 'not_due', 'recheck', 'rate', 'domain_rate'))
           FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_limits := mailqueue.lock_limits(mailqueue.first_limits(ARRAY[l], '{}'), false, v_now);
        v_ids := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
        v_busy := '{}';
        p := array_position(v_ids, l.project_limit);
        d := array_position(v_ids, l.domain_limit);
        CONTINUE WHEN p IS NULL OR (d IS NULL AND l.domain_limit IS NOT NULL);
        LOOP
            v_choice := mailqueue.choose_account(l, v_ids, v_limits, p, d, v_busy, '{}', v_now);
            EXIT WHEN v_choice.unseen IS NULL;
            v_limits := v_limits || mailqueue.lock_limits(v_choice.unseen, false, v_now);
            v_ids := ARRAY(SELECT m.id FROM unnest(v_limits) AS m);
            v_busy := v_busy || ARRAY(SELECT u FROM unnest(v_choice.unseen) AS u WHERE u <> ALL (v_ids));
        END LOOP;
        a := v_choice.place;
        CONTINUE WHEN a IS NULL AND (v_choice.why = 'busy' OR v_choice.until < v_now + interval '1 s');
        IF a IS NULL OR s.recipients > least(v_limits[a].day_left, v_limits[p].day_left) THEN
            v_later := v_later || s.id;
            CONTINUE;
        END IF;
        PERFORM FROM mailqueue.email_queue AS q
          WHERE q.id = s.id AND q.status = 'pending' AND q.lane_id = l.id AND q.crashes > 0
            FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF current_setting('mailqueue.isolates_claims', true) = 'email_queue' THEN
            CONTINUE WHEN mailqueue.refused_rows_of('email_queue', p_worker, ARRAY[s.id]) <> '{}';
        END IF;
        v_is_test := coalesce(l.home_route, l.route) LIKE '(test)%';
        IF d IS NULL AND NOT v_is_test AND EXISTS (SELECT FROM mailqueue.domain_rates) THEN
            SELECT r.recipients INTO v_moved FROM mailqueue.move_rated(l.id, ARRAY[s.id]) AS r;
            CONTINUE WHEN v_moved.recipients = 0;            -- it is in the lane of its domain now
        END IF;
        RETURN QUERY
        UPDATE mailqueue.email_queue AS q
           SET status = 'assigned', claim_no = v_claim, worker_id = p_worker, assigned_at = v_now,
               lease_until = v_now + p_lease, attempts = least(q.attempts, 32766) + 1,
               assigned_to = v_limits[a].account, account_day = v_limits[a].today,
               project_day = CASE WHEN NOT v_is_test THEN v_limits[p].today END
         WHERE q.id = s.id
        RETURNING q.id, q.claim_no, q.assigned_to, v_limits[a].revision, q.project_id, q.attempts, q.recipients,
                  q.unknowns, q.expires_at, q.category, q.recipient_email, q.recipient_name, q.custom_data,
                  q.content_id, q.content_on;
        IF v_limits[a].why IS NULL AND v_limits[a].until IS NOT NULL THEN
            PERFORM mailqueue.begin_probe(v_limits[a].id, v_claim);
        END IF;
        IF v_platform_day IS NOT NULL THEN
            PERFORM mailqueue.reserve(0, v_platform_day, s.recipients, v_now);
        END IF;
        PERFORM mailqueue.reserve_all(array_agg(m.id), array_agg(m.today), array_agg(s.recipients::integer), v_now)
           FROM unnest(v_limits) WITH ORDINALITY AS m
          WHERE m.ordinality IN (a, d) OR m.ordinality = p AND NOT v_is_test;
        IF v_limits[a].has_windows THEN
            PERFORM mailqueue.reserve_windows(ARRAY[v_limits[a].id], ARRAY[s.recipients::integer], v_now);
        END IF;
        RETURN;
    END LOOP;
    UPDATE mailqueue.email_queue AS q SET run_at = v_now + interval '30 s'
     WHERE q.id = ANY (ARRAY(SELECT o.id FROM mailqueue.email_queue AS o
                              WHERE o.id = ANY (v_later) AND o.status = 'pending' AND o.crashes > 0
                                FOR NO KEY UPDATE SKIP LOCKED));
END $$;
COMMENT ON FUNCTION mailqueue.claim_suspect(integer, interval) IS
    'Claim one due mail whose worker stopped while handling it; no row where none can be sent now.';
