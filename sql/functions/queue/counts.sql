-- What holds for all queue tables together; see claim.sql.

CREATE OR REPLACE FUNCTION mailqueue.has_worker(p_queue text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM mailqueue.workers AS w
                    WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND NOT w.is_stopping AND w.drained_at IS NULL
                      AND w.beat_at > clock_timestamp() - interval '30 s' AND p_queue = ANY (w.queues))
$$;
COMMENT ON FUNCTION mailqueue.has_worker(text) IS 'Whether a worker process is alive that works on the queue.';

-- All queues: called when a worker leaves or is declared lost.
CREATE OR REPLACE FUNCTION mailqueue.return_rows(p_worker integer) RETURNS integer
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT
    --% for queue in queues
        [[ "" if loop.first else "+" ]] mailqueue.return_[[queue.table]](p_worker)
    --% endfor
$$;
COMMENT ON FUNCTION mailqueue.return_rows(integer) IS
    'Return the rows of all queues that a worker held, or (NULL) whose lease is over; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.rows_held_by(p_worker integer) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $$
    SELECT
    --% for queue in queues
        [[ "" if loop.first else "+" ]]
        (SELECT count(*) FROM mailqueue.[[queue.table]] AS q WHERE q.status = 'assigned' AND q.worker_id = p_worker)
    --% endfor
$$;
COMMENT ON FUNCTION mailqueue.rows_held_by(integer) IS 'Number of rows of all queues that a worker holds, mail apart.';

-- One statement whose plan a session keeps: planning it costs more than running it.
CREATE OR REPLACE FUNCTION mailqueue.queue_counts()
RETURNS TABLE (queue text, table_name text, due bigint, oldest_due timestamptz, scheduled bigint, assigned bigint,
               suspects bigint, failed bigint, workers bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    --% for queue in queues
    --% set table = queue.table
    --% if not loop.first
    UNION ALL
    --% endif
    SELECT '[[queue.name]]'::text, '[[table]]'::text,
           (SELECT count(*) FROM (SELECT FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.run_at <= now()
                                   LIMIT 10001) AS c),
           (SELECT min(q.run_at) FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.run_at <= now()),
           (SELECT count(*) FROM (SELECT FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.run_at > now()
                                   LIMIT 10001) AS c),
           (SELECT count(*) FROM (SELECT FROM mailqueue.[[table]] AS q WHERE q.status = 'assigned' LIMIT 10001) AS c),
           (SELECT count(*) FROM (SELECT FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.crashes > 0
                                   LIMIT 10001) AS c),
           (SELECT count(*) FROM (SELECT FROM mailqueue.[[table]] AS q
                                   WHERE q.status = 'failed' AND q.finished_at > now() - interval '1 day'
                                   LIMIT 10001) AS c),
           (SELECT count(*) FROM mailqueue.workers AS w
             WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.beat_at > now() - interval '30 s'
               AND w.drained_at IS NULL AND '[[queue.name]]' = ANY (w.queues))
    --% endfor
    ;
END $$;
COMMENT ON FUNCTION mailqueue.queue_counts() IS
    'State of each queue; counts above 10,000 are shown as 10,001. failed: in the last day. workers: alive and of this '
    'queue.';

CREATE OR REPLACE FUNCTION mailqueue.queue_signs(p_now timestamptz)
RETURNS TABLE (queue text, has_circuit boolean, oldest_due timestamptz, stopping uuid[], alone bigint,
    is_alone_again boolean)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    --% for queue in queues
    --% set table = queue.table
    --% if not loop.first
    UNION ALL
    --% endif
    SELECT '[[queue.name]]'::text, [[ "true" if queue.has_circuit else "false" ]],
           (SELECT min(q.run_at) FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.run_at <= p_now),
           (SELECT array_agg(f.id)
              FROM (SELECT q.id FROM mailqueue.[[table]] AS q
                     WHERE q.status = 'failed' AND q.finished_at > p_now - interval '1 day' AND q.crashes > 0
                     LIMIT 1000) AS f),
           c.alone, c.is_again
      FROM (SELECT count(*) AS alone, bool_or(s.crashes > 1) AS is_again
              FROM (SELECT q.crashes FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.crashes > 0
                     LIMIT 1000) AS s) AS c
    --% endfor
    ;
END $$;
COMMENT ON FUNCTION mailqueue.queue_signs(timestamptz) IS
    'Of each queue besides mail: since when work is due, rows that failed in the last day because they stopped their '
    'worker, and those that are handled alone since they did; up to 1,000.';

CREATE OR REPLACE FUNCTION mailqueue.unattended_queues(p_queues text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $$
    --% for queue in queues
    --% if not loop.first
    UNION ALL
    --% endif
    SELECT '[[queue.name]]'::text WHERE '[[queue.name]]' = ANY (p_queues)
       AND NOT EXISTS (SELECT FROM mailqueue.workers AS w
                        WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.beat_at > now() - interval '30 s'
                          AND w.drained_at IS NULL AND '[[queue.name]]' = ANY (w.queues))
       AND EXISTS (SELECT FROM mailqueue.[[queue.table]] AS q WHERE q.status = 'pending' AND q.run_at <= now())
       AND NOT EXISTS (SELECT FROM mailqueue.[[queue.table]] AS q WHERE q.status = 'assigned')
    --% endfor
$$;
COMMENT ON FUNCTION mailqueue.unattended_queues(text[]) IS
    'Those of the queues that have due rows, none that is being handled, and no worker that is alive.';

CREATE OR REPLACE FUNCTION mailqueue.suspected_queues(p_queues text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $$
    --% for queue in queues
    SELECT '[[queue.name]]'::text WHERE '[[queue.name]]' = ANY (p_queues)
       AND EXISTS (SELECT FROM mailqueue.[[queue.table]] AS q
                    WHERE q.status = 'pending' AND q.crashes > 0 AND q.run_at <= clock_timestamp()
                      AND q.id <> ALL (ARRAY(SELECT x.row_id FROM mailqueue.refused_rows AS x
                                              WHERE x.table_name = '[[queue.table]]'
                                                AND x.retry_at > clock_timestamp()))
                      --% if queue.has_circuit
                      AND q.[[queue.key]] = ANY (ARRAY(
                              SELECT k.key FROM mailqueue.ready_[[queue.table]](clock_timestamp()) AS k))
                      --% endif
                  )
    UNION ALL
    --% endfor
    SELECT 'email_queue' WHERE 'email_queue' = ANY (p_queues)
       AND EXISTS (SELECT FROM mailqueue.email_queue AS q
                    WHERE q.status = 'pending' AND q.crashes > 0 AND q.run_at <= clock_timestamp()
                      AND q.id <> ALL (ARRAY(SELECT x.row_id FROM mailqueue.refused_rows AS x
                                              WHERE x.table_name = 'email_queue'
                                                AND x.retry_at > clock_timestamp())))
$$;
COMMENT ON FUNCTION mailqueue.suspected_queues(text[]) IS
    'Those of the queues that have due rows whose worker stopped while handling them, and whose key is not blocked.';
