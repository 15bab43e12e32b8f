-- Finished messages: their bytes are stored as a file of their content and sent unchanged.

-- Attachments inside a finished message must be of types that the project allows: [{"type", "bytes", "head"}], head
-- being the first bytes in hexadecimal.
CREATE OR REPLACE FUNCTION mailqueue.check_raw_files(p_project uuid, p_files jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_allowed text[];
    v_most integer;
    v_total bigint;
    f jsonb;
BEGIN
    IF p_files = '[]' THEN
        RETURN;
    END IF;
    SELECT a.types, a.most INTO v_allowed, v_most FROM mailqueue.attachments_of_project(p_project) AS a;
    SELECT sum((x.value ->> 'bytes')::bigint) INTO v_total FROM jsonb_array_elements(p_files) AS x;
    IF v_total > v_most THEN
        PERFORM mailqueue.refuse('attachments',
                                 format('the files of one mail may have at most %s bytes in this project', v_most),
                                 'too_large');
    END IF;
    FOR f IN SELECT x.value FROM jsonb_array_elements(p_files) AS x LOOP
        PERFORM mailqueue.check_attachment_type(f ->> 'type', decode(f ->> 'head', 'hex'), v_allowed);
        PERFORM mailqueue.check_name_fits_type(f ->> 'name', f ->> 'type');
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_raw_files(uuid, jsonb) IS
    'Raise an error for attachments inside a finished message that the project does not allow.';

-- Limit for text and headers, plus files in base64: four bytes for three, and two line end bytes in 76.
CREATE OR REPLACE FUNCTION mailqueue.message_bytes_of(p_project uuid) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 10485760 + ceil(p.attachment_bytes * 1.38)::integer
      FROM mailqueue.projects AS p
     WHERE p.id = p_project AND p.deleted_at IS NULL AND coalesce(mailqueue.tenant(), p_project) = p_project
$$;
COMMENT ON FUNCTION mailqueue.message_bytes_of(uuid) IS
    'Maximum size of a finished message of this project in bytes, attachments included.';

-- Each document is one mail: "email", a message of enqueue_batch(), "files", "has_null_sender", and "octets", the index
-- of its message from 0. Mails of one message are adjacent, share its bytes, and form a batch with the id of the first;
-- "by" is its sender. The text of "email" represents the bytes in the comparison of idempotency keys and is not stored.
CREATE OR REPLACE FUNCTION mailqueue.accept_raw(p_project text, p_documents jsonb, p_octets bytea[])
RETURNS TABLE (index integer, id uuid, status text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := mailqueue.project_taking(p_project);
    v_delivery text; v_max_ages integer[];                   -- defaults of the project; hours by priority
    v_is_addressless boolean;                                -- the project lacks the address that marketing needs
    v_today date := (now() AT TIME ZONE 'UTC')::date;
    v_ids uuid[] := '{}';
    v_status text[] := '{}';
    v_new uuid[] := '{}';
    v_file uuid;
    v_content bigint;
    v_bytes bigint := 0;                                     -- of contents; files count themselves
    v_octets bytea;
    v_stored integer := 0;                                   -- the message of v_file and v_content
    v_places integer[] := '{}';                              -- the message of each mail
    v_place integer;
    d jsonb;
    q mailqueue.email_queue;
BEGIN
    SELECT p.delivery, ARRAY[p.max_age_hours_critical, p.max_age_hours_high, p.max_age_hours_normal,
                 p.max_age_hours_low],
           p.require_postal_address AND p.postal_address IS NULL
      INTO v_delivery, v_max_ages, v_is_addressless FROM mailqueue.projects AS p WHERE p.id = v_project;
    PERFORM mailqueue.check_tenant(v_project);
    PERFORM mailqueue.check_room(v_project, jsonb_array_length(p_documents));
    FOR n IN 1 .. jsonb_array_length(p_documents) LOOP
        d := p_documents -> (n - 1);
        v_place := coalesce((d ->> 'octets')::integer + 1, n);
        v_places := array_append(v_places, v_place);
        q := mailqueue.email_from_message(v_project, d -> 'email');
        IF v_is_addressless AND q.category = 'marketing' THEN
            PERFORM mailqueue.refuse_addressless();
        END IF;
        IF v_is_addressless AND q.category = 'marketing' THEN
            PERFORM mailqueue.refuse_addressless();
        END IF;
        v_ids := array_append(v_ids, q.id);
        v_status := array_append(v_status, CASE q.status WHEN 'pending' THEN 'queued' ELSE 'duplicate' END);
        CONTINUE WHEN q.status = 'duplicate';
        IF v_delivery IS NOT NULL AND d -> 'email' ->> 'delivery' IS NULL THEN
            q.delivery := v_delivery;
        END IF;
        IF v_max_ages[q.priority + 1] IS NOT NULL AND d -> 'email' ->> 'expires_at' IS NULL THEN
            q.expires_at := q.run_at + make_interval(hours => v_max_ages[q.priority + 1]);
        END IF;
        IF v_stored <> v_place THEN
            v_stored := v_place;
            v_octets := p_octets[v_place];
            PERFORM mailqueue.check_raw_files(v_project, d -> 'files');
            INSERT INTO mailqueue.attachments (project_id, created_on, sha256, bytes, content_type, octets, is_test)
            VALUES (v_project, v_today, sha256(v_octets), length(v_octets), 'message/rfc822', v_octets, q.is_test)
            RETURNING attachments.id INTO v_file;
            INSERT INTO mailqueue.email_contents (created_on, project_id, subject, from_email, from_name, files)
            VALUES (v_today, v_project, q.subject, q.from_email, q.from_name,
                    jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
                    'id', v_file, 'on', v_today, 'name', 'message.eml', 'type', 'message/rfc822', 'bytes',
                    length(v_octets), 'raw', true,
                    'null_sender', CASE WHEN (d ->> 'has_null_sender')::boolean THEN true END))))
            RETURNING email_contents.id INTO v_content;
            v_bytes := v_bytes + octet_length(q.subject);
        END IF;
        IF q.recipients > 1 THEN
            PERFORM mailqueue.store_recipients(q);
        END IF;
        INSERT INTO mailqueue.email_queue (id, project_id, project, lane_id, status, run_at, attempts, created_at,
            recipients, recipient_email, recipient_name, content_id, content_on, is_test, [[KEPT_COLUMNS]])
        VALUES (q.id, v_project, NULL, q.lane_id, 'pending', q.run_at, 0, now(), q.recipients, q.recipient_email,
            q.recipient_name, v_content, v_today, q.is_test, [[q.KEPT_COLUMNS]]);
        v_new := array_append(v_new, q.id);
    END LOOP;
    IF v_new <> '{}' THEN
        PERFORM mailqueue.accept_rows(v_new, v_bytes);
    END IF;
    IF cardinality(v_ids) > cardinality(p_octets) THEN
        PERFORM mailqueue.keep_batch(v_project, m.ids, p_documents -> m.first -> 'email' ->> 'subject',
                                     coalesce(p_documents -> m.first ->> 'by', 'unnamed'))
           FROM (SELECT array_agg(i.id ORDER BY i.n) AS ids, min(i.n)::integer - 1 AS first
                   FROM unnest(v_ids, v_places) WITH ORDINALITY AS i(id, place, n) GROUP BY i.place
                                                HAVING count(*) > 1) AS m;
    END IF;
    RETURN QUERY
        SELECT r.n::integer - 1, r.id,
               CASE WHEN r.status = 'queued' AND h.id IS NOT NULL THEN h.status ELSE r.status END, h.reason
          FROM unnest(v_ids, v_status) WITH ORDINALITY AS r(id, status, n)
          LEFT JOIN mailqueue.email_history AS h ON h.id = r.id AND h.finished_at = now() AND r.status = 'queued'
         ORDER BY r.n;
END $$;
COMMENT ON FUNCTION mailqueue.accept_raw(text, jsonb, bytea[]) IS
    'Accept finished messages in the caller''s transaction, all or none; returns a row for each in order: queued, '
    'suppressed or duplicate.';
