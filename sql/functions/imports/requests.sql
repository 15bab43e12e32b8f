-- Beginning imports.

CREATE OR REPLACE FUNCTION mailqueue.begin_import(p_project uuid, p_kind text, p_options jsonb, p_file_name text,
    p_encoding text, p_lines bigint, p_is_test boolean, p_max_unfinished integer, p_by text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_is_test boolean := coalesce(mailqueue.mode(), p_is_test, false);
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_key('imports ' || p_project);     -- one at a time: what is there is counted
    -- Those of test keys are counted apart.
    IF (SELECT count(*) FROM mailqueue.imports AS i
         WHERE i.project_id = p_project AND i.status IN ('pending', 'assigned') AND i.cancelled_at IS NULL
            AND i.is_test = v_is_test)
       >= p_max_unfinished THEN
        RAISE object_in_use USING MESSAGE = format('the project has %s imports that are not finished',
                                                   p_max_unfinished);
    END IF;
    INSERT INTO mailqueue.imports AS i (project_id, kind, options, file_name, encoding, lines, is_test, requested_by)
    VALUES (p_project, p_kind, p_options, left(p_file_name, 200), p_encoding, p_lines, v_is_test, left(p_by, 200))
    RETURNING i.id INTO v_id;
    PERFORM mailqueue.record_operation(p_project, 'import.begun', 'import ' || v_id,
                jsonb_build_object('kind', p_kind, 'options', p_options), p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.begin_import(uuid, text, jsonb, text, text, bigint, boolean, integer, text) IS
    'Let workers import a file into a project, whose parts add_import_part() adds in the same transaction; returns the '
    'id of the import. Fails where the project has as many unfinished imports as it may have.';

CREATE OR REPLACE FUNCTION mailqueue.add_import_part(p_project uuid, p_id uuid, p_bytes bigint, p_data bytea)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_number integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.imports AS i SET parts = i.parts + 1, bytes = i.bytes + p_bytes
     WHERE i.id = p_id AND i.project_id = p_project AND i.created_at = now()     -- of this transaction
    RETURNING i.parts - 1 INTO v_number;
    IF v_number IS NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'the file of an import is added where it begins';
    END IF;
    INSERT INTO mailqueue.import_parts (import_id, number, project_id, data)
    VALUES (p_id, v_number, p_project, p_data);
END $$;
COMMENT ON FUNCTION mailqueue.add_import_part(uuid, uuid, bigint, bytea) IS
    'Add the next part of the file of an import, compressed by zlib, in the transaction that begins it. p_bytes: its '
    'size before.';

CREATE OR REPLACE FUNCTION mailqueue.import_state(i mailqueue.imports) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN (i).cancelled_at IS NOT NULL THEN 'cancelled'
                WHEN (i).status IN ('done', 'failed', 'erased') THEN (i).status
                WHEN (i).gone_at IS NOT NULL THEN 'erased'
                WHEN (i).lines_read > 0 OR (i).status = 'assigned' THEN 'running'
                ELSE 'waiting' END
$$;
COMMENT ON FUNCTION mailqueue.import_state(mailqueue.imports) IS
    'State of an import: waiting, running, done, failed, cancelled or erased.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_import(p_project uuid, p_kind text, p_id uuid, p_by text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    i mailqueue.imports;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    -- Waits for lines that are being taken, which are counted then.
    SELECT x.* INTO i FROM mailqueue.imports AS x
     WHERE x.id = p_id AND x.project_id = p_project AND (p_kind IS NULL OR x.kind = p_kind)
       AND x.is_test = coalesce(mailqueue.mode(), x.is_test)
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF mailqueue.import_state(i) NOT IN ('waiting', 'running') THEN
        RETURN mailqueue.import_state(i);
    END IF;
    UPDATE mailqueue.imports AS x SET cancelled_at = clock_timestamp() WHERE x.id = p_id;
    DELETE FROM mailqueue.import_parts AS p WHERE p.import_id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'import.cancelled', 'import ' || p_id,
                jsonb_build_object('kind', i.kind, 'taken', i.taken, 'refused', i.refused), p_by);
    RETURN 'waiting';
END $$;
COMMENT ON FUNCTION mailqueue.cancel_import(uuid, text, uuid, text) IS
    'Take no more lines of an import, and delete its file; what was taken stays. Returns waiting; the state of an '
    'import that has ended, which is not changed; NULL if there is none. p_kind NULL: of any kind.';
