-- The state that a claim hands on: how it begins, how each class begins, and how the claim ends; see claim.sql, whose
-- planner settings these inherit.

-- A worker that may not send gets a state without a number, and asks for nothing.
CREATE OR REPLACE FUNCTION mailqueue.begin_claim(p_worker integer, p_limit integer, p_avoid integer[])
RETURNS mailqueue.claim_state
LANGUAGE plpgsql
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_claim bigint;
    v_asked integer := 0;
    v_platform_day date;
    v_avoid integer[] := '{}';
    v_skip uuid[] := ARRAY(SELECT r.row_id FROM mailqueue.refused_rows AS r
                            WHERE r.table_name = 'email_queue' AND r.retry_at > v_now LIMIT 10000);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'claim_emails() needs READ COMMITTED' USING ERRCODE = '25001';
    END IF;
    PERFORM FROM mailqueue.workers AS w
      WHERE w.id = p_worker AND w.lost_at IS NULL AND w.stopped_at IS NULL
        AND w.sends_on = current_setting('mailqueue.server', true)
        FOR KEY SHARE;
    IF FOUND OR mailqueue.may_send(p_worker) THEN
        v_claim := nextval('mailqueue.claim_no_seq');
        v_asked := p_limit;
        -- The rate of the whole installation is the first limit locked, as in settling.
        PERFORM FROM mailqueue.limits AS m WHERE m.id = 0 AND m.rate_per_second IS NOT NULL FOR NO KEY UPDATE;
        IF FOUND THEN
            v_now := clock_timestamp();
            SELECT least(v_asked, r.headroom), r.today INTO v_asked, v_platform_day
              FROM mailqueue.headroom('{0}', v_now) AS r;
        END IF;
        IF p_avoid <> '{}' THEN
            v_avoid := ARRAY(SELECT m.id FROM mailqueue.limits AS m WHERE m.sender_account_id = ANY (p_avoid));
        END IF;
    END IF;
    RETURN ROW(v_claim, v_now, v_asked, v_asked, v_avoid, v_platform_day,
               EXISTS (SELECT FROM mailqueue.domain_rates),
               coalesce(current_setting('mailqueue.isolates_claims', true) = 'email_queue', false),
               v_skip, '{}'::mailqueue.claim_limit[], false, NULL, '{}'::integer[], false, '{}'::integer[],
               '{}'::mailqueue.claim_pick[], '{}'::mailqueue.lanes[], '{}'::uuid[], '{}'::bigint[], NULL,
               NULL)::mailqueue.claim_state;
END $$;
COMMENT ON FUNCTION mailqueue.begin_claim(integer, integer, integer[]) IS
    'The state that a claim begins with; the worker and the rate of the installation are locked.';

-- Every twentieth claim begins with the second class, another with the third, another with the last, so that no class
-- starves. A project that has its share of a class takes more mail, of any class, only after the other projects, in a
-- second turn of the classes.
CREATE OR REPLACE FUNCTION mailqueue.claim_classes(p_claim bigint)
RETURNS TABLE (priority smallint, vclock bigint, project_share numeric, turn integer)
LANGUAGE sql STABLE
AS $$
    SELECT k.priority, k.vclock, k.project_share, CASE WHEN o.n > 4 THEN 2 ELSE 1 END
      FROM (SELECT CASE p_claim % 20 WHEN 5 THEN 1 WHEN 10 THEN 2 WHEN 15 THEN 3 ELSE 0 END::smallint AS priority) AS f
     CROSS JOIN LATERAL (SELECT f.priority || array_remove('{0,1,2,3}', f.priority) AS priorities) AS a
     CROSS JOIN LATERAL unnest(a.priorities || a.priorities) WITH ORDINALITY AS o(priority, n)
      JOIN mailqueue.lane_classes AS k ON k.priority = o.priority
     WHERE EXISTS (SELECT FROM mailqueue.lanes AS r
                    WHERE r.priority = k.priority AND r.blocked_until IS NULL AND r.vtime >= k.vclock)
     ORDER BY o.n
$$;
COMMENT ON FUNCTION mailqueue.claim_classes(bigint) IS
    'The classes that have ready lanes, in the order of a claim of this number, for its first turn and its second.';

CREATE OR REPLACE FUNCTION mailqueue.begin_class(s mailqueue.claim_state, p_turn integer, p_share numeric)
RETURNS mailqueue.claim_state
LANGUAGE plpgsql
AS $$
DECLARE
    v_limits mailqueue.claim_limit[] := s.limits;
BEGIN
    IF p_turn = 2 THEN
        s.full_projects := '{}';
    END IF;
    s.max_share := CASE WHEN p_turn = 1 AND p_share IS NOT NULL THEN greatest(1, floor(s.asked * p_share)) END;
    FOR i IN 1..cardinality(v_limits) LOOP
        v_limits[i].share := 0;
    END LOOP;
    s.limits := v_limits;
    RETURN s;
END $$;
COMMENT ON FUNCTION mailqueue.begin_class(mailqueue.claim_state, integer, numeric) IS
    'The state of a claim that begins with a class: no project has a share of it yet.';

-- By id on the days of all mails together: partitions of other days are not opened.
CREATE OR REPLACE FUNCTION mailqueue.claimed_contents(p_ids bigint[], p_from date, p_to date)
RETURNS SETOF mailqueue.claimed_content
LANGUAGE sql STABLE
AS $$
    SELECT c.id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers, c.files,
           c.template_version_id, c.template_language, c.tracking_options, c.header_recipients
      FROM mailqueue.email_contents AS c
     WHERE c.id = ANY (p_ids) AND c.created_on BETWEEN p_from AND p_to
$$;
COMMENT ON FUNCTION mailqueue.claimed_contents(bigint[], date, date) IS
    'These contents, written between two days. PostgreSQL makes it a part of the query that reads it.';

CREATE OR REPLACE FUNCTION mailqueue.end_claim(s mailqueue.claim_state, p_worker integer, p_may_mark boolean,
    OUT verdict text, OUT reason text, OUT stopped text[], OUT is_left boolean, OUT next_wake interval)
LANGUAGE plpgsql
AS $$
BEGIN
    IF s.claim_no IS NULL THEN
        is_left := false;
        next_wake := interval '1 s';
        RETURN;
    END IF;
    -- What is left counts recipients: a claim of one recipient is one mail.
    IF p_may_mark AND s.asked - s.left_over = 1 THEN
        SELECT k.verdict, k.reason, k.stopped INTO verdict, reason, stopped
          FROM mailqueue.mark_emails(p_worker, s.mails, ARRAY[s.claim_no], '{}', '{}') AS k;
    END IF;
    -- Lanes that are still ready have mail, or are held by another claim.
    is_left := s.left_over <= 0 OR EXISTS (
        SELECT FROM mailqueue.lane_classes AS k
         WHERE EXISTS (SELECT FROM mailqueue.lanes AS r
                        WHERE r.priority = k.priority AND r.blocked_until IS NULL AND r.vtime >= k.vclock
                          AND NOT r.account_limits && s.avoid));
    next_wake := (SELECT l.blocked_until FROM mailqueue.lanes AS l
                     WHERE l.blocked_until IS NOT NULL AND l.blocked_until < 'infinity'
                     ORDER BY l.blocked_until LIMIT 1) - clock_timestamp();
END $$;
COMMENT ON FUNCTION mailqueue.end_claim(mailqueue.claim_state, integer, boolean) IS
    'Mark the only mail of a claim if that is allowed, and say when to claim again.';
