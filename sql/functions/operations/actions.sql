-- Operator actions on queued mail. Each returns a row for each mail changed, with the action.

CREATE OR REPLACE FUNCTION mailqueue.cancel_emails(p_project uuid, p_ids uuid[], p_reason text DEFAULT 'cancelled')
RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[];
    v_asked uuid[];
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    -- Assigned mail is stopped by its worker, unless it was handed over already. All rows are written, so that none can
    -- be claimed or given back between the check and retiring it.
    WITH hit AS (
        UPDATE mailqueue.email_queue AS q SET is_cancelled = true
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        RETURNING q.id, q.status
    )
    SELECT coalesce(array_agg(h.id) FILTER (WHERE h.status <> 'assigned'), '{}'),
           array_agg(h.id) FILTER (WHERE h.status = 'assigned')
      INTO v_ids, v_asked FROM hit AS h;
    RETURN QUERY SELECT a.id, 'asked'::text FROM unnest(v_asked) AS a(id);
    RETURN QUERY SELECT r.id, 'cancelled'::text
      FROM mailqueue.retire_emails(v_ids, NULL, array_fill('cancelled'::text, ARRAY[cardinality(v_ids)]),
        array_fill(p_reason, ARRAY[cardinality(v_ids)]), NULL, NULL) AS r;
END $$;
COMMENT ON FUNCTION mailqueue.cancel_emails(uuid, uuid[], text) IS
    'Cancel unfinished mail: pending and held at once, assigned by its worker before sending.';

CREATE OR REPLACE FUNCTION mailqueue.hold_emails(p_project uuid, p_ids uuid[], p_reason text)
RETURNS TABLE (id uuid, result text)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);
    UPDATE mailqueue.email_queue AS q SET status = 'held', last_error = p_reason
     WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.status = 'pending'
       AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
    RETURNING q.id, 'held'
$$;
COMMENT ON FUNCTION mailqueue.hold_emails(uuid, uuid[], text) IS 'Hold pending mail until it is released.';

CREATE OR REPLACE FUNCTION mailqueue.release_emails(p_project uuid, p_ids uuid[]) RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    WITH released AS (
        UPDATE mailqueue.email_queue AS q
           SET status = 'pending', run_at = greatest(q.run_at, now()),
               expires_at = greatest(q.expires_at, now() + interval '1 day')
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.status = 'held'
           AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        RETURNING q.id, q.lane_id, q.run_at
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT r.lane_id, min(r.run_at) FROM released AS r GROUP BY r.lane_id
    )
    SELECT r.id, 'released'::text FROM released AS r;
END $$;
COMMENT ON FUNCTION mailqueue.release_emails(uuid, uuid[]) IS 'Return held mail to its lane.';

