-- Reading the files of imports: lines are taken and counted in one transaction, by the claim's holder.

CREATE OR REPLACE FUNCTION mailqueue.open_import(p_id uuid, p_claim bigint, OUT state text, OUT kind text,
    OUT options jsonb, OUT encoding text, OUT lines_read bigint, OUT parts integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    SELECT CASE WHEN i.gone_at IS NOT NULL THEN 'erased' WHEN i.cancelled_at IS NOT NULL THEN 'cancelled'
                ELSE 'more' END, i.kind, i.options, i.encoding, i.lines_read,
           i.parts
      INTO state, kind, options, encoding, lines_read, parts
      FROM mailqueue.imports AS i WHERE i.id = p_id AND i.status = 'assigned' AND i.claim_no = p_claim;
    IF NOT FOUND THEN
        SELECT 'lost', '', '{}', '', 0, 0 INTO state, kind, options, encoding, lines_read, parts;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.open_import(uuid, bigint) IS
    'What its worker needs to know of an import: state more, erased where its file was destroyed, cancelled, or lost '
    'where the claim no longer holds; what it is, and the lines that were read already.';

CREATE OR REPLACE FUNCTION mailqueue.read_import_part(p_id uuid, p_claim bigint, p_number integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.data FROM mailqueue.imports AS i
      JOIN mailqueue.import_parts AS p ON p.import_id = i.id AND p.number = p_number
     WHERE i.id = p_id AND i.status = 'assigned' AND i.claim_no = p_claim
$$;
COMMENT ON FUNCTION mailqueue.read_import_part(uuid, bigint, integer) IS
    'A part of the file of an import, compressed; NULL where it is gone or the claim no longer holds.';

CREATE OR REPLACE FUNCTION mailqueue.import_lines(i mailqueue.imports, p_lines jsonb)
RETURNS TABLE (line integer, outcome text, reason text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF i.kind = 'contacts' THEN
        RETURN QUERY SELECT c.* FROM mailqueue.import_contacts(i.project_id, p_lines, i.options ->> 'list') AS c;
    ELSE
        RETURN QUERY SELECT s.*
                       FROM mailqueue.import_suppressions(i.project_id, i.id, p_lines, i.requested_by) AS s;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.import_lines(mailqueue.imports, jsonb) IS
    'Take lines of an import, each as import_contacts() or import_suppressions() takes them; the outcome of each.';

-- p_to guards against a repetition: lines up to there are taken once, whatever became of the response.
CREATE OR REPLACE FUNCTION mailqueue.take_import_lines(p_id uuid, p_claim bigint, p_to bigint, p_lines jsonb,
    p_refused jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_kept constant integer := 1000;
    i mailqueue.imports;
    v_taken jsonb;
    v_refused jsonb;
BEGIN
    -- Locked until the lines are committed: an erasure waits for them, and then erases them too.
    SELECT x.* INTO i FROM mailqueue.imports AS x
     WHERE x.id = p_id AND x.status = 'assigned' AND x.claim_no = p_claim FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost';
    ELSIF i.gone_at IS NOT NULL THEN
        RETURN 'erased';
    ELSIF i.cancelled_at IS NOT NULL THEN
        RETURN 'cancelled';
    ELSIF i.lines_read >= p_to THEN
        RETURN 'more';
    END IF;
    PERFORM set_config('mailqueue.mode', CASE WHEN i.is_test THEN 'test' ELSE 'live' END, true);
    WITH result AS MATERIALIZED (
        SELECT c.line, c.outcome, c.reason
          FROM mailqueue.import_lines(i, p_lines) AS c
    ), counted AS (
        SELECT b.key AS outcome, b.value::bigint AS count FROM jsonb_each_text(i.taken) AS b
        UNION ALL
        SELECT r.outcome, count(*) FROM result AS r WHERE r.outcome <> 'bad' GROUP BY r.outcome
    ), bad AS (
        SELECT r.line, split_part(r.reason, ': ', 1) AS "column",
               left(substr(r.reason, strpos(r.reason, ': ') + 2), 500) AS reason
          FROM result AS r WHERE r.outcome = 'bad'
        UNION ALL
        SELECT b.line, b."column", left(b.reason, 500)
          FROM jsonb_to_recordset(p_refused) AS b(line bigint, "column" text, reason text)
    )
    SELECT (SELECT coalesce(jsonb_object_agg(s.outcome, s.count), '{}')
              FROM (SELECT n.outcome, sum(n.count) AS count FROM counted AS n GROUP BY n.outcome) AS s),
           (SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.line), '[]') FROM bad AS b)
      INTO v_taken, v_refused;
    UPDATE mailqueue.imports AS x
       SET lines_read = p_to, taken = v_taken, refused = x.refused + jsonb_array_length(v_refused),
           refusals = CASE WHEN v_refused = '[]' OR jsonb_array_length(x.refusals) >= v_kept THEN x.refusals
                           ELSE jsonb_path_query_array(x.refusals || v_refused, '$[0 to 999]') END
     WHERE x.id = p_id;
    RETURN 'more';
END $$;
COMMENT ON FUNCTION mailqueue.take_import_lines(uuid, bigint, bigint, jsonb, jsonb) IS
    'Take the next lines of an import and count them: p_lines as import_lines() takes them, p_refused an array of '
    '{"line", "column", "reason"}, p_to the number of lines that are read then. Returns more; or erased where the file '
    'was destroyed, cancelled, lost where the claim no longer holds: nothing was taken.';

CREATE OR REPLACE FUNCTION mailqueue.end_import(p_id uuid, p_state text, p_error text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    DELETE FROM mailqueue.import_parts AS p USING mailqueue.imports AS i
     WHERE i.id = p_id AND i.status = 'assigned' AND p.import_id = i.id;
    SELECT mailqueue.record_operation(i.project_id, 'import.ended', 'import ' || i.id,
               jsonb_strip_nulls(jsonb_build_object('kind', i.kind, 'taken', i.taken, 'refused', i.refused,
                                                    'state', p_state, 'requested_by', i.requested_by,
                                                    'error', p_error)))
      FROM mailqueue.imports AS i WHERE i.id = p_id AND i.status = 'assigned'
$$;
COMMENT ON FUNCTION mailqueue.end_import(uuid, text, text) IS
    'Delete the file of an import and write its end to the audit log, in the transaction that settles its row.';

-- Which persons are in a file is not stored, and the file is compressed: every file that is not finished may contain
-- the person. Lines that were taken are rows like any others, which the erasure finds.
CREATE OR REPLACE FUNCTION mailqueue.erasures_imports() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    PERFORM mailqueue.lock_key('imports ' || NEW.project_id);  -- an import that begins meanwhile waits for the commit
    WITH gone AS (
        UPDATE mailqueue.imports AS i SET gone_at = clock_timestamp()
         WHERE i.project_id = NEW.project_id AND i.gone_at IS NULL AND i.status IN ('pending', 'assigned', 'failed')
           AND EXISTS (SELECT FROM mailqueue.import_parts AS p WHERE p.import_id = i.id)
        RETURNING i.id
    )
    SELECT array_agg(g.id) INTO v_ids FROM gone AS g;
    DELETE FROM mailqueue.import_parts AS p WHERE p.import_id = ANY (v_ids);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.erasures_imports() IS
    'AFTER INSERT on erasures, and UPDATE to stage done: destroys files of imports, which may contain the person.';

CREATE OR REPLACE TRIGGER erasures_imports_begun AFTER INSERT ON mailqueue.erasures
    FOR EACH ROW EXECUTE FUNCTION mailqueue.erasures_imports();
CREATE OR REPLACE TRIGGER erasures_imports_done AFTER UPDATE ON mailqueue.erasures
    FOR EACH ROW WHEN (NEW.stage = 'done' AND OLD.stage <> 'done') EXECUTE FUNCTION mailqueue.erasures_imports();
