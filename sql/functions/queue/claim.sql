-- The functions of each queue table, repeated for each row of QUEUES in mailqueue/core/queues/registry.py by
-- mailqueue/db/repeated.py, to which the lines of --% belong. NAME is the table.
--
--   claim_NAME    take due rows for a worker, under a new claim number
--   settle_NAME   write the outcomes of claimed rows
--   renew_NAME    extend the leases of rows that take long
--   return_NAME   give back what a worker held, and what no lease covers any more, through give_back_NAME
--   release_NAME  give back what a worker does not know it holds, after a claim without an answer
--   suspect_NAME  count a death of the worker on rows whose handling had begun
--   requeue_NAME  queue finished rows again, by a person
--
-- A row is written only by who names its claim number. Planner settings are pinned: a plan cached while the table was
-- empty would otherwise cost seconds.

CREATE OR REPLACE FUNCTION mailqueue.check_worker(p_worker integer) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM FROM mailqueue.workers AS w WHERE w.id = p_worker AND w.lost_at IS NULL AND w.stopped_at IS NULL
       FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'worker % was declared lost', p_worker USING ERRCODE = '55000';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_worker(integer) IS
    'Raise 55000 unless the worker is alive; it is not declared lost before the transaction ends.';

CREATE OR REPLACE FUNCTION mailqueue.is_drained(p_worker integer) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT EXISTS (SELECT FROM mailqueue.workers AS w WHERE w.id = p_worker AND w.drained_at IS NOT NULL) $$;
COMMENT ON FUNCTION mailqueue.is_drained(integer) IS 'Whether the worker finishes what it has and claims nothing more.';

-- How long a row waits after a failed attempt: doubled with each, and a tenth at random, so that what failed together
-- does not come back together.
CREATE OR REPLACE FUNCTION mailqueue.backoff(p_attempt integer, p_first interval, p_longest interval) RETURNS interval
LANGUAGE sql VOLATILE
AS $$ SELECT least(p_first * power(2, least(greatest(p_attempt, 1), 30) - 1), p_longest) * (1 + random() * 0.1) $$;
COMMENT ON FUNCTION mailqueue.backoff(integer, interval, interval) IS
    'Wait before the next attempt of a row.';

