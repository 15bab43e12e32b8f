-- The check of timed events: those that failed, and birthdays that are not planned yet.

CREATE OR REPLACE FUNCTION mailqueue.health_of_timed_events()
RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH failed AS (
        SELECT t.id, t.kind, t.last_error, p.name AS project
          FROM (SELECT o.* FROM mailqueue.timed_events AS o
                 WHERE o.finished_at > clock_timestamp() - interval '1 day' AND o.status = 'failed'
                 ORDER BY o.finished_at DESC LIMIT 100) AS t
          JOIN mailqueue.projects AS p ON p.id = t.project_id
         WHERE t.last_error IS NULL OR t.last_error NOT LIKE 'cancelled by %'
    ), unplanned AS (
        SELECT p.name AS project FROM mailqueue.birthday_rules AS b JOIN mailqueue.projects AS p ON p.id = b.project_id
         WHERE b.planned_for IS DISTINCT FROM mailqueue.birthday_plan(b)
           AND b.updated_at < clock_timestamp() - interval '15 min'
    )
    SELECT 'timed events', CASE WHEN n.failed = 0 AND n.unplanned IS NULL THEN 'ok' ELSE 'warning' END,
           coalesce(nullif(concat_ws('; ',
               CASE WHEN n.failed > 0 THEN 'failed in the last day: ' || mailqueue.some_words(n.words) END,
               'birthdays are not planned for ' || mailqueue.some_words(n.unplanned)), ''),
               'none failed in the last day'),
           CASE WHEN n.failed > 0 THEN 'when the cause is mended: mailqueue queue requeue ' || n.first
                WHEN n.unplanned IS NOT NULL
                     THEN 'workers of the queue plan them: mailqueue worker timed-events, or mailqueue up' END
      FROM (SELECT (SELECT count(*) FROM failed) AS failed, (SELECT f.id::text FROM failed AS f LIMIT 1) AS first,
                   (SELECT array_agg(format('%s of %s (%s)', f.kind, f.project,
                                            left(coalesce(f.last_error, 'no reason'), 200))) FROM failed AS f) AS words,
                   (SELECT array_agg('project ' || u.project) FROM unplanned AS u) AS unplanned) AS n
$$;
COMMENT ON FUNCTION mailqueue.health_of_timed_events() IS 'The check of timed events, for the view health.';
