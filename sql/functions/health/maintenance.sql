-- Rows of view health: whether maintenance runs.

CREATE OR REPLACE FUNCTION mailqueue.health_of_maintenance()
RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 'maintenance',
           CASE WHEN t.late IS NULL THEN 'ok' ELSE 'warning' END,
           CASE WHEN t.late IS NOT NULL THEN 'overdue: ' || mailqueue.some_words(t.late)
                WHEN t.last_run_at IS NULL THEN 'no task has run yet'
                ELSE 'last run ' || mailqueue.span_words(clock_timestamp() - t.last_run_at) || ' ago' END,
           CASE WHEN t.late IS NOT NULL
                THEN 'run mailqueue maintain by cron with a login that may act as the schema''s owner, or start '
                     'mailqueue worker maintenance with it (mailqueue up brings one)' END
      FROM (SELECT max(m.last_run_at) AS last_run_at,
                   array_agg(m.task
                             || coalesce(', last run ' || mailqueue.span_words(clock_timestamp() - m.last_run_at)
                                         || ' ago', ', never run')
                             || coalesce(' (' || m.last_error || ')', '')
                             ORDER BY m.task)
                     FILTER (WHERE coalesce(m.last_run_at, m.created_at)
                                   < clock_timestamp() - m.every * 3 - interval '1 h') AS late
              FROM mailqueue.maintenance_tasks AS m) AS t
    UNION ALL
    SELECT 'audit',
           CASE WHEN w.since < clock_timestamp() - interval '2 days' THEN 'warning' ELSE 'ok' END,
           CASE WHEN w.since < clock_timestamp() - interval '2 days'
                THEN format('row %s and those after it have waited for a seal for %s', w.id,
                            mailqueue.span_words(clock_timestamp() - w.since))
                ELSE 'rows of the audit log are sealed' END,
           CASE WHEN w.since < clock_timestamp() - interval '2 days'
                THEN 'run mailqueue maintain audit where the master key is set' END
      FROM (SELECT) AS one
      LEFT JOIN LATERAL (
           SELECT e.id, greatest(e.occurred_at, (SELECT m.created_at FROM mailqueue.maintenance_tasks AS m
                                                  WHERE m.task = 'audit')) AS since
             FROM mailqueue.audit_events AS e
            WHERE e.id > coalesce((SELECT s.settled_id FROM mailqueue.audit_seals AS s
                                    ORDER BY s.position DESC LIMIT 1), 0)
              AND NOT EXISTS (SELECT FROM mailqueue.audit_seals AS s WHERE s.event_id = e.id)
            ORDER BY e.id LIMIT 1) AS w ON true
$$;
COMMENT ON FUNCTION mailqueue.health_of_maintenance() IS
    'Rows of view health: when maintenance ran last, and whether the audit log is sealed.';
