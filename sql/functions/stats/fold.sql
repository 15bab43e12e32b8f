-- Counting what was written since, up to a horizon below which nothing is committed any more: see decision 0059.
--
-- The time is read first, then the transactions that are writing to the tables, as pg_locks shows them. A transaction
-- whose rows have an earlier time held its lock before: it is among these writers, or has ended, and its rows are seen.
-- When these writers have ended, everything before that time is counted. Transactions that only read have another lock,
-- however long they take, and writers that begin later are above the horizon.

CREATE OR REPLACE FUNCTION mailqueue.stats_writers() RETURNS text[]
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(array_agg(DISTINCT k.virtualtransaction), '{}')
      FROM pg_catalog.pg_locks AS k
     WHERE k.locktype = 'relation' AND k.mode = 'RowExclusiveLock' AND k.granted
       AND k.pid IS DISTINCT FROM pg_backend_pid()
       AND k.relation IN (SELECT t.relid FROM unnest(ARRAY['mailqueue.email_history', 'mailqueue.email_events',
                                                           'mailqueue.send_logs']) AS n(name)
                           CROSS JOIN LATERAL pg_partition_tree(n.name::regclass) AS t)
       AND k.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
$$;
COMMENT ON FUNCTION mailqueue.stats_writers() IS
    'Open transactions that have written to history, events or the log. A prepared one is shown as -1/ID.';

