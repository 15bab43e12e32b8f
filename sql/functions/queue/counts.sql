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

DO $make$
DECLARE
    v_queues constant jsonb := '[[QUEUES]]';
BEGIN
    -- All queues: called when a worker leaves or is declared lost.
    EXECUTE format($f$
CREATE OR REPLACE FUNCTION mailqueue.return_rows(p_worker integer) RETURNS integer
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $body$ SELECT %s $body$;
COMMENT ON FUNCTION mailqueue.return_rows(integer) IS
    'Return the rows of all queues that a worker held, or (NULL) whose lease is over; returns how many.';
    $f$, coalesce((SELECT string_agg(format('mailqueue.return_%s(p_worker)', r.table_name), ' + ')
                     FROM jsonb_to_recordset(v_queues) AS r (table_name text)), '0'));

    EXECUTE format($f$
CREATE OR REPLACE FUNCTION mailqueue.rows_held_by(p_worker integer) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $body$ SELECT %s $body$;
COMMENT ON FUNCTION mailqueue.rows_held_by(integer) IS 'Number of rows of all queues that a worker holds, mail apart.';
    $f$, coalesce((SELECT string_agg(format(
                       '(SELECT count(*) FROM mailqueue.%I AS q'
                       ' WHERE q.status = ''assigned'' AND q.worker_id = p_worker)', r.table_name), ' + ')
                     FROM jsonb_to_recordset(v_queues) AS r (table_name text)), '0::bigint'));

    EXECUTE format($f$
CREATE OR REPLACE FUNCTION mailqueue.queue_counts()
RETURNS TABLE (queue text, table_name text, due bigint, oldest_due timestamptz, scheduled bigint, assigned bigint,
               suspects bigint, failed bigint, workers bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $body$ %s $body$;
COMMENT ON FUNCTION mailqueue.queue_counts() IS
    'State of each queue; counts above 10,000 are shown as 10,001. failed: in the last day. workers: alive and of this '
    'queue.';
    $f$, coalesce((SELECT string_agg(format($u$
    SELECT %1$L::text, %2$L::text,
           (SELECT count(*) FROM (SELECT FROM mailqueue.%2$I AS q WHERE q.status = 'pending' AND q.run_at <= now()
                                   LIMIT 10001) AS c),
           (SELECT min(q.run_at) FROM mailqueue.%2$I AS q WHERE q.status = 'pending' AND q.run_at <= now()),
           (SELECT count(*) FROM (SELECT FROM mailqueue.%2$I AS q WHERE q.status = 'pending' AND q.run_at > now()
                                   LIMIT 10001) AS c),
           (SELECT count(*) FROM (SELECT FROM mailqueue.%2$I AS q WHERE q.status = 'assigned' LIMIT 10001) AS c),
           (SELECT count(*) FROM (SELECT FROM mailqueue.%2$I AS q WHERE q.status = 'pending' AND q.crashes > 0
                                   LIMIT 10001) AS c),
           (SELECT count(*) FROM (SELECT FROM mailqueue.%2$I AS q
                                   WHERE q.status = 'failed' AND q.finished_at > now() - interval '1 day'
                                   LIMIT 10001) AS c),
           (SELECT count(*) FROM mailqueue.workers AS w
             WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.beat_at > now() - interval '30 s'
               AND w.drained_at IS NULL AND %1$L = ANY (w.queues))$u$, r.name, r.table_name), ' UNION ALL ')
                     FROM jsonb_to_recordset(v_queues) AS r (name text, table_name text)),
                  'SELECT NULL::text, NULL::text, 0::bigint, NULL::timestamptz, 0::bigint, 0::bigint, 0::bigint, '
                  '0::bigint, 0::bigint WHERE false'));

    EXECUTE format($f$
CREATE OR REPLACE FUNCTION mailqueue.unattended_queues(p_queues text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $body$ %s $body$;
COMMENT ON FUNCTION mailqueue.unattended_queues(text[]) IS
    'Those of the queues that have due rows, none that is being handled, and no worker that is alive.';
    $f$, coalesce((SELECT string_agg(format($u$
    SELECT %1$L::text WHERE %1$L = ANY (p_queues)
       AND NOT EXISTS (SELECT FROM mailqueue.workers AS w
                        WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.beat_at > now() - interval '30 s'
                          AND w.drained_at IS NULL AND %1$L = ANY (w.queues))
       AND EXISTS (SELECT FROM mailqueue.%2$I AS q WHERE q.status = 'pending' AND q.run_at <= now())
       AND NOT EXISTS (SELECT FROM mailqueue.%2$I AS q WHERE q.status = 'assigned')$u$, r.name, r.table_name),
                       ' UNION ALL ')
                     FROM jsonb_to_recordset(v_queues) AS r (name text, table_name text)),
                  'SELECT NULL::text WHERE false'));

    EXECUTE format($f$
CREATE OR REPLACE FUNCTION mailqueue.suspected_queues(p_queues text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $body$ %s
    UNION ALL SELECT 'email_queue' WHERE 'email_queue' = ANY (p_queues)
       AND EXISTS (SELECT FROM mailqueue.email_queue AS q
                    WHERE q.status = 'pending' AND q.crashes > 0 AND q.run_at <= clock_timestamp()
                      AND q.id <> ALL (ARRAY(SELECT x.row_id FROM mailqueue.refused_rows AS x
                                              WHERE x.table_name = 'email_queue'
                                                AND x.retry_at > clock_timestamp()))) $body$;
COMMENT ON FUNCTION mailqueue.suspected_queues(text[]) IS
    'Those of the queues that have due rows whose worker stopped while handling them, and whose key is not blocked.';
    $f$, coalesce((SELECT string_agg(format($u$
    SELECT %1$L::text WHERE %1$L = ANY (p_queues)
       AND EXISTS (SELECT FROM mailqueue.%2$I AS q
                    WHERE q.status = 'pending' AND q.crashes > 0 AND q.run_at <= clock_timestamp()
                      AND q.id <> ALL (ARRAY(SELECT x.row_id FROM mailqueue.refused_rows AS x
                                              WHERE x.table_name = %2$L AND x.retry_at > clock_timestamp()))%3$s)$u$,
                           r.name, r.table_name,
                           CASE WHEN r.has_circuit THEN format(
                               ' AND q.%I = ANY (ARRAY(SELECT k.key FROM mailqueue.ready_%s(clock_timestamp()) AS k))',
                               r.key_column, r.table_name) ELSE '' END), ' UNION ALL ')
                     FROM jsonb_to_recordset(v_queues)
                       AS r (name text, table_name text, key_column text, has_circuit boolean)),
                  'SELECT NULL::text WHERE false'));
END $make$;
