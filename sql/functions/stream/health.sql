-- The check of consumers: events that wait for more than 10 seconds, and events that were left out.

CREATE OR REPLACE FUNCTION mailqueue.health_of_consumers() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH seen AS MATERIALIZED (
        SELECT c.*, coalesce(c.waiting_since < clock_timestamp() - interval '10 s', false) AS is_late,
               c.left_out > 0 AS has_left_out
          FROM mailqueue.list_consumers() AS c
    )
    SELECT 'consumers', CASE WHEN bool_or(s.is_late OR s.has_left_out) THEN 'warning' ELSE 'ok' END,
           coalesce(nullif(concat_ws('; ',
               mailqueue.some_words(array_agg(format('%s has not handled %s events, the oldest since %s (%s)', s.name,
                       CASE WHEN s.waiting > 10000 THEN 'more than 10000' ELSE s.waiting::text END,
                       mailqueue.shown(s.waiting_since),
                       CASE WHEN NOT s.is_running THEN 'no worker reads events'
                            WHEN s.is_ordered AND s.writer IS NOT NULL
                                 THEN format('session %s has written an event and is still open', s.writer)
                            ELSE coalesce(left(s.last_error, 200), 'much was written at once') END)
                   ORDER BY s.waiting_since) FILTER (WHERE s.is_late)),
               mailqueue.some_words(array_agg(format('%s left out %s events (%s)', s.name, s.left_out,
                                                     left(s.left_out_error, 200))
                   ORDER BY s.name) FILTER (WHERE s.has_left_out))), ''),
               'consumers have handled the events of the stream'),
           CASE WHEN bool_or(s.is_late) AND NOT bool_and(s.is_running)
                     THEN 'run mailqueue worker webhooks publishing, or mailqueue up'
                WHEN bool_or(s.is_late AND s.is_ordered AND s.writer IS NOT NULL) THEN 'end that transaction'
                WHEN bool_or(s.is_late) THEN 'see mailqueue consumers list'
                WHEN bool_or(s.has_left_out)
                     THEN format('mend the handler, then: mailqueue consumers replay %s --since 1d',
                                 min(s.name) FILTER (WHERE s.has_left_out)) END
      FROM seen AS s
$$;
COMMENT ON FUNCTION mailqueue.health_of_consumers() IS 'The check of consumers, for the view health.';
