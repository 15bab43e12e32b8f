-- Suppressions by the line: what an import reads.

CREATE OR REPLACE FUNCTION mailqueue.import_suppressions(p_project uuid, p_import uuid, p_lines jsonb, p_by text)
RETURNS TABLE (line integer, outcome text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    INSERT INTO mailqueue.suppression_lines (import_id, line, address, category, reason, detail, expires_at)
    SELECT p_import, l.line, f.address, f.category, f.reason, f.detail, coalesce(f.expires_at, 'infinity')
      FROM jsonb_to_recordset(p_lines) AS l(line integer, fields jsonb),
           jsonb_to_record(l.fields) AS f(address text, category text, reason text, detail text,
                                          expires_at timestamptz);
    RETURN QUERY SELECT t.line, t.outcome, NULL::text
                   FROM mailqueue.take_suppression_lines(p_project, p_import, p_by) AS t;
END $$;
COMMENT ON FUNCTION mailqueue.import_suppressions(uuid, uuid, jsonb, text) IS
    'Suppress addresses. p_lines: an array of {"line", "fields"}; fields are address, in lower case, category, reason, '
    'and where they are given detail and expires_at. Returns for each line added, renewed or there_already.';
