-- The check of outboxes: messages that wait longer than they should, with the reason.

CREATE OR REPLACE FUNCTION mailqueue.health_of_publishing() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH late AS (
        SELECT p.name AS project, s.name, s.last_error, m.message_id, m.enqueue_time,
               (SELECT min(a.pid) FROM unnest(s.open_writers) AS w
                  JOIN pg_catalog.pg_locks AS k ON k.virtualtransaction = w
                  JOIN pg_catalog.pg_stat_activity AS a ON a.pid = k.pid) AS writer
          FROM mailqueue.outbox_state AS s JOIN mailqueue.projects AS p ON p.id = s.project_id
         CROSS JOIN LATERAL (
                SELECT o.message_id, o.enqueue_time FROM mailqueue.outbox_message AS o
                 WHERE o.outbox_id = s.outbox_id AND o.sequence_number > coalesce(s.last_sequence_number, 0)
                   AND o.status = 'pending'
                 ORDER BY o.outbox_id, o.sequence_number LIMIT 1) AS m
         WHERE m.enqueue_time < clock_timestamp() - interval '1 min'
    )
    SELECT 'publishing', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('not published for more than a minute: '
                    || mailqueue.some_words(array_agg(format('outbox %s of %s, since %s (%s)', l.name, l.project,
                           mailqueue.shown(l.enqueue_time),
                           CASE WHEN NOT mailqueue.has_worker('publishing') THEN 'no worker publishes messages'
                                ELSE coalesce('session ' || l.writer || ' has written to it and is still open',
                                              left(l.last_error, 200), 'no reason is known') END)
                           ORDER BY l.enqueue_time)),
                    'messages of outboxes are published'),
           CASE WHEN count(*) = 0 THEN NULL
                WHEN NOT mailqueue.has_worker('publishing') THEN 'run mailqueue worker publishing, or mailqueue up'
                WHEN min(l.writer) IS NOT NULL THEN 'end that transaction'
                ELSE format('mend the receiver, or leave the message out: mailqueue outbox skip %s %s --project %s',
                            (array_agg(l.name ORDER BY l.enqueue_time))[1],
                            (array_agg(l.message_id ORDER BY l.enqueue_time))[1],
                            mailqueue.shell_word((array_agg(l.project ORDER BY l.enqueue_time))[1])) END
      FROM late AS l
$$;
COMMENT ON FUNCTION mailqueue.health_of_publishing() IS 'The check of outboxes, for the view health.';
