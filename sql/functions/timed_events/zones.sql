-- A new release of the zone rules: what lies ahead is computed anew.

-- Rows that are locked are moved the next time.
CREATE OR REPLACE FUNCTION mailqueue.recompute_timed_events(p_most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_release text := mailqueue.time_zone_release();
    v_ids uuid[];
    v_count integer;
BEGIN
    v_ids := ARRAY(SELECT o.id FROM mailqueue.timed_events AS o
                    WHERE o.status = 'pending' AND o.zone_release < v_release
                    ORDER BY o.zone_release LIMIT p_most FOR NO KEY UPDATE SKIP LOCKED)
          || ARRAY(SELECT o.id FROM mailqueue.timed_events AS o
                    WHERE o.status = 'pending' AND o.zone_release > v_release
                    ORDER BY o.zone_release LIMIT p_most FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE mailqueue.timed_events AS e
       SET zone_release = v_release, due_at = n.due_at,
           run_at = CASE WHEN e.attempts > 0 OR n.due_at = e.due_at THEN e.run_at ELSE n.due_at END
      FROM (SELECT o.id, CASE WHEN o.time_zone = 'UTC' OR mailqueue.known_zone(o.time_zone) IS NULL THEN o.due_at
                              ELSE mailqueue.local_to_utc(o.local_at, o.time_zone) END AS due_at
              FROM mailqueue.timed_events AS o WHERE o.id = ANY (v_ids) OFFSET 0) AS n
     WHERE e.id = n.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.recompute_timed_events(integer) IS
    'Compute pending events anew whose instant is of another release of the zone rules; returns how many.';
