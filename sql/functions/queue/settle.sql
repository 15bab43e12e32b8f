-- Outcomes of rows of queue tables; see claim.sql. Only these functions turn outcomes into states.

DO $make$
DECLARE
    v_queues constant jsonb := '[[QUEUES]]';
    s record;
    v_sets text;
    v_status text;
BEGIN
    FOR s IN
        SELECT r.*, format('mailqueue.%I', r.table_name) AS q,
               'SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off '
               'SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan '
               'SET jit = off' AS pinned
          FROM jsonb_to_recordset(v_queues)
            AS r (name text, table_name text, done text, key_column text,
                  has_circuit boolean, columns text[], first_wait interval,
                  longest_wait interval, on_unknown text, keeps_done boolean, max_crashes integer)
    LOOP
        -- What an outcome may write beside the contract's columns, read from JSON by the type of the column.
        SELECT coalesce(string_agg(format(
                   E',\n           %1$I = CASE WHEN NOT i.vals ? %1$L THEN q.%1$I ELSE %2$s END', c.name,
                   CASE WHEN t.typcategory = 'A'
                             THEN format('CASE WHEN jsonb_typeof(i.vals -> %1$L) = ''array'' THEN '
                                         'ARRAY(SELECT x FROM jsonb_array_elements_text(i.vals -> %1$L) AS x)'
                                         '::%2$s END', c.name, format_type(a.atttypid, a.atttypmod))
                        WHEN t.typname = 'jsonb' THEN format('i.vals -> %L', c.name)
                        ELSE format('(i.vals ->> %L)::%s', c.name, format_type(a.atttypid, a.atttypmod)) END),
                   '' ORDER BY c.n), '')
          INTO v_sets
          FROM unnest(s.columns) WITH ORDINALITY AS c(name, n)
          JOIN pg_attribute AS a ON a.attrelid = s.q::regclass AND a.attname = c.name AND NOT a.attisdropped
          JOIN pg_type AS t ON t.oid = a.atttypid;
        -- The state that follows from an outcome, the row being q and its outcome i.
        v_status := format($e$CASE i.outcome
                    WHEN 'done' THEN coalesce(i.status, %L) WHEN 'failed' THEN coalesce(i.status, 'failed')
                    WHEN 'unknown' THEN %s
                    WHEN 'retry' THEN CASE WHEN q.attempts >= q.max_attempts THEN 'failed' ELSE 'pending' END
                    ELSE 'pending' END$e$, s.done,
            CASE s.on_unknown WHEN 'held' THEN '''held'''
                              ELSE 'CASE WHEN q.attempts >= q.max_attempts THEN ''failed'' ELSE ''pending'' END' END);
        EXECUTE format($f$

CREATE OR REPLACE FUNCTION mailqueue.settle_%2$s(p_ids uuid[], p_claims bigint[], p_outcomes text[], p_statuses text[],
    p_waits interval[], p_runs timestamptz[], p_reasons text[], p_values jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER %3$s
AS $body$
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
            AS t(id, claim_no, outcome, status, wait, run_at, reason, vals)%5$s
    ), settled AS (
        UPDATE %1$s AS q
           SET status = %6$s,
               run_at = CASE WHEN %6$s <> 'pending' THEN q.run_at
                             WHEN i.run_at IS NOT NULL THEN i.run_at
                             WHEN i.wait IS NOT NULL THEN v_now + i.wait
                             WHEN i.outcome = 'defer' THEN q.run_at
                             ELSE v_now + mailqueue.backoff(q.attempts, %7$L, %8$L) END,
               attempts = CASE i.outcome WHEN 'defer' THEN greatest(q.attempts - 1, 0) WHEN 'again' THEN 0
                                         ELSE q.attempts END,
               crashes = CASE WHEN i.outcome = 'defer' THEN q.crashes ELSE 0 END,
               last_error = CASE WHEN i.outcome IN ('done', 'again') THEN i.reason
                                 ELSE coalesce(i.reason, q.last_error) END,
               claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL,
               finished_at = CASE WHEN %6$s IN ('pending', 'held') THEN NULL ELSE v_now END%4$s
          FROM input AS i
         WHERE q.id = i.id AND q.claim_no = i.claim_no%9$s
        RETURNING q.id
    )%10$s
    SELECT array_agg(d.id) INTO v_settled FROM %11$s AS d;
    IF cardinality(v_settled) IS DISTINCT FROM cardinality(p_ids) THEN
        RETURN QUERY SELECT i.id FROM unnest(p_ids) AS i(id) WHERE i.id <> ALL (coalesce(v_settled, '{}'));
    END IF;
END $body$;
COMMENT ON FUNCTION mailqueue.settle_%2$s(uuid[], bigint[], text[], text[], interval[], timestamptz[], text[],
                                          jsonb) IS
    'Write the outcomes of claimed rows; returns the ids whose claim no longer holds, for which nothing is written.';
        $f$, s.q, s.table_name, s.pinned, v_sets,
               CASE WHEN s.keeps_done THEN E'\n         ORDER BY t.id'
                    ELSE format($l$
          JOIN %s AS o ON o.id = t.id AND o.claim_no = t.claim_no
         ORDER BY o.id FOR NO KEY UPDATE OF o$l$, s.q) END,
               v_status, s.first_wait, s.longest_wait,
               CASE WHEN s.keeps_done THEN '' ELSE format(' AND %s <> %L', v_status, s.done) END,
               CASE WHEN s.keeps_done THEN '' ELSE format($d$, deleted AS (
        DELETE FROM %1$s AS q USING input AS i
         WHERE q.id = i.id AND q.claim_no = i.claim_no AND %2$s = %3$L
        RETURNING q.id
    )$d$, s.q, v_status, s.done) END,
               CASE WHEN s.keeps_done THEN 'settled'
                    ELSE '(SELECT o.id FROM settled AS o UNION ALL SELECT o.id FROM deleted AS o)' END);

    END LOOP;
END $make$;
