-- Picking: which rows of one lane a claim takes, and their locks.

-- Rows of one lane that fit, in order of being due: about p_quota recipients, the last message may go over it, and
-- never more than p_room. Messages with more recipients than there is room are passed over, not waited for.
CREATE OR REPLACE FUNCTION mailqueue.pick_emails(p_lane integer, p_floor timestamptz, p_now timestamptz,
    p_quota integer, p_room integer, OUT ids uuid[], OUT recipients integer, OUT last_due timestamptz,
    OUT passed integer)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_sizes integer[];
BEGIN
    WITH got AS MATERIALIZED (
        SELECT q.id, q.run_at, q.recipients FROM mailqueue.email_queue AS q
         WHERE q.status = 'pending' AND q.lane_id = p_lane AND q.run_at <= p_now AND q.run_at >= p_floor
           AND q.recipients <= p_room
         ORDER BY q.run_at, q.id LIMIT p_quota FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT array_agg(g.id), array_agg(g.recipients::integer), coalesce(sum(g.recipients), 0), max(g.run_at), 0
      INTO v_ids, v_sizes, recipients, last_due, passed FROM got AS g;
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
