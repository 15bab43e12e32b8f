-- Runs of schedules: an occurrence, its run and its mail in one transaction.

CREATE OR REPLACE FUNCTION mailqueue.run_values(p_number integer, p_occurrence timestamptz, p_local timestamp,
    p_previous timestamptz, p_name text) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object(
        'number', p_number,
        'scheduled_at', to_char(p_occurrence AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'previous_at', coalesce(to_char(p_previous AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ''),
        'date', to_char(p_local, 'YYYY-MM-DD'), 'time', to_char(p_local, 'HH24:MI'),
        'week', to_char(p_local, 'IYYY-"W"IW'), 'month', to_char(p_local, 'YYYY-MM'), 'year', to_char(p_local, 'YYYY'),
        'name', coalesce(p_name, ''))
$$;
COMMENT ON FUNCTION mailqueue.run_values(integer, timestamptz, timestamp, timestamptz, text) IS
    'The variable run of templates: number, times, and date, time, week, month and year on the clock of the schedule.';

CREATE OR REPLACE FUNCTION mailqueue.fill_run_values(p_variables jsonb, p_run jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    v_text text := p_variables::text;
    r record;
    v_value text;
BEGIN
    FOR r IN SELECT e.key, e.value #>> '{}' AS value FROM jsonb_each(p_run) AS e LOOP
        v_value := to_json(r.value)::text;
        v_text := regexp_replace(v_text, '\{\{\s*\.?run\.' || r.key || '\s*\}\}',
                                 replace(substr(v_value, 2, length(v_value) - 2), '\', '\\'), 'g');
    END LOOP;
    RETURN v_text::jsonb;
END $$;
COMMENT ON FUNCTION mailqueue.fill_run_values(jsonb, jsonb) IS
    'Variables with the values of a run in place of {{ run.number }} and the like.';

-- p_recipient: email, name, language, variables, contact.
CREATE OR REPLACE FUNCTION mailqueue.schedule_message(p_message jsonb, p_recipient jsonb, p_run jsonb,
    p_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_name text := p_recipient ->> 'name';
    v_email text := p_recipient ->> 'email';
    m jsonb := p_message;
    v jsonb;
BEGIN
    IF m ? 'template' THEN
        v := coalesce(m -> 'variables', '{}') || coalesce(p_recipient -> 'variables', '{}');
        IF v::text ~ '\{\{\s*\.?run\.' THEN
            v := mailqueue.fill_run_values(v, p_run);
        END IF;
        m := m || jsonb_build_object('variables', jsonb_build_object('run', p_run)
                 || CASE WHEN p_recipient ? 'contact' THEN jsonb_build_object('contact', p_recipient -> 'contact')
                         ELSE '{}' END || v);
        IF p_recipient ? 'language' THEN
            m := m || jsonb_build_object('language', p_recipient -> 'language');
        END IF;
    END IF;
    IF p_at IS NOT NULL THEN
        m := m || jsonb_build_object('run_at', p_at);
    END IF;
    RETURN m || jsonb_build_object('recipient',
        CASE WHEN coalesce(v_name, '') = '' THEN v_email
             ELSE format('"%s" <%s>', replace(replace(v_name, '\', '\\'), '"', '\"'), v_email) END);
END $$;
COMMENT ON FUNCTION mailqueue.schedule_message(jsonb, jsonb, jsonb, timestamptz) IS
    'The message of a schedule for one recipient, as enqueue_batch() takes it.';

-- Spread over a window by the address, so that a part that is repeated comes to the same times.
CREATE OR REPLACE FUNCTION mailqueue.spread_at(p_at timestamptz, p_seconds integer, p_key text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_seconds = 0 THEN p_at
                ELSE p_at + make_interval(secs => ((hashtextextended(p_key, 20) & 1048575)::float8 / 1048576)
                                                  * p_seconds) END
$$;
COMMENT ON FUNCTION mailqueue.spread_at(timestamptz, integer, text) IS
    'When the mail for an address goes out in a run that is spread over some seconds.';

CREATE OR REPLACE FUNCTION mailqueue.is_small_schedule(p_type text, p_recipients jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT p_type <> 'local' AND jsonb_array_length(p_recipients) <= 100
       AND NOT jsonb_path_exists(p_recipients, 'strict $[*] ? (exists (@.list))', '{}', true)
$$;
COMMENT ON FUNCTION mailqueue.is_small_schedule(text, jsonb) IS
    'Whether the mail of a run is made in the transaction of the run; otherwise queue schedule-runs makes it in parts.';

-- In the transaction that settles the claims of the schedules. Outcomes: run; repeated, where the occurrence has its
-- run already; behind, where the run before is still being made and the schedule queues, or where the project accepts
-- no mail now (reason); skipped, where it skips.
CREATE OR REPLACE FUNCTION mailqueue.fire_schedules(p_ids uuid[], p_occurrences timestamptz[], p_locals timestamp[])
RETURNS TABLE (id uuid, outcome text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    g record;
    v_ids uuid[]; v_outcomes text[]; v_runs uuid[];
    v_owners uuid[];                                         -- the run of each message
    v_messages jsonb;
    v_reason text; v_reasons text[];
    v_state text; v_field text;
BEGIN
    FOR g IN
        SELECT s.project_id, p.name AS project, array_agg(i.n ORDER BY i.n) AS places
          FROM unnest(p_ids) WITH ORDINALITY AS i(id, n)
          JOIN mailqueue.schedules AS s ON s.id = i.id
          JOIN mailqueue.projects AS p ON p.id = s.project_id
         GROUP BY s.project_id, p.name ORDER BY s.project_id
    LOOP
        SELECT array_agg(d.id ORDER BY d.n), array_agg(d.outcome ORDER BY d.n),
               array_agg(CASE WHEN d.outcome = 'run' THEN mailqueue.uuidv7() END ORDER BY d.n)
          INTO v_ids, v_outcomes, v_runs
          FROM (SELECT s.id, x.n,
                       CASE WHEN EXISTS (SELECT FROM mailqueue.schedule_runs AS r
                                          WHERE r.schedule_id = s.id AND r.occurrence = p_occurrences[x.n])
                                 THEN 'repeated'
                            WHEN EXISTS (SELECT FROM mailqueue.schedule_runs AS r
                                          WHERE r.schedule_id = s.id AND r.status IN ('pending', 'assigned'))
                                 THEN CASE s.overlap WHEN 'skip' THEN 'skipped' ELSE 'behind' END
                            ELSE 'run' END AS outcome
                  FROM unnest(g.places) AS x(n) JOIN mailqueue.schedules AS s ON s.id = p_ids[x.n]) AS d;
        SELECT array_agg(m.run_id ORDER BY m.n, m.place), jsonb_agg(m.message ORDER BY m.n, m.place)
          INTO v_owners, v_messages
          FROM (SELECT v_runs[x.n] AS run_id, x.n, e.place,
                       mailqueue.schedule_message(
                           s.message, e.value,
                           mailqueue.run_values(s.run_count + 1, p_occurrences[g.places[x.n]],
                                                p_locals[g.places[x.n]], s.last_run_at, s.name),
                           CASE WHEN s.spread_seconds > 0
                                THEN mailqueue.spread_at(p_occurrences[g.places[x.n]], s.spread_seconds,
                                                         mailqueue.address_key(e.value ->> 'email')) END) AS message
                  FROM generate_subscripts(v_ids, 1) AS x(n)
                  JOIN mailqueue.schedules AS s ON s.id = v_ids[x.n]
                 CROSS JOIN LATERAL jsonb_array_elements(s.recipients) WITH ORDINALITY AS e(value, place)
                 WHERE v_outcomes[x.n] = 'run' AND mailqueue.is_small_schedule(s.schedule_type, s.recipients)) AS m;
        v_reason := NULL;
        BEGIN
            WITH accepted AS MATERIALIZED (
                SELECT v_owners[a.index + 1] AS run_id, a.index, a.id, a.status, a.reason
                  FROM mailqueue.accept_batch(g.project, v_messages) AS a
                 WHERE v_messages IS NOT NULL
            ), made AS MATERIALIZED (
                SELECT a.run_id, array_agg(a.id ORDER BY a.index) AS email_ids,
                       count(*) FILTER (WHERE a.status = 'queued') AS queued,
                       count(*) FILTER (WHERE a.status = 'suppressed') AS suppressed,
                       count(*) FILTER (WHERE a.status = 'rejected') AS rejected, min(a.reason) FILTER
                           (WHERE a.status = 'rejected') AS reason
                  FROM accepted AS a GROUP BY a.run_id
            ), begun AS MATERIALIZED (
                SELECT v_runs[x.n] AS run_id, p_occurrences[g.places[x.n]] AS occurrence,
                       p_locals[g.places[x.n]] AS local_time, s.*, m.run_id IS NOT NULL AS is_made, m.email_ids,
                       m.queued, m.suppressed, m.rejected, m.reason
                  FROM generate_subscripts(v_ids, 1) AS x(n)
                  JOIN mailqueue.schedules AS s ON s.id = v_ids[x.n]
                  LEFT JOIN made AS m ON m.run_id = v_runs[x.n]
                 WHERE v_outcomes[x.n] = 'run'
            ), batched AS (
                INSERT INTO mailqueue.batches (id, project_id, created_by, subject, email_ids, rejected, is_test)
                SELECT b.run_id, b.project_id, left('schedule ' || coalesce(b.name, b.id::text), 200),
                       b.message ->> 'subject', b.email_ids, b.rejected, b.is_test
                  FROM begun AS b WHERE b.is_made
            )
            INSERT INTO mailqueue.schedule_runs (id, project_id, schedule_id, number, occurrence, local_time, message,
                recipients, queued, suppressed, rejected, batch_ids, is_test, status, finished_at, last_error)
            SELECT b.run_id, b.project_id, b.id, b.run_count + 1, b.occurrence, b.local_time,
                   CASE WHEN NOT b.is_made THEN b.message END, CASE WHEN NOT b.is_made THEN b.recipients END,
                   coalesce(b.queued, 0), coalesce(b.suppressed, 0), coalesce(b.rejected, 0),
                   CASE WHEN b.is_made THEN ARRAY[b.run_id] ELSE '{}' END, b.is_test,
                   CASE WHEN b.is_made THEN 'done' ELSE 'pending' END, CASE WHEN b.is_made THEN clock_timestamp() END,
                   b.reason
              FROM begun AS b;
        EXCEPTION WHEN SQLSTATE 'MQ002' OR disk_full OR invalid_parameter_value THEN
            -- A project that is full or deleted: its schedules wait, and those of others run.
            GET STACKED DIAGNOSTICS v_field = COLUMN_NAME, v_state = RETURNED_SQLSTATE;
            IF v_state = '22023' AND v_field <> 'project' THEN
                RAISE;
            END IF;
            v_reason := SQLERRM;
        END;
        v_reasons := CASE WHEN v_reason IS NULL THEN '{}' ELSE array_fill(v_reason, ARRAY[cardinality(v_ids)]) END;
        IF v_state = 'MQ002' AND cardinality(array_positions(v_outcomes, 'run')) > 1 THEN
            -- There may be room for some of them: one after another, until one is refused.
            FOR i IN 1 .. cardinality(v_ids) LOOP
                CONTINUE WHEN v_outcomes[i] <> 'run';
                SELECT f.reason INTO v_reason
                  FROM mailqueue.fire_schedules(v_ids[i : i], ARRAY[p_occurrences[g.places[i]]],
                                                ARRAY[p_locals[g.places[i]]]) AS f;
                EXIT WHEN v_reason IS NOT NULL;
                v_reasons[i] := NULL;
            END LOOP;
        END IF;
        v_state := NULL;
        RETURN QUERY SELECT o.id, CASE WHEN o.reason IS NULL OR o.outcome <> 'run' THEN o.outcome ELSE 'behind' END,
                            CASE WHEN o.outcome = 'run' THEN o.reason END
                       FROM unnest(v_ids, v_outcomes, v_reasons) AS o(id, outcome, reason);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.fire_schedules(uuid[], timestamptz[], timestamp[]) IS
    'Begin the runs of schedules for an occurrence each; those with few recipients are made at once, with their batch. '
    'Returns what became of each: run, repeated, behind or skipped.';
