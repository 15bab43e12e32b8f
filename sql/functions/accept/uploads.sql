-- Uploads, and files that are too large to be rows: those are stored in a folder or bucket, at `location`.
--
-- The caller decides where a file is stored, and workers read it from there: producers have no right to call these
-- functions.

-- Returns nothing if the project does not have the file yet: the caller then writes it, reads it back and calls again
-- with its location. p_head: the first bytes. p_octets: all bytes, of a file that is stored as a row.
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
                                 format('the files of one mail may have at most %s bytes in this project', v_most),
                                 'too_large');
    ELSIF p_octets IS NOT NULL AND (sha256(p_octets) <> p_sha256 OR length(p_octets) <> p_bytes) THEN
        PERFORM mailqueue.refuse('attachments', 'the bytes do not match the declared size and SHA-256');
    END IF;
    PERFORM mailqueue.check_attachment_type(p_type, coalesce(p_octets, p_head), v_allowed);
    PERFORM mailqueue.check_name_fits_type(p_name, p_type);
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
    -- A copy under another name shares the location; the lock keeps the file from being deleted until this row exists.
    IF p_octets IS NULL THEN
        SELECT coalesce((SELECT a.location FROM mailqueue.attachments AS a
                          WHERE a.project_id = p_project AND a.sha256 = p_sha256 AND a.location IS NOT NULL
                          ORDER BY a.created_on DESC LIMIT 1 FOR KEY SHARE), v_location) INTO v_location;
    END IF;
    IF p_octets IS NULL AND v_location IS NULL THEN
        RETURN;
    END IF;
    PERFORM mailqueue.check_upload_room(p_project, 1, p_bytes);
    RETURN QUERY
        INSERT INTO mailqueue.attachments AS a (project_id, sha256, bytes, content_type, file_name, octets, location,
                                                is_test)
        VALUES (p_project, p_sha256, p_bytes::integer, p_type, p_name, p_octets,
                CASE WHEN p_octets IS NULL THEN v_location END, v_is_test)
        RETURNING a.id, a.created_on;
END $$;
COMMENT ON FUNCTION mailqueue.keep_upload(uuid, text, text, bytea, bigint, bytea, bytea, text) IS
    'Store a file for later mails, or find it; returns nothing if it has to be written to its location first.';

-- Bytes or locations; files of other projects are left out.
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
    'Files of a project, for roles that cannot read the table.';

-- Files that no content uses and whose retention is over; the files themselves are deleted afterwards. Mail of the
-- current month uses rows of the current month only, so those are not examined.
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
    'Delete rows of files in folders and buckets that are older than the retention of their project and that no '
    'content uses; returns their number.';
