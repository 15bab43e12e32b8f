-- Writing the files of exports: a page of rows is read and its part written in one transaction, by the claim's holder.

CREATE OR REPLACE FUNCTION mailqueue.read_export_page(p_id uuid, p_claim bigint, p_limit integer, p_max_bytes bigint,
    OUT state text, OUT kind text, OUT format text, OUT place jsonb, OUT lines text[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e mailqueue.exports;
BEGIN
    -- Locked until the part is written: an erasure waits for it, and then deletes it too.
    SELECT x.* INTO e FROM mailqueue.exports AS x
     WHERE x.id = p_id AND x.status = 'assigned' AND x.claim_no = p_claim FOR NO KEY UPDATE;
    lines := '{}';
    kind := '';
    format := '';
    IF NOT FOUND THEN
        state := 'lost';
    ELSIF e.gone_reason IS NOT NULL OR e.kind = 'person' AND e.filter ->> 'email' LIKE '%@erased.invalid' THEN
        state := 'deleted';
    ELSIF e.place = '{}' THEN
        state := 'done';
    ELSIF (SELECT sum(x.stored_bytes) FROM mailqueue.exports AS x
            WHERE x.project_id = e.project_id AND (x.kind = 'person') = (e.kind = 'person')) >= p_max_bytes THEN
        state := 'full';
    ELSIF e.kind = 'person' THEN
        state := 'person';                                   -- read in many transactions; place has the claim
        IF e.parts > 0 AND e.place ->> 'claim' IS DISTINCT FROM p_claim::text THEN  -- of a claim that ended before
            DELETE FROM mailqueue.export_parts AS o WHERE o.export_id = p_id;
            UPDATE mailqueue.exports AS x SET place = NULL, rows = 0, parts = 0, bytes = 0, stored_bytes = 0
             WHERE x.id = p_id;
            e.place := NULL;
        END IF;
        kind := e.kind;
        format := e.format;
        place := e.place;
        lines := ARRAY[e.filter ->> 'email', (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = e.project_id)];
    ELSE
        kind := e.kind;
        format := e.format;
        CASE e.kind
            WHEN 'emails' THEN SELECT p.* INTO place, lines FROM mailqueue.export_emails(e, p_limit) AS p;
            WHEN 'events' THEN SELECT p.* INTO place, lines FROM mailqueue.export_events(e, p_limit) AS p;
            WHEN 'recipients' THEN SELECT p.* INTO place, lines FROM mailqueue.export_recipients(e, p_limit) AS p;
            WHEN 'stats' THEN SELECT p.* INTO place, lines FROM mailqueue.export_stats(e, p_limit) AS p;
            WHEN 'suppressions' THEN SELECT p.* INTO place, lines FROM mailqueue.export_suppressions(e, p_limit) AS p;
        END CASE;
        state := CASE WHEN place IS NULL THEN 'last' ELSE 'more' END;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.read_export_page(uuid, bigint, integer, bigint) IS
    'The next page of an export, which stays locked: state more, or last where nothing comes after; done where all is '
    'written, person with address and project where a person''s data is to be collected, deleted where the export was '
    'deleted or the person erased, full where the project''s files are as large as they may be, lost where the claim '
    'no longer holds.';

-- Called in the transaction of read_export_page(), which holds the row. The place {} says that all is written: an
-- attempt that ends between the last part and the end of the export writes nothing twice.
CREATE OR REPLACE FUNCTION mailqueue.write_export_part(p_id uuid, p_place jsonb, p_rows integer, p_bytes bigint,
    p_data bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_rows > 0 THEN
        INSERT INTO mailqueue.export_parts (export_id, number, project_id, rows, data)
        SELECT x.id, x.parts, x.project_id, p_rows, p_data FROM mailqueue.exports AS x WHERE x.id = p_id;
    END IF;
    UPDATE mailqueue.exports AS x
       SET place = coalesce(p_place, '{}'), rows = x.rows + p_rows, parts = x.parts + (p_rows > 0)::integer,
           bytes = x.bytes + p_bytes, stored_bytes = x.stored_bytes + length(p_data)
     WHERE x.id = p_id;
END $$;
COMMENT ON FUNCTION mailqueue.write_export_part(uuid, jsonb, integer, bigint, bytea) IS
    'Store a part of an export and the place up to which it goes.';

CREATE OR REPLACE FUNCTION mailqueue.end_export(p_id uuid, p_state text, p_error text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.record_operation(x.project_id, 'export.ended', 'export ' || x.id,
               jsonb_strip_nulls(jsonb_build_object('kind', x.kind, 'rows', x.rows, 'state', p_state,
                                                    'requested_by', x.requested_by, 'error', p_error)))
      FROM mailqueue.exports AS x WHERE x.id = p_id AND x.status = 'assigned'
$$;
COMMENT ON FUNCTION mailqueue.end_export(uuid, text, text) IS
    'Write the end of an export to the audit log, in the transaction that settles its row.';

-- Which persons are in a file is not stored, and the file is compressed: every file of the project that was written
-- from rows of before may contain the person. At the begin of an erasure, what was written before is destroyed; at its
-- end, what was written meanwhile from rows that were not erased yet. An unfinished export starts again.
CREATE OR REPLACE FUNCTION mailqueue.erasures_exports() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    PERFORM mailqueue.lock_key('exports ' || NEW.project_id);  -- an export that begins meanwhile waits for the commit
    WITH gone AS (
        UPDATE mailqueue.exports AS x
           SET place = NULL, rows = CASE x.status WHEN 'done' THEN x.rows ELSE 0 END, parts = 0,
               bytes = CASE x.status WHEN 'done' THEN x.bytes ELSE 0 END, stored_bytes = 0,
               gone_at = CASE x.status WHEN 'done' THEN coalesce(x.gone_at, clock_timestamp()) ELSE x.gone_at END,
               gone_reason = CASE x.status WHEN 'done' THEN coalesce(x.gone_reason, 'erased') ELSE x.gone_reason END
         WHERE x.project_id = NEW.project_id AND (x.parts > 0 OR x.status IN ('pending', 'assigned'))
        RETURNING x.id
    )
    SELECT array_agg(g.id) INTO v_ids FROM gone AS g;
    -- After the rows are locked: a worker that held one has committed its part by now.
    DELETE FROM mailqueue.export_parts AS p WHERE p.export_id = ANY (v_ids);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.erasures_exports() IS
    'AFTER INSERT on erasures, and UPDATE to stage done: destroys files of exports, which may contain the person.';

CREATE OR REPLACE TRIGGER erasures_exports_begun AFTER INSERT ON mailqueue.erasures
    FOR EACH ROW EXECUTE FUNCTION mailqueue.erasures_exports();
CREATE OR REPLACE TRIGGER erasures_exports_done AFTER UPDATE ON mailqueue.erasures
    FOR EACH ROW WHEN (NEW.stage = 'done' AND OLD.stage <> 'done') EXECUTE FUNCTION mailqueue.erasures_exports();
