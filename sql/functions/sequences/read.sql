-- What enrollments did and will do next.

CREATE OR REPLACE FUNCTION mailqueue.enrollment_state(p_status text, p_exit text, p_is_paused boolean,
    p_is_removed boolean)
RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_status IN ('completed', 'left', 'failed') THEN p_status
                WHEN p_exit IS NOT NULL OR p_is_removed THEN 'left'
                WHEN p_is_paused THEN 'paused' ELSE 'active' END
$$;
COMMENT ON FUNCTION mailqueue.enrollment_state(text, text, boolean, boolean) IS
    'State of an enrollment for people: active, paused, completed, left or failed.';

CREATE OR REPLACE FUNCTION mailqueue.sequence_counts(p_project uuid, p_sequence uuid, p_version integer,
    p_is_test boolean)
RETURNS TABLE (step text, entered bigint, sent bigint, skipped bigint, waiting bigint, departures jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    WITH done AS (
        SELECT d.step, count(*) FILTER (WHERE d.result = 'sent') AS sent,
               count(*) FILTER (WHERE d.result = 'skipped') AS skipped
          FROM mailqueue.enrollment_steps AS d
         WHERE d.sequence_id = p_sequence AND d.version = p_version AND d.project_id = p_project
           AND d.is_test = p_is_test
         GROUP BY d.step
    ), here AS (
        SELECT o.step, o.state, o.reason, count(*) AS enrollments
          FROM mailqueue.enrollments AS o
         WHERE o.sequence_id = p_sequence AND o.version = p_version AND o.project_id = p_project
           AND o.is_test = p_is_test AND o.step IS NOT NULL
         GROUP BY o.step, o.state, o.reason
    ), waits AS (
        SELECT h.step, sum(h.enrollments) FILTER (WHERE h.state IN ('active', 'paused'))::bigint AS waiting,
               sum(h.enrollments)::bigint AS all_of_them,
               jsonb_object_agg(coalesce(h.reason, 'failed'), h.enrollments)
                   FILTER (WHERE h.state IN ('left', 'failed')) AS departures
          FROM (SELECT x.step, x.state,
                       CASE x.state WHEN 'failed' THEN 'failed' WHEN 'left' THEN x.reason END AS reason,
                       sum(x.enrollments) AS enrollments
                  FROM here AS x GROUP BY 1, 2, 3) AS h GROUP BY h.step
    )
    SELECT s.step ->> 'name', coalesce(d.sent + d.skipped, 0) + coalesce(w.all_of_them, 0), coalesce(d.sent, 0),
           coalesce(d.skipped, 0), coalesce(w.waiting, 0), coalesce(w.departures, '{}')
      FROM mailqueue.sequence_versions AS v
     CROSS JOIN LATERAL jsonb_array_elements(v.steps) WITH ORDINALITY AS s(step, n)
      LEFT JOIN done AS d ON d.step = s.step ->> 'name'
      LEFT JOIN waits AS w ON w.step = s.step ->> 'name'
     WHERE v.sequence_id = p_sequence AND v.version = p_version AND v.project_id = p_project
     ORDER BY s.n;
END $$;
COMMENT ON FUNCTION mailqueue.sequence_counts(uuid, uuid, integer, boolean) IS
    'For each step of a version: enrollments that came to it, mails, skips, those that wait for it, and those that '
    'left before it by reason.';

CREATE OR REPLACE FUNCTION mailqueue.why_enrollment(p_id uuid) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    e record;
BEGIN
    SELECT o.* INTO e FROM mailqueue.enrollments AS o WHERE o.id = p_id;
    IF e.id IS NULL OR coalesce(mailqueue.mode(), e.is_test) <> e.is_test THEN
        RETURN NULL;
    END IF;
    PERFORM mailqueue.check_tenant(e.project_id);
    RETURN format('enrollment of %s in sequence %s, version %s, %s%s', e.email, e.sequence, e.version, e.state,
               CASE e.state
                    WHEN 'active' THEN format(': step %s is due at %s, %s%s', e.step, mailqueue.shown(e.due_at),
                                              e.time_zone, '; ' || e.last_error)
                    WHEN 'paused' THEN format(': the sequence is paused before step %s', e.step)
                    WHEN 'left' THEN format(' before step %s: %s', e.step, e.reason)
                    WHEN 'failed' THEN format(' before step %s: %s', e.step, e.last_error)
                    ELSE format(' at %s', mailqueue.shown(e.finished_at)) END)
        || mailqueue.next_step('enrollment', e.state, e.id, e.project_id, NULL, e.sequence);
END $$;
COMMENT ON FUNCTION mailqueue.why_enrollment(uuid) IS
    'What an enrollment waits for, or what became of it; NULL if there is none.';
