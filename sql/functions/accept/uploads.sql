-- Uploads, and files that are too large to be rows: those lie in a folder or bucket, at `location`.
--
-- Whoever calls these decides where a file lies, and workers read it from there: no right to them for producers.

-- Nothing where the project does not have the file yet: then write it, read it back, and ask again with its place.
-- p_head: how the file begins. p_octets: the whole, of a file that shall be a row.
CREATE OR REPLACE FUNCTION mailqueue.keep_upload(p_project uuid, p_name text, p_type text, p_sha256 bytea,
    p_bytes bigint, p_head bytea, p_octets bytea, p_location text)
RETURNS TABLE (id uuid, created_on date)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_allowed text[];
    v_most integer;
    v_location text := p_location;
    v_is_test boolean := coalesce(mailqueue.mode(), false);
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_name IS NOT NULL THEN
        PERFORM mailqueue.check_file_name(p_name);
    END IF;
    SELECT a.types, a.most INTO v_allowed, v_most FROM mailqueue.attachments_of_project(p_project) AS a;
    IF p_bytes > v_most THEN
        PERFORM mailqueue.refuse('attachments',
                                 format('the files of one mail may have at most %s bytes in this project', v_most));
    ELSIF p_octets IS NOT NULL AND (sha256(p_octets) <> p_sha256 OR length(p_octets) <> p_bytes) THEN
        PERFORM mailqueue.refuse('attachments', 'the bytes do not match the declared size and SHA-256');
    END IF;
    PERFORM mailqueue.check_attachment_type(p_type, coalesce(p_octets, p_head), v_allowed);
    RETURN QUERY
        SELECT u.id, u.created_on
          FROM (SELECT a.id FROM mailqueue.attachments AS a
                 WHERE a.project_id = p_project AND a.sha256 = p_sha256 AND a.content_type = p_type
                   AND a.file_name IS NOT DISTINCT FROM p_name
                   AND a.is_test = v_is_test
                 ORDER BY a.created_on DESC LIMIT 1) AS found,
               mailqueue.use_upload(p_project, found.id::text, v_is_test) AS u;
    IF FOUND THEN
        RETURN;
    END IF;
    -- Under another name: the same place, held until this row is there, so that nobody deletes the file in between.
    IF p_octets IS NULL THEN
        SELECT coalesce((SELECT a.location FROM mailqueue.attachments AS a
                          WHERE a.project_id = p_project AND a.sha256 = p_sha256 AND a.location IS NOT NULL
                          ORDER BY a.created_on DESC LIMIT 1 FOR KEY SHARE), v_location) INTO v_location;
    END IF;
    IF p_octets IS NULL AND v_location IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
        INSERT INTO mailqueue.attachments AS a (project_id, sha256, bytes, content_type, file_name, octets, location,
                                                is_test)
        VALUES (p_project, p_sha256, p_bytes::integer, p_type, p_name, p_octets,
                CASE WHEN p_octets IS NULL THEN v_location END, v_is_test)
        RETURNING a.id, a.created_on;
END $$;
COMMENT ON FUNCTION mailqueue.keep_upload(uuid, text, text, bytea, bigint, bytea, bytea, text) IS
    'Keep a file for mails to come, or find it; returns nothing where it has to be written to its place first.';

-- Octets, or where they lie; those of another project are left out.
CREATE OR REPLACE FUNCTION mailqueue.files_of(p_project uuid, p_ids uuid[], p_days date[])
RETURNS TABLE (id uuid, octets bytea, location text, sha256 bytea, bytes integer)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT a.id, a.octets, a.location, a.sha256, a.bytes
      FROM mailqueue.attachments AS a
     WHERE a.id = ANY (p_ids) AND a.created_on = ANY (p_days) AND a.project_id = p_project
       AND coalesce(mailqueue.tenant(), p_project) = p_project
$$;
COMMENT ON FUNCTION mailqueue.files_of(uuid, uuid[], date[]) IS
    'Files of a project, for those who may not read the table.';

-- What no content uses and nobody keeps any longer; the files themselves go afterwards. Mail of this month uses rows of
-- this month only: none of those is looked at here.
CREATE OR REPLACE FUNCTION mailqueue.sweep_stored_files() RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM mailqueue.attachments AS a
     USING mailqueue.retention AS r
     WHERE r.project_id = a.project_id AND r.kind = 'attachments' AND a.location IS NOT NULL
       AND a.created_on < least((now() AT TIME ZONE 'UTC')::date - r.keep_days,
                                date_trunc('month', (now() AT TIME ZONE 'UTC') - interval '1 day')::date)
       AND NOT EXISTS (SELECT FROM mailqueue.email_contents AS c
                        WHERE c.files @> jsonb_build_array(jsonb_build_object('id', a.id, 'on', a.created_on)));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_stored_files() IS
    'Forget files in folders and buckets that are older than their project keeps files, and that no content uses; '
    'gives how many.';
