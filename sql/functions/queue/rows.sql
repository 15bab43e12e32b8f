-- Rows of queue tables for people: lists, why a row waits, queueing again, cancelling.

CREATE OR REPLACE FUNCTION mailqueue.queue_tables()
RETURNS TABLE (queue text, table_name text, done text, key_column text, has_circuit boolean, is_upkeep boolean)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.name, r.table_name, r.done, r.key_column, r.has_circuit, r.is_upkeep
      FROM jsonb_to_recordset('[[QUEUES]]'::jsonb)
        AS r (name text, table_name text, done text, key_column text, has_circuit boolean, is_upkeep boolean)
$$;
COMMENT ON FUNCTION mailqueue.queue_tables() IS
    'The queues besides mail: name, table, word for success, column of keys, whether keys may be blocked, and whether '
    'any worker host takes care of it.';

CREATE OR REPLACE FUNCTION mailqueue.is_attended(p_queue text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.has_worker(p_queue)
        OR EXISTS (SELECT FROM mailqueue.queue_tables() AS t WHERE t.queue = p_queue AND t.is_upkeep)
           AND EXISTS (SELECT FROM mailqueue.workers AS w WHERE w.stopped_at IS NULL AND w.lost_at IS NULL
                          AND w.kind <> 'custom-smtp-mail' AND w.beat_at > clock_timestamp() - interval '30 s')
$$;
COMMENT ON FUNCTION mailqueue.is_attended(text) IS
    'Whether a worker runs for the queue, or any worker where every worker host takes care of it.';

-- Newest first by id. The table is read by its primary key until the limit is reached.
CREATE OR REPLACE FUNCTION mailqueue.queue_rows(p_queue text, p_status text, p_project uuid, p_id uuid, p_limit integer)
RETURNS TABLE (queue text, id uuid, project_id uuid, status text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, crashes smallint, worker_id integer, assigned_at timestamptz,
    lease_until timestamptz, last_error text, created_at timestamptz, finished_at timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT x.queue, x.table_name FROM mailqueue.queue_tables() AS x WHERE x.queue = coalesce(p_queue, x.queue)
    LOOP
        RETURN QUERY EXECUTE format(
            'SELECT %L::text, q.id, q.project_id, q.status, q.priority, q.run_at, q.attempts, q.max_attempts, '
            'q.crashes, q.worker_id, q.assigned_at, q.lease_until, q.last_error, q.created_at, q.finished_at '
            'FROM mailqueue.%I AS q WHERE ($1 IS NULL OR q.id = $1) AND ($2 IS NULL OR q.status = $2) '
            'AND ($3 IS NULL OR q.project_id = $3) ORDER BY q.id DESC LIMIT $4', t.queue, t.table_name)
            USING p_id, p_status, p_project, p_limit;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.queue_rows(text, text, uuid, uuid, integer) IS
    'Rows of one queue or (NULL) of all, newest first, with a limit for each queue.';

CREATE OR REPLACE FUNCTION mailqueue.why_row(p_id uuid) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_told text;
    v_ahead bigint;
    v_wait text;
    q record;
    v_table record;
    w record;
BEGIN
    SELECT r.* INTO q FROM mailqueue.queue_rows(NULL, NULL, NULL, p_id, 1) AS r LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM mailqueue.check_tenant(q.project_id);
    v_told := coalesce(': ' || coalesce(q.last_error, mailqueue.inbox_pause_words(q.id)), '');
    IF q.status = 'held' THEN
        RETURN format('row of queue %s, held until a person decides%s', q.queue, v_told)
            || mailqueue.next_step('row', 'held', q.id, q.project_id);
    ELSIF q.finished_at IS NOT NULL THEN
        RETURN format('row of queue %s, %s at %s%s', q.queue, q.status, mailqueue.shown(q.finished_at), v_told)
            || CASE WHEN q.status = 'failed' AND q.attempts >= q.max_attempts
                         THEN format('; its attempts ran out after %s', q.attempts) ELSE '' END
            || mailqueue.next_step('row', CASE WHEN q.status = (SELECT t.done FROM mailqueue.queue_tables() AS t
                                                                 WHERE t.queue = q.queue) THEN 'done'
                                               ELSE q.status END, q.id, q.project_id);
    ELSIF q.status = 'assigned' THEN
        SELECT o.beat_at, v_now - o.beat_at > interval '30 s' AS is_silent INTO w FROM mailqueue.workers AS o
         WHERE o.id = q.worker_id;
        RETURN CASE WHEN w.is_silent
                         THEN format('row of queue %s; worker %s has it and is silent since %s: it goes back when the '
                                     'worker is rescued', q.queue, q.worker_id, mailqueue.shown(w.beat_at))
                    ELSE format('row of queue %s; worker %s handles it since %s', q.queue, q.worker_id,
                                mailqueue.shown(q.assigned_at)) END
            || mailqueue.next_step('row', CASE WHEN w.is_silent THEN 'silent' ELSE 'assigned' END, q.id, q.project_id,
                                   NULL, q.queue);
    END IF;
    IF mailqueue.refusal_words(q.id) IS NOT NULL THEN
        RETURN format('row of queue %s, not claimed: %s', q.queue, mailqueue.refusal_words(q.id))
            || mailqueue.next_step('row', 'refused', q.id, q.project_id);
    END IF;
    IF q.crashes > 0 THEN
        v_told := format('; it is handled alone, in a process of its own%s', v_told);
    END IF;
    SELECT o.* INTO v_table FROM mailqueue.queue_tables() AS o WHERE o.queue = q.queue;
    IF q.queue = 'notifications' THEN
        v_wait := mailqueue.notification_wait(q.id);
    ELSIF v_table.has_circuit THEN
        EXECUTE format('SELECT mailqueue.key_wait($1, o.%I::text, $2) FROM mailqueue.%I AS o WHERE o.id = $3',
                       v_table.key_column, v_table.table_name) INTO v_wait
          USING q.queue, 'its ' || replace(regexp_replace(v_table.key_column, '_id$', ''), '_', ' '), q.id;
    END IF;
    IF q.run_at > v_now THEN
        RETURN format('row of queue %s, %s%s', q.queue,
                      CASE WHEN q.attempts = 0 THEN format('not due before %s', mailqueue.shown(q.run_at))
                           ELSE format('tried %s, next attempt at %s',
                                       CASE q.attempts WHEN 1 THEN 'once' ELSE q.attempts || ' times' END,
                                       mailqueue.shown(q.run_at)) END, v_told)
            || mailqueue.next_step('row', 'pending', q.id, q.project_id);
    ELSIF v_wait IS NOT NULL THEN
        RETURN format('row of queue %s, due since %s; %s%s', q.queue, mailqueue.shown(q.run_at), v_wait, v_told)
            || mailqueue.next_step('row', 'pending', q.id, q.project_id);
    ELSIF NOT mailqueue.is_attended(q.queue) THEN
        RETURN format('row of queue %s, due since %s, and no worker is running for this queue%s', q.queue,
                      mailqueue.shown(q.run_at), v_told)
            || mailqueue.next_step('row', 'no_worker', q.id, q.project_id, NULL, q.queue);
    END IF;
    EXECUTE format('SELECT count(*) FROM (SELECT FROM mailqueue.%I AS o WHERE o.status = ''pending'' '
                   'AND (o.run_at, o.id) < ($1, $2) LIMIT 100000) AS ahead',
                   v_table.table_name)
       INTO v_ahead USING q.run_at, q.id;
    RETURN format('row of queue %s, due since %s and waiting for its turn behind %s rows%s', q.queue,
                  mailqueue.shown(q.run_at), v_ahead, v_told)
        || mailqueue.next_step('row', 'pending', q.id, q.project_id);
END $$;
COMMENT ON FUNCTION mailqueue.why_row(uuid) IS
    'Why a row of a queue besides mail waits, or what became of it; NULL if there is no such row.';

CREATE OR REPLACE FUNCTION mailqueue.why_worked_row(p_id uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.why_row(r.id) FROM mailqueue.queue_rows(NULL, NULL, NULL, p_id, 1) AS r
     WHERE r.status IN ('assigned', 'failed', 'held')
        OR r.status = 'pending' AND (r.run_at <= clock_timestamp() OR r.crashes > 0
                                     OR mailqueue.refusal_words(r.id) IS NOT NULL)
$$;
COMMENT ON FUNCTION mailqueue.why_worked_row(uuid) IS
    'What workers do with a row, as why_row() says it; NULL for a row that waits for its time or is done.';

CREATE OR REPLACE FUNCTION mailqueue.requeue_queue_rows(p_ids uuid[], p_by text)
RETURNS TABLE (queue text, rows integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT x.queue, x.table_name FROM mailqueue.queue_tables() AS x LOOP
        queue := t.queue;
        EXECUTE format('SELECT mailqueue.%I(NULL, $1, $2)', 'requeue_' || t.table_name) INTO rows USING p_ids, p_by;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.requeue_queue_rows(uuid[], text) IS
    'Queue rows of any queue besides mail again that failed, were cancelled or are held; returns how many of each.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_queue_rows(p_ids uuid[], p_by text)
RETURNS TABLE (queue text, rows integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT x.queue, x.table_name FROM mailqueue.queue_tables() AS x LOOP
        queue := t.queue;
        EXECUTE format('UPDATE mailqueue.%I AS q SET status = ''failed'', finished_at = clock_timestamp(), '
                       'last_error = ''cancelled by '' || $2 WHERE q.id = ANY ($1) AND q.status IN (''pending'', '
                       '''held'')', t.table_name) USING p_ids, left(p_by, 200);
        GET DIAGNOSTICS rows = ROW_COUNT;
        IF rows > 0 THEN
            PERFORM mailqueue.record_operation(NULL, 'queue.cancelled', t.table_name,
                        jsonb_build_object('rows', rows, 'ids', to_jsonb(p_ids[1:100])), p_by);
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.cancel_queue_rows(uuid[], text) IS
    'Fail rows of any queue besides mail that wait, with the reason "cancelled by …"; returns how many of each.';