CREATE OR REPLACE FUNCTION mailqueue.requeue_emails(p_project uuid, p_ids uuid[]) RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[];
    -- Mail that stops the others of its order ends as suppressed instead, and they go on.
    v_suppressed uuid[] := ARRAY(SELECT s.id FROM mailqueue.still_suppressed(p_project, p_ids) AS s
                                  WHERE NOT EXISTS (SELECT FROM mailqueue.email_order AS o WHERE o.email_id = s.id));
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    -- Its content must not be archived meanwhile; mail whose content is archived stays finished.
    PERFORM FROM mailqueue.email_contents AS c
      WHERE (c.id, c.created_on) IN (SELECT h.content_id, h.content_on FROM mailqueue.email_history AS h
                                      WHERE h.id = ANY (p_ids) AND h.project_id = p_project) ORDER BY c.id
       FOR KEY SHARE;
    WITH gone AS (
        DELETE FROM mailqueue.email_history AS h
         WHERE h.id = ANY (p_ids) AND h.project_id = p_project AND h.status IN ('failed', 'expired', 'cancelled')
           AND coalesce(mailqueue.mode(), h.is_test) = h.is_test AND h.id <> ALL (v_suppressed)
           AND EXISTS (SELECT FROM mailqueue.email_contents AS c
                        WHERE c.id = h.content_id AND c.created_on = h.content_on)
        RETURNING h.*
    ), addressed AS (
        UPDATE mailqueue.email_recipients AS r SET status = 'pending', reason = NULL, settled_at = NULL
          FROM gone AS g WHERE r.email_id = g.id AND r.status = g.status
    ), uncounted AS (
        INSERT INTO mailqueue.stats_corrections (project_id, email_id, kind, known_at, status, is_test, created_at,
            finished_at, sender_account_id, domain)
        SELECT g.project_id, g.id, 'removed', coalesce(mailqueue.uuid_time((
                   SELECT max(v.id::text)::uuid FROM mailqueue.email_events AS v
                    WHERE v.email_id = g.id AND v.type = g.status AND v.source IS NULL)), g.finished_at),
               g.status, g.is_test, g.created_at, g.finished_at, g.assigned_to, mailqueue.domain_of(g.recipient_email)
          FROM gone AS g
    ), back AS (
        INSERT INTO mailqueue.email_queue (id, project_id, project, lane_id, created_at, unknowns, expires_at,
            recipients, recipient_email, recipient_name, content_id, content_on, last_error, is_test,
            [[KEPT_COLUMNS BUT expires_at]])
        SELECT g.id, g.project_id, NULL, g.lane_id, g.created_at, g.unknowns, now() + interval '4 days', g.recipients,
               g.recipient_email, g.recipient_name, g.content_id, g.content_on, g.last_error, g.is_test,
               [[g.KEPT_COLUMNS BUT expires_at]]
          FROM gone AS g RETURNING email_queue.id
    )
    SELECT array_agg(b.id) INTO v_ids FROM back AS b;
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.keep_places(v_ids);                -- before: a suppressed mail leaves its place
        PERFORM mailqueue.accept_rows(v_ids);
        -- Its signals count what is new.
        INSERT INTO mailqueue.project_usage_changes (project_id, queued_emails)
        SELECT p_project, count(*) FROM mailqueue.email_queue AS q WHERE q.id = ANY (v_ids) AND q.created_at <> now();
    END IF;
    RETURN QUERY SELECT r.id, 'requeued'::text FROM unnest(v_ids) AS r(id);
END $$;
COMMENT ON FUNCTION mailqueue.requeue_emails(uuid, uuid[]) IS
    'Queue failed, expired or cancelled mail again, with the same id. Mail whose content is archived, and mail '
    'all of whose recipients are suppressed and that stops no other, is left out.';

-- Only mail without an attempt: the time of another attempt is that of its retry schedule, or what a server asked for.
CREATE OR REPLACE FUNCTION mailqueue.reschedule_emails(p_project uuid, p_ids uuid[], p_at timestamptz)
RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_instant('run_at', p_at, true);
    RETURN QUERY
    WITH moved AS (
        UPDATE mailqueue.email_queue AS q
           SET run_at = greatest(p_at, now()),
               expires_at = CASE WHEN isfinite(q.expires_at) THEN greatest(p_at, now()) + (q.expires_at - q.run_at)
                                 ELSE q.expires_at END
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.status IN ('pending', 'held') AND q.attempts = 0
           AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
           AND q.run_at < '9000-01-01'  -- beyond: it has a custom SMTP server
        RETURNING q.id, q.lane_id, q.run_at, q.status
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT m.lane_id, min(m.run_at) FROM moved AS m WHERE m.status = 'pending' GROUP BY m.lane_id
    )
    SELECT m.id, 'rescheduled'::text FROM moved AS m;
    PERFORM mailqueue.wake_workers();
END $$;
COMMENT ON FUNCTION mailqueue.reschedule_emails(uuid, uuid[], timestamptz) IS
    'Change when pending or held mail without an attempt is sent; its time to live stays the same.';
