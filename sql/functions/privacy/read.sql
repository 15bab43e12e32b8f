-- What is stored about a person: the address of a hash, and their mail with its events.

-- If no suppressed address has the hash, the recipients of mail are searched.
CREATE OR REPLACE FUNCTION mailqueue.find_address(p_project uuid, p_hash bytea) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.address_keys;
    v_found text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT s.address INTO v_found FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address_hash = p_hash AND s.address IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RETURN v_found;
    END IF;
    SELECT * INTO k FROM mailqueue.address_keys AS a WHERE a.project_id = p_project;
    SELECT x.address INTO v_found FROM (
        SELECT mailqueue.address_key(q.recipient_email) AS address FROM mailqueue.email_queue AS q
         WHERE q.project_id = p_project
        UNION ALL SELECT mailqueue.address_key(h.recipient_email) FROM mailqueue.email_history AS h
                   WHERE h.project_id = p_project
        UNION ALL SELECT mailqueue.address_key(r.address) FROM mailqueue.email_recipients AS r
                   WHERE r.project_id = p_project
        UNION ALL SELECT mailqueue.address_key(v.recipient_email) FROM mailqueue.email_events AS v
                   WHERE v.project_id = p_project
        UNION ALL SELECT mailqueue.address_key(l.recipient_email) FROM mailqueue.send_logs AS l
                   WHERE l.project_id = p_project
        UNION ALL SELECT b.email FROM mailqueue.bounce_list AS b WHERE b.project_id = p_project
        UNION ALL SELECT u.email FROM mailqueue.unsubscribe_list AS u WHERE u.project_id = p_project) AS x
     WHERE sha256(k.outer_pad || sha256(k.inner_pad || convert_to(x.address, 'UTF8'))) = p_hash LIMIT 1;
    RETURN v_found;
END $$;
COMMENT ON FUNCTION mailqueue.find_address(uuid, bytea) IS
    'The address of a hash among all addresses of a project; NULL if none has it.';

CREATE OR REPLACE FUNCTION mailqueue.has_archives(p_project uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);
    SELECT EXISTS (SELECT FROM mailqueue.archives AS a
                    WHERE a.project_id = p_project AND (a.state <> 'purged' OR a.leftover_path IS NOT NULL))
$$;
COMMENT ON FUNCTION mailqueue.has_archives(uuid) IS 'Whether records of a project are in archive files.';

-- Of a page, mails with up to 8 MiB of texts and one more: a text has up to 25 MiB, and many mails may share it.
CREATE OR REPLACE FUNCTION mailqueue.mail_of_person(p_project uuid, p_spellings text[], p_after uuid, p_most integer)
RETURNS SETOF jsonb
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);
    WITH theirs AS (
        SELECT q.id, q.content_id, q.content_on, q AS queued, NULL::mailqueue.email_history AS done  -- JSON last
          FROM mailqueue.email_queue AS q
         WHERE q.project_id = p_project
           AND (lower(q.recipient_email) = ANY (p_spellings)
                OR q.id IN (SELECT r.email_id FROM mailqueue.email_recipients AS r
                             WHERE lower(r.address) = ANY (p_spellings)))
        UNION ALL
        SELECT h.id, h.content_id, h.content_on, NULL, h FROM mailqueue.email_history AS h
         WHERE h.project_id = p_project AND lower(h.recipient_email) = ANY (p_spellings)
        UNION ALL
        SELECT h.id, h.content_id, h.content_on, NULL, h
          FROM mailqueue.email_recipients AS r JOIN mailqueue.email_history AS h ON h.id = r.email_id
         WHERE h.project_id = p_project AND lower(r.address) = ANY (p_spellings)
           AND lower(h.recipient_email) <> ALL (p_spellings)
    ), sized AS (
        SELECT o.*, (SELECT coalesce(octet_length(c.html_body), 0) + coalesce(octet_length(c.text_body), 0)
                       FROM mailqueue.email_contents AS c
                      WHERE c.id = o.content_id AND c.created_on = o.content_on) AS bytes
          FROM theirs AS o WHERE o.id > p_after ORDER BY o.id LIMIT p_most
    ), page AS (
        SELECT s.*, sum(s.bytes) OVER (ORDER BY s.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
          FROM sized AS s
    )
    SELECT coalesce(to_jsonb(m.queued), to_jsonb(m.done)) || jsonb_build_object(
               'content',
               (SELECT to_jsonb(c) FROM mailqueue.email_contents AS c
                 WHERE c.id = m.content_id AND c.created_on = m.content_on),
               'recipients', (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.position) FROM mailqueue.email_recipients AS r
                               WHERE r.email_id = m.id AND lower(r.address) = ANY (p_spellings)),
               'events',
               (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.occurred_at) FROM mailqueue.email_events AS v
                 WHERE v.email_id = m.id
                 AND (v.recipient_email IS NULL OR lower(v.recipient_email) = ANY (p_spellings))),
               'attempts',
               (SELECT jsonb_agg(to_jsonb(l) ORDER BY l.sent_at) FROM mailqueue.send_logs AS l
                 WHERE l.email_id = m.id
                 AND lower(l.recipient_email) = ANY (p_spellings)),
               'attachments',
               (SELECT jsonb_agg(jsonb_build_object('file_name', coalesce(f ->> 'name', a.file_name), 'content_type',
                                                    a.content_type,
                                                    'bytes', a.bytes, 'sha256', encode(a.sha256, 'hex')))
                  FROM mailqueue.email_contents AS c CROSS JOIN LATERAL jsonb_array_elements(c.files) AS f
                  JOIN mailqueue.attachments AS a ON a.id = (f ->> 'id')::uuid
                 WHERE c.id = m.content_id AND c.created_on = m.content_on AND jsonb_typeof(c.files) = 'array'))
      FROM page AS m
     WHERE coalesce(m.bytes_before, 0) < 8 * 1024 * 1024 ORDER BY m.id
$$;
COMMENT ON FUNCTION mailqueue.mail_of_person(uuid, text[], uuid, integer) IS
    'Mails to a person with their content and events, after one, in order of their ids; fewer where texts are large. '
    'None: there is no more.';

CREATE OR REPLACE FUNCTION mailqueue.known_of_person(p_project uuid, p_hashes bytea[])
RETURNS TABLE (name text, doc jsonb)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);
    SELECT 'suppressions', to_jsonb(s) FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address IS NULL AND s.address_hash = ANY (p_hashes)
    UNION ALL
    SELECT 'suppression_history', to_jsonb(h) FROM mailqueue.suppression_history AS h
     WHERE h.project_id = p_project AND h.address IS NULL AND h.address_hash = ANY (p_hashes)
$$;
COMMENT ON FUNCTION mailqueue.known_of_person(uuid, bytea[]) IS
    'Current and past suppressions of hashes whose address is erased, with the names of their tables.';
