-- Beginning, deleting and reading exports.

-- What the planner expects; no row is read.
CREATE OR REPLACE FUNCTION mailqueue.estimate_export(e mailqueue.exports) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_tables constant jsonb := '{"emails": ["email_queue", "email_history"], "events": ["email_events"],
        "recipients": ["email_queue", "email_history"], "stats": ["stats_quarters"],
        "suppressions": ["suppressions"]}';
    v_columns constant jsonb := '{"events": "occurred_at", "stats": "started_at"}';
    t text;
    v_plan jsonb;
    v_rows bigint := 0;
BEGIN
    FOR t IN SELECT jsonb_array_elements_text(v_tables -> e.kind) LOOP
        EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM mailqueue.%I AS t WHERE t.project_id = %L AND t.%I >= %L AND '
                       't.%I < %L', t, e.project_id, coalesce(v_columns ->> e.kind, 'created_at'), e.since,
                       coalesce(v_columns ->> e.kind, 'created_at'), e.until)
           INTO v_plan;
        v_rows := v_rows + (v_plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric::bigint;
    END LOOP;
    RETURN v_rows;
END $$;
COMMENT ON FUNCTION mailqueue.estimate_export(mailqueue.exports) IS
    'Number of rows that an export will have, by the statistics of PostgreSQL. Of its conditions only the time counts.';

CREATE OR REPLACE FUNCTION mailqueue.begin_export(p_project uuid, p_kind text, p_format text, p_filter jsonb,
    p_since timestamptz, p_until timestamptz, p_is_test boolean, p_max_unfinished integer, p_max_bytes bigint,
    p_by text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e mailqueue.exports;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_key('exports ' || p_project);     -- one at a time: what is there is counted
    e.project_id := p_project;
    e.kind := p_kind;
    e.since := coalesce(p_since, '-infinity');
    e.until := coalesce(p_until, now());
    e.is_test := coalesce(mailqueue.mode(), p_is_test, false);
    -- Those of test keys are counted apart.
    IF (SELECT count(*) FROM mailqueue.exports AS x
         WHERE x.project_id = p_project AND x.status IN ('pending', 'assigned') AND x.is_test = e.is_test
           AND x.kind <> 'person' AND x.gone_at IS NULL) >= p_max_unfinished THEN
        RAISE object_in_use USING MESSAGE = format('the project has %s exports that are not finished',
                                                   p_max_unfinished);
    ELSIF (SELECT sum(x.stored_bytes) FROM mailqueue.exports AS x
            WHERE x.project_id = p_project AND x.kind <> 'person') >= p_max_bytes THEN
        RAISE object_in_use USING MESSAGE = 'the files of the project''s exports are as large as they may be together: '
                                            'delete one';
    END IF;
    INSERT INTO mailqueue.exports AS x (project_id, kind, format, filter, since, until, is_test, requested_by,
                                        rows_estimated)
    VALUES (p_project, p_kind, p_format, p_filter, e.since, e.until, e.is_test, left(p_by, 200),
            mailqueue.estimate_export(e))
    RETURNING x.id INTO e.id;
    PERFORM mailqueue.record_operation(p_project, 'export.begun', 'export ' || e.id,
                jsonb_build_object('kind', p_kind, 'format', p_format, 'filter', p_filter), p_by);
    RETURN e.id;
END $$;
COMMENT ON FUNCTION mailqueue.begin_export(uuid, text, text, jsonb, timestamptz, timestamptz, boolean, integer, bigint,
                                           text) IS
    'Let workers export data of a project to a file; returns the id of the export. Fails where the project has as many '
    'unfinished exports, or bytes of files, as it may have.';

CREATE OR REPLACE FUNCTION mailqueue.delete_export(p_project uuid, p_id uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.exports AS x
       SET gone_at = clock_timestamp(), gone_reason = 'deleted', stored_bytes = 0,
           run_at = CASE x.status WHEN 'pending' THEN least(x.run_at, now()) ELSE x.run_at END
     WHERE x.id = p_id AND x.project_id = p_project AND x.gone_at IS NULL
       AND (mailqueue.mode() IS NULL OR x.is_test = mailqueue.mode());
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM mailqueue.export_parts AS p WHERE p.export_id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'export.deleted', 'export ' || p_id, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.delete_export(uuid, uuid, text) IS
    'Delete the file of an export, and end it where it is not finished; false: it is gone already.';

CREATE OR REPLACE FUNCTION mailqueue.is_export_there(e mailqueue.exports) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT (e).status = 'done' AND (e).gone_at IS NULL AND (e).finished_at > now() - interval '7 days'
$$;
COMMENT ON FUNCTION mailqueue.is_export_there(mailqueue.exports) IS 'Whether the file of an export can be fetched.';

CREATE OR REPLACE FUNCTION mailqueue.read_export_part(p_project uuid, p_id uuid, p_number integer) RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN (SELECT p.data FROM mailqueue.exports AS x
              JOIN mailqueue.export_parts AS p ON p.export_id = x.id AND p.number = p_number
             WHERE x.id = p_id AND x.project_id = p_project AND mailqueue.is_export_there(x)
               AND (mailqueue.mode() IS NULL OR x.is_test = mailqueue.mode()));
END $$;
COMMENT ON FUNCTION mailqueue.read_export_part(uuid, uuid, integer) IS
    'A part of the file of an export, compressed; NULL where it is gone.';

CREATE OR REPLACE FUNCTION mailqueue.note_export_fetched(p_project uuid, p_id uuid, p_by text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);
    SELECT mailqueue.record_operation(p_project, 'export.fetched', 'export ' || p_id, '{}', p_by)
$$;
COMMENT ON FUNCTION mailqueue.note_export_fetched(uuid, uuid, text) IS
    'Record in the audit log that the file of an export was fetched.';
