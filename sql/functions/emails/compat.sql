-- Functions that only the compatible APIs use.

-- No row if the project has no such mail; outcome NULL if its state does not allow the change: only mail without an
-- attempt is rescheduled. Its time to live stays the same.
CREATE OR REPLACE FUNCTION mailqueue.reschedule_email(p_project uuid, p_id uuid, p_at timestamptz, p_by text)
RETURNS TABLE (outcome text, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_instant('run_at', p_at, true);
    WITH moved AS (
        UPDATE mailqueue.email_queue AS q
           SET run_at = greatest(p_at, now()),
               expires_at = CASE WHEN isfinite(q.expires_at) THEN greatest(p_at, now()) + (q.expires_at - q.run_at)
                                 ELSE q.expires_at END
         WHERE q.id = p_id AND q.project_id = p_project AND q.status = 'pending' AND q.attempts = 0
           AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
           AND q.run_at < '9000-01-01'  -- beyond: it has a custom SMTP server
        RETURNING q.lane_id, q.run_at
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at) SELECT m.lane_id, m.run_at FROM moved AS m
    )
    SELECT 'rescheduled' INTO outcome FROM moved AS m;
    SELECT e.status INTO state FROM (
        SELECT q.status, 0 AS place, NULL::timestamptz AS at FROM mailqueue.email_queue AS q
         WHERE q.id = p_id AND q.project_id = p_project AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        UNION ALL SELECT h.status, 1, h.finished_at FROM mailqueue.email_history AS h
                   WHERE h.id = p_id AND h.project_id = p_project
                     AND coalesce(mailqueue.mode(), h.is_test) = h.is_test) AS e
     ORDER BY e.place, e.at DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF outcome IS NOT NULL THEN
        PERFORM mailqueue.record_operation(p_project, 'emails.rescheduled', 'project ' || p.name,
                    jsonb_build_object('ids', jsonb_build_array(p_id), 'emails', 1, 'at', p_at), p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.reschedule_email(uuid, uuid, timestamptz, text) IS
    'Change when a mail of a project is sent; only mail without an attempt.';

-- The previous page of list_emails(): queue and history separately, each in the order of its index.
CREATE OR REPLACE FUNCTION mailqueue.newer_emails(p_project uuid, p_after uuid, p_limit integer) RETURNS TABLE (id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off        -- test mail among much live mail has an index of its own
AS $$
#variable_conflict use_column
DECLARE
    v_is_test boolean := mailqueue.mode();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        (SELECT q.id FROM mailqueue.email_queue AS q WHERE q.project_id = p_project AND q.id > p_after
            AND (v_is_test IS NULL OR q.is_test = v_is_test) ORDER BY q.id LIMIT p_limit)
        UNION ALL
        (SELECT h.id FROM mailqueue.email_history AS h WHERE h.project_id = p_project AND h.id > p_after
            AND (v_is_test IS NULL OR h.is_test = v_is_test) ORDER BY h.id LIMIT p_limit)
        ORDER BY id LIMIT p_limit;
END $$;
COMMENT ON FUNCTION mailqueue.newer_emails(uuid, uuid, integer) IS
    'Ids of the next newer mails of a project after one, oldest first.';
