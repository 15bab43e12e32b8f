-- What workers do for enrollments beside steps: rows that another worker has are left to the next call.

CREATE OR REPLACE FUNCTION mailqueue.take_enrollment_signals(p_limit integer, p_now timestamptz DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_free uuid[];
BEGIN
    v_ids := ARRAY(SELECT DISTINCT x.enrollment_id
                     FROM (SELECT o.enrollment_id FROM mailqueue.enrollment_signals AS o ORDER BY o.id LIMIT p_limit
                              FOR UPDATE SKIP LOCKED) AS x);
    -- A row that a worker has may have been read before the signal: the signal stays.
    v_free := ARRAY(SELECT e.id FROM mailqueue.sequence_enrollments AS e
                     WHERE e.id = ANY (v_ids) AND e.status IN ('pending', 'held') ORDER BY e.id
                       FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE mailqueue.sequence_enrollments AS e
       SET status = 'pending', run_at = least(e.run_at, coalesce(p_now, clock_timestamp()))
     WHERE e.id = ANY (v_free);
    DELETE FROM mailqueue.enrollment_signals AS o
     WHERE o.enrollment_id = ANY (v_free)
        OR o.enrollment_id IN (SELECT e.id FROM mailqueue.sequence_enrollments AS e
                                WHERE e.id = ANY (v_ids) AND e.finished_at IS NOT NULL);
    RETURN cardinality(v_free);
END $$;
COMMENT ON FUNCTION mailqueue.take_enrollment_signals(integer, timestamptz) IS
    'Make enrollments due that a worker should look at again; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.release_enrollments(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_count integer;
BEGIN
    -- From one sequence that has held enrollments to the next: mostly there is none.
    WITH RECURSIVE holding AS (
        (SELECT e.sequence_id FROM mailqueue.sequence_enrollments AS e WHERE e.status = 'held'
          ORDER BY e.sequence_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.sequence_id FROM mailqueue.sequence_enrollments AS e
                 WHERE e.status = 'held' AND e.sequence_id > o.sequence_id ORDER BY e.sequence_id LIMIT 1)
          FROM holding AS o WHERE o.sequence_id IS NOT NULL
    ), free AS (
        SELECT h.id FROM holding AS o JOIN mailqueue.sequences AS s ON s.id = o.sequence_id
         CROSS JOIN LATERAL (SELECT e.id FROM mailqueue.sequence_enrollments AS e
                              WHERE e.sequence_id = s.id AND e.status = 'held' ORDER BY e.sequence_id, e.id
                              LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED) AS h
         WHERE s.paused_at IS NULL OR s.removed_at IS NOT NULL LIMIT p_limit
    )
    UPDATE mailqueue.sequence_enrollments AS e
       SET status = 'pending', run_at = least(e.due_at, clock_timestamp()), last_error = NULL
      FROM free AS f WHERE e.id = f.id AND e.status = 'held';
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.release_enrollments(integer) IS
    'Return enrollments of sequences that are no longer paused to the queue; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.renew_enrollment_zones(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_release text := mailqueue.time_zone_release();
    v_ids uuid[];
    v_count integer;
BEGIN
    -- Two ranges, each by the index: few rows are of another release.
    v_ids := ARRAY(SELECT e.id FROM mailqueue.sequence_enrollments AS e
                    WHERE e.zone_release < v_release AND e.status IN ('pending', 'held') ORDER BY e.zone_release
                    LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED);
    IF v_ids = '{}' THEN
        v_ids := ARRAY(SELECT e.id FROM mailqueue.sequence_enrollments AS e
                        WHERE e.zone_release > v_release AND e.status IN ('pending', 'held') ORDER BY e.zone_release
                        LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    UPDATE mailqueue.sequence_enrollments AS e
       SET due_at = n.due, run_at = CASE WHEN e.status = 'pending' AND e.run_at = e.due_at THEN n.due ELSE e.run_at END,
           time_zone = n.zone, zone_release = v_release
      FROM mailqueue.sequence_enrollments AS x
      JOIN mailqueue.sequence_versions AS v ON v.sequence_id = x.sequence_id AND v.version = x.version
     CROSS JOIN LATERAL mailqueue.contact_zone(x.project_id, x.contact_id) AS z(zone)
     CROSS JOIN LATERAL (SELECT z.zone, mailqueue.step_due_at(mailqueue.step_named(v.steps, x.step), x.waiting_from,
                                                              z.zone, x.has_waited) AS due) AS n
     WHERE x.id = ANY (v_ids) AND e.id = x.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.renew_enrollment_zones(integer) IS
    'Compute anew when steps are due whose times were computed by another release of the zone rules; returns how many.';
