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
SET enable_sort = on SET jit = off                      -- a few ids; the claim turns sorting off for its rows
AS $$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT n.id FROM unnest(p_lanes) AS l
         CROSS JOIN LATERAL unnest(ARRAY[l.project_limit, l.domain_limit] || l.account_limits[1:8]) AS n(id)
         WHERE n.id IS NOT NULL AND n.id <> ALL (p_locked) ORDER BY n.id);
END $$;
COMMENT ON FUNCTION mailqueue.first_limits(mailqueue.lanes[], integer[]) IS
    'Ids of the limits that lanes need first, in order.';

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
                   coalesce(r.daily_limit - r.sent - r.reserved, 2000000000), r.until, r.why, r.today, 0, 0,
                   s.revision, s.is_fallback)::mailqueue.claim_limit
          FROM mailqueue.headroom(v_locked, p_now) AS r
          LEFT JOIN mailqueue.sender_accounts AS s ON s.id = r.sender_account_id);
END $$;
COMMENT ON FUNCTION mailqueue.lock_limits(integer[], boolean, timestamptz) IS
    'Lock limits and compute their headroom; without p_may_wait those that another claim holds are left out.';

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
    v_soon constant timestamptz := p_now + interval '20 ms';  -- where this claim itself has taken all of a limit
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
            place := NULL; until := coalesce(m.until, v_soon); why := coalesce(m.why, 'recheck');
            RETURN;
        END IF;
    END LOOP;
    FOR k IN 1..cardinality(p_lane.account_limits) LOOP
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
        IF why IS DISTINCT FROM 'busy' AND (why IS NULL OR coalesce(m.until, v_soon) < until) THEN
            until := coalesce(m.until, v_soon);
            why := coalesce(m.why, 'recheck');
        END IF;
    END LOOP;
    place := NULL;
END $$;
COMMENT ON FUNCTION mailqueue.choose_account(mailqueue.lanes, integer[], mailqueue.claim_limit[], integer, integer,
                                             integer[], integer[], timestamptz) IS
    'Choose the account that sends the mail of a lane, or say until when the lane waits and why.';

-- Its columns differ from those of the release before.
DROP FUNCTION IF EXISTS mailqueue.pick_emails(integer, timestamptz, timestamptz, integer, integer);

-- Rows of one lane that fit, in order of being due: about p_quota recipients, the last message may go over it, and
-- never more than p_room. Messages with more recipients than p_room are skipped, not waited for.
CREATE OR REPLACE FUNCTION mailqueue.pick_emails(p_lane integer, p_floor timestamptz, p_now timestamptz,
    p_quota integer, p_room integer, OUT ids uuid[], OUT recipients integer, OUT last_due timestamptz,
    OUT passed integer, OUT content_from date, OUT content_to date)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_sizes integer[];
BEGIN
    WITH got AS MATERIALIZED (
        SELECT q.id, q.run_at, q.recipients, q.content_on FROM mailqueue.email_queue AS q
         WHERE q.status = 'pending' AND q.lane_id = p_lane AND q.run_at <= p_now AND q.run_at >= p_floor
           AND q.recipients <= p_room AND q.crashes = 0      -- suspects: see suspects.sql
         ORDER BY q.run_at, q.id LIMIT p_quota FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(g.id), array_agg(g.recipients::integer), coalesce(sum(g.recipients), 0), max(g.run_at), 0,
           min(g.content_on), max(g.content_on)
      INTO v_ids, v_sizes, recipients, last_due, passed, content_from, content_to FROM got AS g;
    IF recipients <= p_quota THEN
        ids := v_ids;
        RETURN;
    END IF;
    ids := '{}'; recipients := 0; last_due := NULL;
    FOR i IN 1..cardinality(v_ids) LOOP
        IF recipients < p_quota AND recipients + v_sizes[i] <= p_room THEN
            ids := ids || v_ids[i];
            recipients := recipients + v_sizes[i];
        ELSE
            passed := passed + 1;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.pick_emails(integer, timestamptz, timestamptz, integer, integer) IS
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
     ORDER BY q.run_at, q.id LIMIT 1;
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

-- Contents are found by their id on the days of all mails together: partitions of other days are not opened.
CREATE OR REPLACE FUNCTION mailqueue.assign_emails(p_picks mailqueue.claim_pick[], p_worker integer, p_claim bigint,
    p_now timestamptz, p_lease interval, p_reads boolean)
RETURNS TABLE (id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb, content_id bigint, content_on date,
               found_content_id bigint, subject text, html_body text, text_body text, from_email text, from_name text,
               reply_to text, headers jsonb, files jsonb, template_version_id uuid, template_language text,
               tracking_options smallint, header_recipients jsonb, several jsonb)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[]; v_from date; v_to date;
    v_several uuid[] := '{}';                                -- messages that have recipients of their own
BEGIN
    IF p_reads THEN
        SELECT min(x.content_from), max(x.content_to) INTO v_from, v_to FROM unnest(p_picks) AS x;
        v_ids := ARRAY(SELECT i.id FROM unnest(p_picks) AS x CROSS JOIN LATERAL unnest(x.ids) AS i(id));
        -- Not by the count of recipients: of several, one may be left.
        v_several := ARRAY(SELECT DISTINCT r.email_id FROM mailqueue.email_recipients AS r
                            WHERE r.email_id = ANY (v_ids));
    END IF;
    RETURN QUERY
    WITH assigned AS (
        UPDATE mailqueue.email_queue AS q
           SET status = 'assigned', claim_no = p_claim, worker_id = p_worker, assigned_at = p_now,
               lease_until = p_now + p_lease, attempts = least(q.attempts, 32766) + 1, assigned_to = x.account,
               account_day = x.account_day, project_day = x.project_day
          FROM unnest(p_picks) AS x CROSS JOIN LATERAL unnest(x.ids) AS i(id)
         WHERE q.id = i.id
        RETURNING q.id, q.claim_no, q.assigned_to, x.revision, q.project_id, q.attempts, q.recipients, q.unknowns,
                  q.expires_at, q.category, q.recipient_email, q.recipient_name, q.custom_data, q.content_id,
                  q.content_on
    ), read AS (
        SELECT a.*, lag(a.content_id) OVER () IS DISTINCT FROM a.content_id AND p_reads AS is_first FROM assigned AS a
    )
    SELECT e.id, e.claim_no, e.assigned_to, e.revision, e.project_id, e.attempts, e.recipients, e.unknowns,
           e.expires_at, e.category, e.recipient_email, e.recipient_name, e.custom_data, e.content_id, e.content_on,
           c.id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers, c.files,
           c.template_version_id, c.template_language, coalesce(c.tracking_options, c.dressing), c.header_recipients,
           CASE WHEN e.id = ANY (v_several) THEN
                (SELECT jsonb_agg(jsonb_build_array(r.kind, r.address, r.name, r.status) ORDER BY r.position)
                   FROM mailqueue.email_recipients AS r WHERE r.email_id = e.id) END
      FROM read AS e
      LEFT JOIN mailqueue.email_contents AS c
        ON e.is_first AND c.id = e.content_id AND c.created_on BETWEEN v_from AND v_to;
END $$;
COMMENT ON FUNCTION mailqueue.assign_emails(mailqueue.claim_pick[], integer, bigint, timestamptz, interval, boolean) IS
    'Assign picked mails to a worker under a claim number, and read their contents and recipients.';
