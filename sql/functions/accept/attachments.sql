-- Attachments: checked, stored once, referenced by the content.

-- The content type, detected from the first bytes; NULL: none that is known.
CREATE OR REPLACE FUNCTION mailqueue.detected_content_type(p_octets bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN substr(p_octets, 1, 8) = '\x89504e470d0a1a0a' THEN 'image/png'
        WHEN substr(p_octets, 1, 3) = '\xffd8ff' THEN 'image/jpeg'
        WHEN substr(p_octets, 1, 6) IN ('\x474946383761', '\x474946383961') THEN 'image/gif'
        WHEN substr(p_octets, 1, 4) = '\x52494646' AND substr(p_octets, 9, 4) = '\x57454250' THEN 'image/webp'
        WHEN position('\x255044462d'::bytea IN substr(p_octets, 1, 1024)) > 0 THEN 'application/pdf'
        WHEN substr(p_octets, 1, 4) = '\x504b0304' THEN 'application/zip'
        WHEN substr(p_octets, 1, 2) = '\x4d5a' THEN 'application/vnd.microsoft.portable-executable'
        WHEN substr(p_octets, 1, 4) = '\x7f454c46' THEN 'application/x-elf'
    END
$$;
COMMENT ON FUNCTION mailqueue.detected_content_type(bytea) IS
    'Content type detected from the first bytes; NULL if no known signature matches.';

-- Content of a type with a signature must begin with it. Content of other types must not begin with a known signature,
-- except office documents, which are zip files.
CREATE OR REPLACE FUNCTION mailqueue.check_attachment_type(p_type text, p_octets bytea, p_allowed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_shown text := mailqueue.detected_content_type(p_octets);
    v_known text[] := '{application/pdf,application/zip,image/gif,image/jpeg,image/png,image/webp}';
BEGIN
    IF p_type !~ '^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$' THEN
        PERFORM mailqueue.refuse('attachments', format('%s is not a content type', to_json(left(p_type, 100))),
                                 'file_not_allowed');
    ELSIF p_type <> ALL (p_allowed) THEN
        PERFORM mailqueue.refuse('attachments', format('%s is not allowed in this project, which allows %s', p_type,
            coalesce(nullif(array_to_string(p_allowed, ', '), ''), 'no attachments')), 'file_not_allowed');
    ELSIF v_shown IS NOT DISTINCT FROM p_type
          OR (v_shown = 'application/zip'
              AND p_type ~ '^application/(vnd\.(openxmlformats-officedocument|oasis\.opendocument)\.|epub\+zip$)')
          OR (v_shown IS NULL AND p_type <> ALL (v_known)) THEN
        RETURN;
    END IF;
    PERFORM mailqueue.refuse('attachments',
                             format('declared as %s, but the content is %s', p_type,
                                    coalesce(v_shown, 'something else')), 'file_not_allowed');
END $$;
COMMENT ON FUNCTION mailqueue.check_attachment_type(text, bytea, text[]) IS
    'Raise an error if the project does not allow the content type or the first bytes contradict it.';

-- Duplicates inserted concurrently may both be stored: no transaction waits for another.
CREATE OR REPLACE FUNCTION mailqueue.keep_attachment(p_project uuid, p_octets bytea, p_type text, p_name text,
    p_is_test boolean, OUT id uuid, OUT created_on date)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_hash bytea := sha256(p_octets);
BEGIN
    SELECT a.id, a.created_on INTO keep_attachment.id, keep_attachment.created_on
      FROM mailqueue.attachments AS a
     WHERE a.project_id = p_project AND a.sha256 = v_hash AND a.content_type = p_type
       AND a.file_name IS NOT DISTINCT FROM p_name AND a.is_test = p_is_test
       AND a.created_on >= date_trunc('month', now() AT TIME ZONE 'UTC')::date
     LIMIT 1;
    IF keep_attachment.id IS NULL THEN
        PERFORM mailqueue.check_upload_room(p_project, 1, length(p_octets));
        INSERT INTO mailqueue.attachments AS a (project_id, sha256, bytes, content_type, file_name, octets, is_test)
        VALUES (p_project, v_hash, length(p_octets), p_type, p_name, p_octets, p_is_test)
        RETURNING a.id, a.created_on INTO keep_attachment.id, keep_attachment.created_on;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.keep_attachment(uuid, bytea, text, text, boolean) IS
    'Store bytes as an attachment, or find the attachment of this month with the same bytes, project and mode.';

-- An upload of an earlier month is copied into the current one, so that it is kept as long as the mail that refers to
-- it.
CREATE OR REPLACE FUNCTION mailqueue.use_upload(p_project uuid, p_id text, p_is_test boolean, OUT id uuid,
    OUT created_on date, OUT bytes integer, OUT content_type text, OUT file_name text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    a mailqueue.attachments;
BEGIN
    SELECT * INTO a FROM mailqueue.attachments AS u
     WHERE u.id::text = lower(p_id)
       AND u.id = CASE WHEN p_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN p_id::uuid END
       AND u.project_id = p_project AND u.is_test = p_is_test
     ORDER BY u.created_on DESC LIMIT 1;
    IF a.id IS NULL THEN
        PERFORM mailqueue.refuse('attachments', format('there is no upload %s', to_json(left(p_id, 100))));
    END IF;
    IF a.created_on < date_trunc('month', now() AT TIME ZONE 'UTC')::date THEN
        -- Bytes outside the database are deleted after the last row that names their location.
        PERFORM FROM mailqueue.attachments AS u WHERE u.id = a.id AND u.created_on = a.created_on FOR KEY SHARE;
        IF NOT FOUND THEN
            PERFORM mailqueue.refuse('attachments', format('there is no upload %s', to_json(left(p_id, 100))));
        END IF;
        a.created_on := (now() AT TIME ZONE 'UTC')::date;
        INSERT INTO mailqueue.attachments VALUES (a.*) ON CONFLICT DO NOTHING;
    END IF;
    id := a.id; created_on := a.created_on; bytes := a.bytes; content_type := a.content_type; file_name := a.file_name;
END $$;
COMMENT ON FUNCTION mailqueue.use_upload(uuid, text, boolean) IS
    'Return an upload of this project and mode for use by a mail; raise an error if there is none.';

-- Takes [{"filename", "content" (base64), "content_type", "content_id"} or {"id", "filename", "content_id"}], returns
-- the value of email_contents.files.
CREATE OR REPLACE FUNCTION mailqueue.take_attachments(p_project uuid, p_files jsonb, p_has_html boolean,
    p_is_test boolean)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    f jsonb;
    v_allowed text[];
    v_most integer;
    v_total bigint := 0;
    v_taken jsonb := '[]';
    v_octets bytea;
    v_name text;
    v_cid text;
    v_type text;
    v_kept record;
    v_bytes integer;
BEGIN
    IF jsonb_typeof(p_files) <> 'array'
       OR jsonb_path_exists(p_files, 'strict $[*] ? (@.type() != "object")', '{}', true) THEN
        PERFORM mailqueue.refuse('attachments', 'a list of objects is needed');
    ELSIF jsonb_array_length(p_files) > 50 THEN
        PERFORM mailqueue.refuse('attachments', format('at most 50 files, got %s', jsonb_array_length(p_files)));
    END IF;
    SELECT a.types, a.most INTO v_allowed, v_most FROM mailqueue.attachments_of_project(p_project) AS a;
    FOR f IN SELECT jsonb_array_elements(p_files) LOOP
        PERFORM mailqueue.check_attachment_fields(f);
        v_name := f ->> 'filename';
        v_cid := btrim(f ->> 'content_id', '<>');
        IF f ? 'id' THEN
            SELECT * INTO v_kept FROM mailqueue.use_upload(p_project, f ->> 'id', p_is_test);
            v_name := coalesce(v_name, v_kept.file_name);
            v_type := v_kept.content_type;
            v_bytes := v_kept.bytes;
        ELSE
            v_type := lower(btrim(f ->> 'content_type'));
            BEGIN
                v_octets := decode(f ->> 'content', 'base64');
            EXCEPTION WHEN invalid_parameter_value OR invalid_text_representation THEN
                PERFORM mailqueue.refuse('attachments',
                                         format('the content of %s is not base64', to_json(left(v_name, 100))));
            END;
            v_bytes := length(v_octets);
        END IF;
        v_total := v_total + v_bytes;
        IF v_total > v_most THEN
            PERFORM mailqueue.refuse('attachments',
                                     format('the files of one mail may have at most %s bytes in this project', v_most),
                                     'too_large');
        END IF;
        PERFORM mailqueue.check_file_name(v_name);
        IF v_cid IS NOT NULL AND (v_cid !~ '^[A-Za-z0-9!#$%&''*+/=?^_`{|}~.-]{1,128}(@[A-Za-z0-9.-]{1,128})?$'
                                  OR v_taken @> jsonb_build_array(jsonb_build_object('cid', v_cid))) THEN
            PERFORM mailqueue.refuse('attachments',
                                     format('%s is not a Content-ID, or is used twice', to_json(left(v_cid, 100))));
        END IF;
        IF v_cid IS NOT NULL AND NOT p_has_html THEN
            PERFORM mailqueue.refuse('attachments',
                                     format('%s has a content_id, but there is no html that shows it',
                                            to_json(v_name)));
        END IF;
        IF NOT f ? 'id' THEN
            PERFORM mailqueue.check_attachment_type(v_type, v_octets, v_allowed);
            SELECT * INTO v_kept FROM mailqueue.keep_attachment(p_project, v_octets, v_type, NULL, p_is_test);
        END IF;
        PERFORM mailqueue.check_name_fits_type(v_name, v_type);
        v_taken := v_taken || jsonb_strip_nulls(jsonb_build_object(
            'id', v_kept.id, 'on', v_kept.created_on, 'name', v_name, 'type', v_type, 'cid', v_cid,
            'bytes', v_bytes));
    END LOOP;
    RETURN nullif(v_taken, '[]');
END $$;
COMMENT ON FUNCTION mailqueue.take_attachments(uuid, jsonb, boolean, boolean) IS
    'Check and store the files of a mail; returns the value of email_contents.files.';

CREATE OR REPLACE FUNCTION mailqueue.has_html(q mailqueue.email_queue) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT q.html_body IS NOT NULL OR EXISTS (SELECT FROM mailqueue.template_texts AS x
            WHERE x.version_id = q.template_version_id AND x.language = q.language AND x.html_body IS NOT NULL)
$$;
COMMENT ON FUNCTION mailqueue.has_html(mailqueue.email_queue) IS
    'Whether a checked row has HTML, its own or its template''s, that can show inline files.';

CREATE OR REPLACE FUNCTION mailqueue.check_attachment_fields(p_file jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k record;
BEGIN
    FOR k IN SELECT e.key, jsonb_typeof(e.value) AS type FROM jsonb_each(p_file) AS e LOOP
        IF k.key NOT IN ('id', 'filename', 'content', 'content_type', 'content_id') THEN
            PERFORM mailqueue.refuse('attachments',
                                     format('a file has no field %s', to_json(left(k.key, 100))));
        ELSIF k.type <> 'string' THEN
            PERFORM mailqueue.refuse('attachments', format('%s of a file must be a string, got %s', k.key, k.type));
        END IF;
    END LOOP;
    IF p_file ? 'id' AND p_file ?| '{content,content_type}' THEN
        PERFORM mailqueue.refuse('attachments', 'a file has an id or a content, not both');
    ELSIF NOT p_file ? 'id' AND NOT p_file ?& '{filename,content,content_type}' THEN
        PERFORM mailqueue.refuse('attachments',
                                 'a file needs filename, content and content_type, or the id of an upload');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_attachment_fields(jsonb) IS
    'Raise an error for fields of a file that are unknown, missing or not strings.';
