-- The checks of the bridge to RabbitMQ: queues without a consumer, and messages that could not be handled.

CREATE OR REPLACE FUNCTION mailqueue.health_of_bridge() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH idle AS (
        SELECT q.name, q.state, q.seen_at,
               CASE WHEN q.state = 'stopped' THEN 'its consumer was stopped'
                    WHEN q.seen_at < clock_timestamp() - interval '1 min' THEN 'its consumer no longer reports'
                    ELSE coalesce(left(q.reason, 200), 'no reason is known') END AS reason
          FROM mailqueue.broker_queues AS q JOIN mailqueue.projects AS p ON p.id = q.project_id
         WHERE p.deleted_at IS NULL
           AND (q.state IN ('waiting', 'unavailable') OR q.seen_at < clock_timestamp() - interval '1 min')
    )
    SELECT 'rabbitmq', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('not consumed: '
                    || mailqueue.some_words(array_agg(format('queue %s, last seen at %s (%s)', i.name,
                                                             mailqueue.shown(i.seen_at), i.reason)
                                                      ORDER BY i.seen_at)),
                    CASE WHEN EXISTS (SELECT FROM mailqueue.broker_queues) THEN 'queues of RabbitMQ are consumed'
                         ELSE 'no queue of RabbitMQ is consumed' END),
           CASE WHEN count(*) = 0 THEN NULL
                WHEN bool_or(i.seen_at < clock_timestamp() - interval '1 min')
                     THEN 'run mailqueue worker rabbitmq; a queue that is no longer used disappears after 30 days'
                ELSE 'mend what the reason names; the messages wait in the broker' END
      FROM idle AS i
    UNION ALL
    SELECT 'dead letters', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('messages that could not be handled: '
                    || mailqueue.some_words(array_agg(format('%s%s of %s, the last at %s from queue %s (%s)', d.letters,
                                                             CASE d.letters WHEN 100 THEN ' or more' ELSE '' END,
                                                             d.project, mailqueue.shown(d.last_at), d.queue,
                                                             left(d.reason, 200)) ORDER BY d.last_at DESC)),
                    'every message of RabbitMQ could be handled'),
           CASE WHEN count(*) > 0
                THEN format('see mailqueue bridge dead-letters --project %s; mend the sender or the rule, then '
                            'mailqueue bridge replay --since 30d --project %1$s',
                            mailqueue.shell_word((array_agg(d.project ORDER BY d.last_at DESC))[1])) END
      FROM (SELECT p.name AS project, f.* FROM mailqueue.projects AS p
             CROSS JOIN LATERAL (
                    SELECT count(*) AS letters, max(o.created_at) AS last_at,
                           (array_agg(o.queue ORDER BY o.id DESC))[1] AS queue,
                           (array_agg(o.reason ORDER BY o.id DESC))[1] AS reason
                      FROM (SELECT l.* FROM mailqueue.dead_letters AS l
                             WHERE l.project_id = p.id AND l.status = 'waiting'
                             ORDER BY l.project_id DESC, l.id DESC LIMIT 100) AS o) AS f
             WHERE p.deleted_at IS NULL AND f.letters > 0) AS d
$$;
COMMENT ON FUNCTION mailqueue.health_of_bridge() IS 'The checks of the bridge to RabbitMQ, for the view health.';
