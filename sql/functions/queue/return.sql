-- Rows of queue tables that go on after their worker: leases, rescue, rows that stop workers; see claim.sql.

--% for queue in queues
--% set table = queue.table
CREATE OR REPLACE FUNCTION mailqueue.renew_[[table]](p_ids uuid[], p_claims bigint[], p_lease interval) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE mailqueue.[[table]] AS q SET lease_until = clock_timestamp() + p_lease
      FROM (SELECT o.id FROM mailqueue.[[table]] AS o JOIN unnest(p_ids, p_claims) AS i(id, claim_no)
                ON i.id = o.id AND i.claim_no = o.claim_no ORDER BY o.id FOR NO KEY UPDATE OF o) AS h
     WHERE q.id = h.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception
          OR data_corrupted THEN
    IF cardinality(p_ids) = 1 THEN
        RAISE WARNING 'row % of [[table]] cannot be extended: %', p_ids[1], SQLERRM;
        RETURN 0;
    END IF;
    RETURN mailqueue.renew_[[table]](p_ids[:cardinality(p_ids) / 2], p_claims[:cardinality(p_ids) / 2], p_lease)
         + mailqueue.renew_[[table]](p_ids[cardinality(p_ids) / 2 + 1:], p_claims[cardinality(p_ids) / 2 + 1:],
                                     p_lease);
END $$;
COMMENT ON FUNCTION mailqueue.renew_[[table]](uuid[], bigint[], interval) IS
    'Extend the leases of claimed rows; returns how many claims still hold.';

CREATE OR REPLACE FUNCTION mailqueue.give_back_[[table]](p_ids uuid[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE mailqueue.[[table]] AS q
       SET status = 'pending', attempts = greatest(q.attempts - 1, 0), claim_no = NULL, worker_id = NULL,
           assigned_at = NULL, lease_until = NULL
     WHERE q.id = ANY (p_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception
          OR data_corrupted THEN
    IF cardinality(p_ids) = 1 THEN
        RAISE WARNING 'row % of [[table]] cannot return to its queue: %', p_ids[1], SQLERRM;
        RETURN 0;
    END IF;
    RETURN mailqueue.give_back_[[table]](p_ids[:cardinality(p_ids) / 2])
         + mailqueue.give_back_[[table]](p_ids[cardinality(p_ids) / 2 + 1:]);
END $$;
COMMENT ON FUNCTION mailqueue.give_back_[[table]](uuid[]) IS
    'Return these rows to the queue, but those whose change the server refuses; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.return_[[table]](p_worker integer) RETURNS integer
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
    SELECT mailqueue.give_back_[[table]](ARRAY(
           SELECT o.id FROM mailqueue.[[table]] AS o
            WHERE o.status = 'assigned' AND (o.worker_id = p_worker OR p_worker IS NULL AND o.lease_until < now())
            ORDER BY o.id LIMIT 10000 FOR NO KEY UPDATE SKIP LOCKED))
$$;
COMMENT ON FUNCTION mailqueue.return_[[table]](integer) IS
    'Return the rows of a worker to the queue, or (NULL) those whose lease is over; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.release_[[table]](p_worker integer, p_held uuid[]) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
    SELECT mailqueue.give_back_[[table]](ARRAY(
           SELECT o.id FROM mailqueue.[[table]] AS o
            WHERE o.status = 'assigned' AND o.worker_id = p_worker AND o.id <> ALL (p_held)
            ORDER BY o.id LIMIT 10000 FOR NO KEY UPDATE SKIP LOCKED))
$$;
COMMENT ON FUNCTION mailqueue.release_[[table]](integer, uuid[]) IS
    'Return rows that a claim assigned to the worker and whose answer it did not receive: all but those it knows to '
    'hold; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.suspect_[[table]](p_ids uuid[], p_claims bigint[], p_alone boolean, p_reason text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_count integer;
BEGIN
    UPDATE mailqueue.[[table]] AS q
       SET crashes = CASE WHEN p_alone THEN least(greatest(q.crashes, 1), 32766) + 1 ELSE greatest(q.crashes, 1) END,
           status = CASE WHEN p_alone AND q.crashes >= [[queue.max_crashes]] THEN 'failed' ELSE 'pending' END,
           finished_at = CASE WHEN p_alone AND q.crashes >= [[queue.max_crashes]] THEN v_now END,
           -- The likeliest to have ended the process is tried last: the others go on at once.
           run_at = CASE WHEN p_alone THEN v_now + q.crashes * interval '2 s' * (1 + random())
                         ELSE v_now - h.n * interval '1 microsecond' END,
           attempts = greatest(q.attempts - 1, 0), claim_no = NULL, worker_id = NULL, assigned_at = NULL,
           lease_until = NULL,
           last_error = CASE WHEN p_alone AND q.crashes >= [[queue.max_crashes]] 
                                  THEN 'it stopped its worker: ' || left(p_reason, 900)
                             ELSE 'its worker stopped while handling it: ' || left(p_reason, 900) END
      FROM (SELECT o.id, i.n FROM mailqueue.[[table]] AS o
              JOIN unnest(p_ids, p_claims) WITH ORDINALITY AS i(id, claim_no, n)
                ON i.id = o.id AND i.claim_no = o.claim_no ORDER BY o.id FOR NO KEY UPDATE OF o) AS h
     WHERE q.id = h.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception
          OR data_corrupted THEN
    IF cardinality(p_ids) = 1 THEN
        RAISE WARNING 'row % of [[table]] cannot be counted as a suspect: %', p_ids[1], SQLERRM;
        RETURN 0;
    END IF;
    RETURN mailqueue.suspect_[[table]](p_ids[:cardinality(p_ids) / 2], p_claims[:cardinality(p_ids) / 2], p_alone,
                                       p_reason)
         + mailqueue.suspect_[[table]](p_ids[cardinality(p_ids) / 2 + 1:], p_claims[cardinality(p_ids) / 2 + 1:],
                                       p_alone, p_reason);
END $$;
COMMENT ON FUNCTION mailqueue.suspect_[[table]](uuid[], bigint[], boolean, text) IS
    'Count a death of the worker on rows whose handling had begun, the likeliest to have caused it first: they are '
    'handled alone from now on, that one last, and fail after the [[queue.max_crashes]]. death while alone. Returns '
    'how many claims still held.';

CREATE OR REPLACE FUNCTION mailqueue.requeue_[[table]](p_project uuid, p_ids uuid[], p_by text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE mailqueue.[[table]] AS q
       SET status = 'pending', run_at = clock_timestamp(), attempts = 0, crashes = 0, finished_at = NULL
     WHERE q.id = ANY (ARRAY(
           SELECT o.id FROM mailqueue.[[table]] AS o
            WHERE o.id = ANY (p_ids) AND (p_project IS NULL OR o.project_id = p_project)
              AND o.status NOT IN ('pending', 'assigned', '[[queue.done]]')
            ORDER BY o.id FOR NO KEY UPDATE));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN
        PERFORM mailqueue.record_operation(p_project, 'queue.requeued', '[[table]]',
                                           jsonb_build_object('rows', v_count, 'ids', to_jsonb(p_ids[1:100])), p_by);
    END IF;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.requeue_[[table]](uuid, uuid[], text) IS
    'Queue rows again that failed, were cancelled or are held, with their attempts at zero; returns how many.';
--% endfor