--% for queue in queues
--% set table = queue.table
--% set key = queue.key
--% if queue.key and not queue.has_circuit
CREATE OR REPLACE FUNCTION mailqueue.ready_[[table]](p_now timestamptz)
RETURNS TABLE (key mailqueue.[[table]].[[key]]%TYPE, project_id uuid, room integer, is_probe boolean)
LANGUAGE sql STABLE
AS $$
    --% if queue.is_mostly_later
    SELECT d.key, d.project_id, 1000000, false
      FROM (SELECT DISTINCT q.[[key]] AS key, q.project_id FROM mailqueue.[[table]] AS q
             WHERE q.status = 'pending' AND q.run_at <= p_now) AS d
    --% else
    WITH RECURSIVE waiting AS (
        (SELECT q.[[key]] AS key FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' ORDER BY q.[[key]] LIMIT 1)
        UNION ALL
        SELECT (SELECT q.[[key]] FROM mailqueue.[[table]] AS q WHERE q.status = 'pending' AND q.[[key]] > x.key
                 ORDER BY q.[[key]] LIMIT 1)
          FROM waiting AS x WHERE x.key IS NOT NULL
    )
    SELECT x.key, d.project_id, 1000000, false
      FROM waiting AS x
     CROSS JOIN LATERAL (SELECT q.project_id FROM mailqueue.[[table]] AS q
                          WHERE q.[[key]] = x.key AND q.status = 'pending' AND q.run_at <= p_now LIMIT 1) AS d
    --% endif
$$;
COMMENT ON FUNCTION mailqueue.ready_[[table]](timestamptz) IS 'Values of [[key]] that have due rows.';
--% endif
-- Rows whose worker died before are claimed only by a worker that handles one row at a time.
CREATE OR REPLACE FUNCTION mailqueue.claim_[[table]](p_worker integer, p_limit integer, p_lease interval,
    p_alone boolean, p_first integer, p_keys text[], p_rooms integer[]) RETURNS SETOF mailqueue.[[table]]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_ids uuid[] := '{}';
    v_claim bigint;
    v_refused uuid[];
    v_skip uuid[] := ARRAY(SELECT r.row_id FROM mailqueue.refused_rows AS r    -- see refused.sql
                            WHERE r.table_name = '[[table]]' AND r.retry_at > v_now LIMIT 10000);
    k record;
BEGIN
    IF mailqueue.is_drained(p_worker) THEN
        RETURN;
    END IF;
    IF p_alone THEN
        v_ids := ARRAY(SELECT q.id FROM mailqueue.[[table]] AS q
                        WHERE q.status = 'pending' AND q.crashes > 0 AND q.run_at <= v_now
                          AND q.id <> ALL (v_skip)
                          --% if queue.has_circuit
                          AND q.[[key]] = ANY (ARRAY(SELECT r.key FROM mailqueue.ready_[[table]](v_now) AS r))
                          --% endif
                        ORDER BY q.run_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED);
    ELSE
        --% if queue.key
        FOR k IN
            WITH ready AS MATERIALIZED (
                SELECT r.key, r.project_id, r.is_probe, least(r.room, coalesce(h.room, p_first)) AS room
                  FROM mailqueue.ready_[[table]](v_now) AS r
                  LEFT JOIN unnest(p_keys, p_rooms) AS h(key, room) ON h.key = r.key::text
                 WHERE least(r.room, coalesce(h.room, p_first)) > 0
            ), shared AS (
                SELECT r.*, count(*) OVER (PARTITION BY r.project_id) AS siblings,
                       row_number() OVER (PARTITION BY r.project_id ORDER BY random()) AS turn,
                       (SELECT count(DISTINCT o.project_id) FROM ready AS o) AS projects
                  FROM ready AS r
            )
            SELECT s.key, s.is_probe, least(s.room, greatest(1, p_limit / s.projects / s.siblings)) AS take
              FROM shared AS s ORDER BY s.turn, random() LIMIT p_limit
        LOOP
            EXIT WHEN cardinality(v_ids) >= p_limit;
            --% if queue.has_circuit
            CONTINUE WHEN k.is_probe AND NOT mailqueue.begin_probe_[[table]](k.key, p_lease);
            --% endif
            v_ids := v_ids || ARRAY(
                SELECT q.id FROM mailqueue.[[table]] AS q
                 WHERE q.[[key]] = k.key AND q.status = 'pending' AND q.crashes = 0 AND q.run_at <= v_now
                   AND q.id <> ALL (v_skip)
                 ORDER BY q.run_at, q.id LIMIT least(k.take, p_limit - cardinality(v_ids))
                   FOR NO KEY UPDATE SKIP LOCKED);
        END LOOP;
        --% else
        v_ids := ARRAY(SELECT q.id FROM mailqueue.[[table]] AS q
                        WHERE q.status = 'pending' AND q.crashes = 0 AND q.run_at <= v_now AND q.id <> ALL (v_skip)
                        ORDER BY q.run_at, q.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED);
        --% endif
    END IF;
    IF v_ids = '{}' THEN
        RETURN;
    END IF;
    PERFORM mailqueue.check_worker(p_worker);
    IF current_setting('mailqueue.isolates_claims', true) = '[[table]]' THEN
        v_refused := mailqueue.refused_rows_of('[[table]]', p_worker, v_ids);
        v_ids := ARRAY(SELECT i FROM unnest(v_ids) AS i WHERE i <> ALL (v_refused));
    END IF;
    v_claim := nextval('mailqueue.claim_no_seq');
    RETURN QUERY
    UPDATE mailqueue.[[table]] AS q
       SET status = 'assigned', claim_no = v_claim, worker_id = p_worker, assigned_at = v_now,
           lease_until = v_now + p_lease, attempts = least(q.attempts, 32766) + 1
     WHERE q.id = ANY (v_ids)
    RETURNING q.*;
END $$;
COMMENT ON FUNCTION mailqueue.claim_[[table]](integer, integer, interval, boolean, integer, text[], integer[]) IS
    'Take due rows for a worker until its lease is over; p_alone: one row whose worker died before.';
--% endfor
