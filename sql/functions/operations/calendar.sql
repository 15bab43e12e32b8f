-- What a project will send by itself: timed events and steps of sequences, by day.

-- Workers take due rows by these indexes too: the soonest rows are read, whatever their number.
CREATE OR REPLACE FUNCTION mailqueue.planned_mail(p_project uuid, p_until timestamptz, p_most integer)
RETURNS TABLE (kind text, name text, step text, day date, first_at timestamptz, entries bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    SELECT 'timed_event', t.kind, NULL::text, (t.run_at AT TIME ZONE 'UTC')::date, min(t.run_at), count(*)
      FROM (SELECT o.kind, o.run_at FROM mailqueue.timed_events AS o
             WHERE o.project_id = p_project AND o.status = 'pending' AND o.run_at < p_until
               AND o.is_test = coalesce(mailqueue.mode(), o.is_test)
             ORDER BY o.run_at LIMIT p_most) AS t
     GROUP BY t.kind, (t.run_at AT TIME ZONE 'UTC')::date;
    RETURN QUERY
    SELECT 'sequence', s.name, e.step, (e.run_at AT TIME ZONE 'UTC')::date, min(e.run_at), count(*)
      FROM (SELECT o.sequence_id, o.step, o.run_at FROM mailqueue.sequence_enrollments AS o
             WHERE o.project_id = p_project AND o.status = 'pending' AND o.run_at < p_until
               AND o.is_test = coalesce(mailqueue.mode(), o.is_test)
             ORDER BY o.run_at LIMIT p_most) AS e
      JOIN mailqueue.sequences AS s ON s.id = e.sequence_id
     WHERE s.paused_at IS NULL AND s.removed_at IS NULL AND e.step IS NOT NULL
     GROUP BY s.name, e.step, (e.run_at AT TIME ZONE 'UTC')::date;
END $$;
COMMENT ON FUNCTION mailqueue.planned_mail(uuid, timestamptz, integer) IS
    'Timed events and steps of sequences that are due before a time, by day in UTC, the soonest p_most rows of each '
    'kind.';
