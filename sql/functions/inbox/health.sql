-- The check of the inbox: events of the last day that could not be read, or whose rules failed.

-- The newest failures of each project, by an index of failures alone.
CREATE OR REPLACE FUNCTION mailqueue.health_of_inbox() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH failed AS (
        SELECT p.name AS project, f.events, f.last_at, f.reason
          FROM mailqueue.projects AS p
         CROSS JOIN LATERAL (
                SELECT count(*) AS events, max(i.received) AS last_at,
                       (array_agg(coalesce(i.reason, 'rule ' || a.rule || ': ' || a.reason) ORDER BY i.id DESC))[1]
                           AS reason
                  FROM (SELECT o.id, o.received, o.reason FROM mailqueue.inbox_state AS o
                         WHERE o.project_id = p.id AND o.status = 'failed' ORDER BY o.id DESC LIMIT 100) AS i
                  LEFT JOIN LATERAL (SELECT x.rule, x.reason FROM mailqueue.inbox_actions AS x
                                      WHERE x.inbox_id = i.id AND x.result = 'failed'
                                      ORDER BY x.id LIMIT 1) AS a ON true
                 WHERE i.received > clock_timestamp() - interval '1 day') AS f
         WHERE p.deleted_at IS NULL AND f.events > 0
    )
    SELECT 'inbox', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('failed in the last day: '
                    || mailqueue.some_words(array_agg(format('%s%s of %s, the last at %s (%s)', f.events,
                                                             CASE f.events WHEN 1 THEN ' event' WHEN 100
                                                                           THEN ' events or more' ELSE ' events' END,
                                                             f.project, mailqueue.shown(f.last_at),
                                                             left(f.reason, 200)) ORDER BY f.last_at DESC)),
                    'no event of another service failed in the last day'),
           CASE WHEN count(*) > 0
                THEN format('see mailqueue event inbox --status failed --project %s; mend the rule or the service, '
                            'then mailqueue event replay --status failed --since 1d --project %1$s',
                            mailqueue.shell_word((array_agg(f.project ORDER BY f.last_at DESC))[1])) END
      FROM failed AS f
$$;
COMMENT ON FUNCTION mailqueue.health_of_inbox() IS
    'The check of events of other services, for the view health.';
