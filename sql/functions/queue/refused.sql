-- Rows that cannot be claimed: a trigger or a constraint of the operator refuses every change of them. A claim that
-- fails as a whole is repeated by its worker with mailqueue.isolates_claims set to the name of the table: then the rows
-- that it chose are tried in smaller and smaller parts, until each one that is refused is alone. It is noted here, and
-- claims leave it out for a growing time.

CREATE OR REPLACE FUNCTION mailqueue.note_refused_row(p_table text, p_id uuid, p_reason text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_retry timestamptz;
BEGIN
    INSERT INTO mailqueue.refused_rows AS r (table_name, row_id, retry_at, reason)
    VALUES (p_table, p_id, clock_timestamp() + interval '5 s', left(p_reason, 400))
    ON CONFLICT (table_name, row_id) DO UPDATE
       SET refusals = least(r.refusals, 32766) + 1, refused_at = clock_timestamp(), reason = excluded.reason,
           retry_at = clock_timestamp() + least(interval '5 s' * power(2, least(r.refusals, 20)), interval '1 h')
    RETURNING r.retry_at INTO v_retry;
    IF p_table = 'email_queue' THEN                          -- nothing else would wake its lane
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT q.lane_id, v_retry FROM mailqueue.email_queue AS q WHERE q.id = p_id AND q.status = 'pending';
    END IF;
    -- Rows that were claimed since, or are gone.
    DELETE FROM mailqueue.refused_rows AS r
     WHERE r.table_name = p_table AND r.retry_at < clock_timestamp() - interval '1 day';
END $$;
COMMENT ON FUNCTION mailqueue.note_refused_row(text, uuid, text) IS
    'Note a row whose change was refused: claims leave it out for 5 s, then twice as long each time, at most an hour.';

-- The messages of errors may contain what rows say; what raised them does not.
CREATE OR REPLACE FUNCTION mailqueue.refused_rows_of(p_table text, p_worker integer, p_ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_half integer := cardinality(p_ids) / 2;
    v_where text;
    v_constraint text;
    v_state text;
BEGIN
    IF cardinality(p_ids) = 0 THEN
        RETURN '{}';
    END IF;
    BEGIN
        -- What a claim writes, or (without a worker) what is written when its worker is lost; both are undone.
        EXECUTE format(CASE WHEN p_worker IS NOT NULL
            THEN 'UPDATE mailqueue.%I AS q SET status = ''assigned'', claim_no = 0, worker_id = $2, '
                 'assigned_at = clock_timestamp(), lease_until = clock_timestamp(), '
                 'attempts = least(q.attempts, 32766) + 1 WHERE q.id = ANY ($1)'
            ELSE 'UPDATE mailqueue.%I AS q SET status = ''pending'', claim_no = NULL, worker_id = $2, '
                 'assigned_at = NULL, lease_until = NULL WHERE q.id = ANY ($1)' END, p_table) USING p_ids, p_worker;
        SET CONSTRAINTS ALL IMMEDIATE;
        RAISE EXCEPTION 'undone' USING ERRCODE = 'MQ003';
    EXCEPTION
        WHEN SQLSTATE 'MQ003' THEN
            RETURN '{}';
        WHEN OTHERS THEN
            IF left(SQLSTATE, 2) IN ('08', '25', '40', '53', '55', '57', '58') THEN
                RAISE;                                       -- of the server or of another session, not of a row
            END IF;
            GET STACKED DIAGNOSTICS v_where = PG_EXCEPTION_CONTEXT, v_constraint = CONSTRAINT_NAME,
                                    v_state = RETURNED_SQLSTATE;
    END;
    IF v_half = 0 THEN
        PERFORM mailqueue.note_refused_row(p_table, p_ids[1], v_state || ', '
            || coalesce('constraint ' || nullif(v_constraint, ''), split_part(v_where, E'\n', 1)));
        RETURN p_ids;
    END IF;
    RETURN mailqueue.refused_rows_of(p_table, p_worker, p_ids[:v_half])
        || mailqueue.refused_rows_of(p_table, p_worker, p_ids[v_half + 1:]);
END $$;
COMMENT ON FUNCTION mailqueue.refused_rows_of(text, integer, uuid[]) IS
    'Those of the rows whose claim by a worker, or (NULL) whose return to the queue is refused; each is noted.';

CREATE OR REPLACE FUNCTION mailqueue.refusal_words(p_id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT format('a trigger or a constraint of this database refuses its change (%s): refused %s, tried again at %s',
                  r.reason, CASE r.refusals WHEN 1 THEN 'once' ELSE r.refusals || ' times' END,
                  mailqueue.shown(r.retry_at))
      FROM mailqueue.refused_rows AS r WHERE r.row_id = p_id AND r.retry_at > clock_timestamp() - interval '1 min'
$$;
COMMENT ON FUNCTION mailqueue.refusal_words(uuid) IS 'Why a row is left out by claims; NULL if it is not.';

-- Those that wait for their next try too, and not those that were claimed since.
CREATE OR REPLACE FUNCTION mailqueue.health_of_refused_rows()
RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_found text[]; v_id uuid;
    t record; r record;
BEGIN
    FOR t IN SELECT q.table_name, q.queue
               FROM (SELECT 'email_queue' AS table_name, 'emails' AS queue
                     UNION ALL SELECT x.table_name, x.queue FROM mailqueue.queue_tables() AS x) AS q
              WHERE EXISTS (SELECT FROM mailqueue.refused_rows AS x WHERE x.table_name = q.table_name)
    LOOP
        EXECUTE format('SELECT count(*) AS rows, min(s.id::text)::uuid AS id FROM (SELECT q.id FROM '
                       'mailqueue.refused_rows AS x JOIN mailqueue.%I AS q ON q.id = x.row_id '
                       'AND q.status = ''pending'' WHERE x.table_name = $1 LIMIT 1000) AS s', t.table_name)
           INTO r USING t.table_name;
        IF r.rows > 0 THEN
            v_found := v_found || format('%s of %s', r.rows, t.queue);
            v_id := coalesce(v_id, r.id);
        END IF;
    END LOOP;
    RETURN QUERY SELECT 'rows that cannot be claimed', CASE WHEN v_found IS NULL THEN 'ok' ELSE 'warning' END,
        coalesce('a trigger or a constraint refuses their change: ' || mailqueue.some_words(v_found),
                 'no change of a row is refused'),
        'see mailqueue why ' || v_id || ' for what refuses it, and mend that';
END $$;
COMMENT ON FUNCTION mailqueue.health_of_refused_rows() IS 'Row of view health: rows that claims leave out.';