-- What is counted anew is counted below folded_to as far as the counting has come, and beyond only where it happened
-- before rebuilt_from: those counts were not deleted.
CREATE OR REPLACE FUNCTION mailqueue.is_counted(s mailqueue.stats_state, p_known timestamptz, p_at timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$ SELECT p_known < s.folded_to OR coalesce(p_known < s.rebuilt_to AND p_at < s.rebuilt_from, false) $$;
COMMENT ON FUNCTION mailqueue.is_counted(mailqueue.stats_state, timestamptz, timestamptz) IS
    'Whether a fact is among the counts.';

-- Mails of a campaign differ in little that is counted: naming values and adding to counts costs a row for each group,
-- not for each mail.
CREATE OR REPLACE FUNCTION mailqueue.facts_by_minute(s mailqueue.stats_state, p_ids uuid[], p_times timestamptz[],
    p_known timestamptz[], p_events uuid[], p_event_times timestamptz[]) RETURNS mailqueue.stats_fact[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT array_agg(g.fact)
      FROM (SELECT ROW(min(f.known_at), min(f.at), f.project_id, f.is_test, f.campaign, f.template, f.version,
                       f.category, f.tags, f.account, f.domain, f.link, f.metric, sum(f.n), f.origin, f.variant
                      )::mailqueue.stats_fact AS fact
              FROM mailqueue.stats_facts(p_ids, p_times, p_known, p_events, p_event_times) AS f
             WHERE NOT coalesce(f.known_at < s.rebuilt_to AND f.at < s.rebuilt_from, false)
             GROUP BY date_trunc('minute', f.at), f.project_id, f.is_test, f.campaign, f.template, f.version,
                      f.category, f.tags, f.account, f.domain, f.link, f.metric, f.origin, f.variant) AS g
$$;
COMMENT ON FUNCTION mailqueue.facts_by_minute(mailqueue.stats_state, uuid[], timestamptz[], timestamptz[], uuid[],
    timestamptz[]) IS
    'The facts of finished mail and of events that are not counted yet; those that differ in time alone are one.';

-- Returns: lost (the claim), cleared, waiting (for open writers), more (there is more to count), done, idle (nothing
-- was found).
CREATE OR REPLACE FUNCTION mailqueue.fold_stats(p_id uuid, p_claim bigint, p_rows integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    c_unseen CONSTANT interval := '5 s';                     -- of so little time all is counted at once
    s mailqueue.stats_state;
    v_now timestamptz;
    v_until timestamptz;
    v_step interval;
    v_found integer;
    v_facts mailqueue.stats_fact[];
BEGIN
    SELECT o.* INTO s FROM mailqueue.stats_state AS o
     WHERE o.id = p_id AND o.claim_no = p_claim AND o.name = 'all' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost';
    ELSIF NOT s.is_cleared THEN
        RETURN mailqueue.clear_stats(s);
    END IF;
    IF s.horizon > s.folded_to AND s.open_writers <> '{}' THEN
        s.open_writers := ARRAY(SELECT o FROM unnest(mailqueue.stats_writers()) AS o
                                 WHERE o = ANY (s.open_writers) OR o LIKE '-1/%');
    ELSIF s.horizon <= s.folded_to THEN
        v_now := date_trunc('milliseconds', clock_timestamp());
        IF v_now > s.horizon THEN
            s.horizon := v_now;
            s.open_writers := mailqueue.stats_writers();
        END IF;
    END IF;
    IF s.open_writers <> '{}' OR s.horizon <= s.folded_to THEN
        UPDATE mailqueue.stats_state AS o
           SET horizon = s.horizon, open_writers = s.open_writers, crashes = 0
         WHERE o.id = p_id;
        RETURN 'waiting';
    END IF;

    -- Much that was written at once is counted in parts, however long counting has not run.
    v_step := s.step;
    LOOP
        v_until := least(s.horizon, date_trunc('milliseconds', s.folded_to + v_step));
        EXIT WHEN v_until - s.folded_to <= c_unseen;
        SELECT coalesce(cardinality(x.ids), 0) + coalesce(cardinality(x.events), 0) INTO v_found
          FROM mailqueue.stats_written(s.folded_to, v_until) AS x;
        EXIT WHEN v_found <= 2 * p_rows;
        v_step := (v_until - s.folded_to) / 2;
    END LOOP;
    -- One statement, so that all is read with one snapshot: a correction is of what was counted before, or what it
    -- changes is read as it is since.
    WITH gone AS (
        DELETE FROM mailqueue.stats_corrections AS c RETURNING c.*
    ), fixes AS (
        SELECT array_agg(f) AS facts
          FROM (SELECT array_agg(g::mailqueue.stats_corrections) AS rows FROM gone AS g) AS c
         CROSS JOIN LATERAL mailqueue.stats_fixes(c.rows) AS f
         WHERE mailqueue.is_counted(s, f.known_at, f.at)
    ), written AS MATERIALIZED (
        SELECT * FROM mailqueue.stats_written(s.folded_to, v_until)
    ), found AS (
        SELECT mailqueue.facts_by_minute(s, x.ids, x.times, x.known, x.events, x.event_times) AS facts FROM written AS x
    )
    SELECT coalesce(x.facts, '{}') || coalesce(f.facts, '{}'),
           coalesce(cardinality(w.ids), 0) + coalesce(cardinality(w.events), 0)
      INTO v_facts, v_found FROM fixes AS x, found AS f, written AS w;
    IF v_facts <> '{}' THEN
        PERFORM mailqueue.add_stats(v_facts);
    END IF;
    PERFORM mailqueue.add_latency(s.folded_to, v_until);
    UPDATE mailqueue.stats_state AS o
       SET folded_to = v_until, horizon = s.horizon, open_writers = '{}',
           crashes = 0,                                      -- what ends workers between steps is not this row
           step = CASE WHEN v_found > p_rows THEN greatest(interval '1 ms', v_step / 2)
                       WHEN v_found < p_rows / 4 AND v_until < s.horizon THEN least(interval '30 days', v_step * 2)
                       ELSE v_step END,
           counted_at = CASE WHEN v_facts <> '{}' THEN clock_timestamp() ELSE o.counted_at END,
           rebuilt_from = CASE WHEN v_until < s.rebuilt_to THEN s.rebuilt_from END,
           rebuilt_to = CASE WHEN v_until < s.rebuilt_to THEN s.rebuilt_to END
     WHERE o.id = p_id;
    RETURN CASE WHEN v_until < s.horizon THEN 'more' WHEN v_facts <> '{}' THEN 'done' ELSE 'idle' END;
END $$;
COMMENT ON FUNCTION mailqueue.fold_stats(uuid, bigint, integer) IS
    'Count what was written since, some rows of it, and move the cursor in the same transaction.';

CREATE OR REPLACE FUNCTION mailqueue.add_latency(p_from timestamptz, p_until timestamptz) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_mergejoin = off SET jit = off
AS $$
    INSERT INTO mailqueue.stats_latency AS s (project_id, is_test, sender_account_id, started_at, up_to_ms, attempts)
    SELECT l.project_id, m.is_test, l.sender_account_id, mailqueue.stats_quarter(l.sent_at),
           mailqueue.latency_class(l.response_ms), count(*)
      FROM mailqueue.send_logs AS l
     CROSS JOIN LATERAL (                                    -- as is_test_email(), whose call costs four times as much
            SELECT coalesce((SELECT q.is_test FROM mailqueue.email_queue AS q WHERE q.id = l.email_id),
                            (SELECT h.is_test FROM mailqueue.email_history AS h WHERE h.id = l.email_id LIMIT 1), false)
                   AS is_test) AS m
     WHERE l.sent_at >= p_from AND l.sent_at < p_until AND l.response_ms IS NOT NULL
       AND l.sender_account_id IS NOT NULL
     GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT ON CONSTRAINT stats_latency_pkey DO UPDATE SET attempts = s.attempts + excluded.attempts
$$;
COMMENT ON FUNCTION mailqueue.add_latency(timestamptz, timestamptz) IS
    'Count the response times of attempts that were made within a time.';

CREATE OR REPLACE FUNCTION mailqueue.clear_stats(s mailqueue.stats_state) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_rows CONSTANT integer := 20000;                        -- rows that one transaction deletes
    v_table text;
    v_rows integer;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['stats_minutes', 'stats_quarters', 'stats_latency'] LOOP
        EXECUTE format('DELETE FROM mailqueue.%1$I AS o WHERE o.ctid = ANY (ARRAY('
                       'SELECT x.ctid FROM mailqueue.%1$I AS x WHERE x.started_at >= $1 LIMIT $2))', v_table)
          USING s.rebuilt_from, c_rows;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        IF v_rows = c_rows THEN
            RETURN 'cleared';
        END IF;
    END LOOP;
    UPDATE mailqueue.stats_state AS o SET is_cleared = true, crashes = 0 WHERE o.id = s.id;
    RETURN 'more';
END $$;
COMMENT ON FUNCTION mailqueue.clear_stats(mailqueue.stats_state) IS
    'Delete some counts of what is counted anew.';
