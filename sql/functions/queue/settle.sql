-- Outcomes of rows of queue tables; see claim.sql. Only these functions turn outcomes into states.

--% for queue in queues
--% set table = queue.table
-- The state that follows from an outcome, the row being q and its outcome i.
--% set status | trim
CASE i.outcome
        WHEN 'done' THEN coalesce(i.status, '[[queue.done]]')
        WHEN 'failed' THEN coalesce(i.status, 'failed')
        --% if queue.on_unknown == "held"
        WHEN 'unknown' THEN 'held'
        --% else
        WHEN 'unknown' THEN CASE WHEN q.attempts >= q.max_attempts THEN 'failed' ELSE 'pending' END
        --% endif
        WHEN 'retry' THEN CASE WHEN q.attempts >= q.max_attempts THEN 'failed' ELSE 'pending' END
        ELSE 'pending' END
--% endset
CREATE OR REPLACE FUNCTION mailqueue.settle_[[table]](p_ids uuid[], p_claims bigint[], p_outcomes text[],
    p_statuses text[], p_waits interval[], p_runs timestamptz[], p_reasons text[], p_values jsonb)
RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_settled uuid[];
BEGIN
    -- The rows are found by id, one index step each: nothing here grows with the table or with the square of the group.
    -- They are locked in order of their ids, as everywhere: by the UPDATE itself, which follows the order of its input,
    -- or, where it is not the only statement that writes, before.
    WITH input AS MATERIALIZED (
        SELECT t.id, t.claim_no, t.outcome, t.status, t.wait, t.run_at, left(t.reason, 1000) AS reason,
               coalesce(t.vals, '{}') AS vals
          FROM ROWS FROM (unnest(p_ids, p_claims, p_outcomes, p_statuses, p_waits, p_runs, p_reasons),
                          jsonb_array_elements(p_values))
            AS t(id, claim_no, outcome, status, wait, run_at, reason, vals)
        --% if queue.keeps_done
         ORDER BY t.id
        --% else
          JOIN mailqueue.[[table]] AS o ON o.id = t.id AND o.claim_no = t.claim_no
         ORDER BY o.id FOR NO KEY UPDATE OF o
        --% endif
    ), settled AS (
        UPDATE mailqueue.[[table]] AS q
           SET status = [[status]],
               run_at = CASE WHEN [[status]] <> 'pending' THEN q.run_at
                             WHEN i.run_at IS NOT NULL THEN i.run_at
                             WHEN i.wait IS NOT NULL THEN v_now + i.wait
                             WHEN i.outcome = 'defer' THEN q.run_at
                             ELSE v_now + mailqueue.backoff(q.attempts, '[[queue.first_wait]]',
                                                           '[[queue.longest_wait]]') END,
               attempts = CASE i.outcome WHEN 'defer' THEN greatest(q.attempts - 1, 0) WHEN 'again' THEN 0
                                         ELSE q.attempts END,
               crashes = CASE WHEN i.outcome = 'defer' THEN q.crashes ELSE 0 END,
               last_error = CASE WHEN i.outcome IN ('done', 'again') THEN i.reason
                                 ELSE coalesce(i.reason, q.last_error) END,
               claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL,
               finished_at = CASE WHEN [[status]] IN ('pending', 'held') THEN NULL ELSE v_now END
           --% for column in queue.columns
           , [[column.name]] = CASE WHEN NOT i.vals ? '[[column.name]]' THEN q.[[column.name]]
                --% if column.is_array
                ELSE CASE WHEN jsonb_typeof(i.vals -> '[[column.name]]') = 'array' THEN
                          ARRAY(SELECT x FROM jsonb_array_elements_text(i.vals -> '[[column.name]]') AS x)
                          ::[[column.type]] END END
                --% elif column.type == "jsonb"
                ELSE i.vals -> '[[column.name]]' END
                --% else
                ELSE (i.vals ->> '[[column.name]]')::[[column.type]] END
                --% endif
           --% endfor
          FROM input AS i
         WHERE q.id = i.id AND q.claim_no = i.claim_no
           --% if not queue.keeps_done
           AND [[status]] <> '[[queue.done]]'
           --% endif
        RETURNING q.id
    )
    --% if queue.keeps_done
    SELECT array_agg(d.id) INTO v_settled FROM settled AS d;
    --% else
    , deleted AS (
        DELETE FROM mailqueue.[[table]] AS q USING input AS i
         WHERE q.id = i.id AND q.claim_no = i.claim_no AND [[status]] = '[[queue.done]]'
        RETURNING q.id
    )
    SELECT array_agg(d.id) INTO v_settled
      FROM (SELECT o.id FROM settled AS o UNION ALL SELECT o.id FROM deleted AS o) AS d;
    --% endif
    IF cardinality(v_settled) IS DISTINCT FROM cardinality(p_ids) THEN
        RETURN QUERY SELECT i.id FROM unnest(p_ids) AS i(id) WHERE i.id <> ALL (coalesce(v_settled, '{}'));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.settle_[[table]](uuid[], bigint[], text[], text[], interval[], timestamptz[],
                                          text[], jsonb) IS
    'Write the outcomes of claimed rows; returns the ids whose claim no longer holds, for which nothing is written.';
--% endfor
