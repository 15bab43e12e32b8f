-- The check of counting: mail and events that are not counted within 10 seconds, with the reason.

CREATE OR REPLACE FUNCTION mailqueue.health_of_stats() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT 'stats', CASE WHEN w.is_late THEN 'warning' ELSE 'ok' END,
           CASE WHEN NOT w.is_late THEN 'mail and events are counted up to ' || mailqueue.shown(s.folded_to)
                WHEN s.rebuilt_from IS NOT NULL
                     THEN format('counting anew from %s, which has come to %s of %s', mailqueue.shown(s.rebuilt_from),
                                 mailqueue.shown(s.folded_to), mailqueue.shown(s.rebuilt_to))
                ELSE format('mail and events are counted only up to %s (%s)', mailqueue.shown(s.folded_to),
                            CASE WHEN NOT mailqueue.has_worker('stats') THEN 'no worker counts them'
                                 WHEN w.writer IS NOT NULL
                                      THEN format('session %s has written to history or events and is still open',
                                                  w.writer)
                                 ELSE coalesce(left(s.last_error, 200), 'much was written at once') END) END,
           CASE WHEN NOT w.is_late THEN NULL
                WHEN NOT mailqueue.has_worker('stats') THEN 'run mailqueue worker stats, or mailqueue up'
                WHEN s.rebuilt_from IS NOT NULL THEN 'wait: see mailqueue stats progress'
                WHEN w.writer IS NOT NULL THEN 'end that transaction'
                ELSE 'see mailqueue why ' || s.id END
      FROM mailqueue.stats_state AS s
     CROSS JOIN LATERAL (
            SELECT s.folded_to < clock_timestamp() - interval '10 s'
                   AND (s.rebuilt_from IS NOT NULL
                        OR EXISTS (SELECT FROM mailqueue.email_events AS v
                                    WHERE v.id >= mailqueue.first_uuid(s.folded_to)
                                      AND v.id < mailqueue.first_uuid(clock_timestamp() - interval '10 s'))
                        OR EXISTS (SELECT FROM mailqueue.email_history AS h
                                    WHERE h.finished_at >= s.folded_to
                                      AND h.finished_at < clock_timestamp() - interval '10 s')) AS is_late,
                   (SELECT min(a.pid) FROM unnest(s.open_writers) AS o
                      JOIN pg_catalog.pg_locks AS k ON k.virtualtransaction = o
                      JOIN pg_catalog.pg_stat_activity AS a ON a.pid = k.pid) AS writer) AS w
     WHERE s.name = 'all'
$$;
COMMENT ON FUNCTION mailqueue.health_of_stats() IS 'The check of counting, for the view health.';
