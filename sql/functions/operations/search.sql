-- Search by what a person has at hand: an id, a Message-ID, an id at the provider, an address, the beginning of a name.

-- Every look-up is by an index, and counts end at 1,000. Unfinished mail has no index of addresses: it is searched for
-- them up to 50,000 rows, which takes some 25 ms.
CREATE OR REPLACE FUNCTION mailqueue.matches(p_text text, p_projects uuid[], p_limit integer)
RETURNS TABLE (kind text, project text, id text, title text, detail text, status text, emails integer, at timestamptz,
               matched text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_text text := btrim(left(p_text, 1000), E'<> \t\r\n');
    v_id uuid := mailqueue.parse_uuid(v_text);
    v_mail uuid := coalesce(v_id, mailqueue.uuid_in_message_id(v_text));
    v_names text[] := ARRAY[v_text, '<' || v_text || '>'];   -- providers write ids with and without
    v_address text[];                                        -- NULL: it is none
    v_is_queue_searched boolean := false;
    v_begin text;                                            -- pattern of names that begin so; NULL: too short
    v_is_found boolean;                                      -- what an id names
BEGIN
    IF strpos(v_text, '@') > 1 AND length(v_text) <= 320 THEN
        v_address := mailqueue.address_spellings(v_text);
        v_is_queue_searched := mailqueue.rows_of('mailqueue.email_queue') <= 50000;
    ELSIF length(v_text) >= 2 THEN
        v_begin := replace(replace(replace(lower(v_text), '\', '\\'), '%', '\%'), '_', '\_') || '%';
    END IF;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT q.id, q.project_id, q.status, q.recipient_email, q.created_at, q.content_id, q.content_on,
               CASE WHEN v_id IS NULL THEN 'message_id' ELSE 'id' END AS matched, 1 AS place
          FROM mailqueue.email_queue AS q
         WHERE q.id = v_mail AND (p_projects IS NULL OR q.project_id = ANY (p_projects))
        UNION ALL
        SELECT h.id, h.project_id, h.status, h.recipient_email, h.created_at, h.content_id, h.content_on,
               CASE WHEN v_id IS NULL THEN 'message_id' ELSE 'id' END, 2
          FROM mailqueue.email_history AS h
         WHERE h.id = v_mail AND (p_projects IS NULL OR h.project_id = ANY (p_projects))
        UNION ALL
        -- Finished messages keep their Message-ID; ours begin with the id of the mail, and have no index.
        (SELECT h.id, h.project_id, h.status, h.recipient_email, h.created_at, h.content_id, h.content_on,
                'message_id', 3
           FROM mailqueue.email_history AS h
          WHERE h.message_id = v_names[2] AND strpos(h.message_id, replace(h.id::text, '-', '')) <> 2
            AND (p_projects IS NULL OR h.project_id = ANY (p_projects))
          LIMIT p_limit)
        UNION ALL
        (SELECT h.id, h.project_id, h.status, h.recipient_email, h.created_at, h.content_id, h.content_on,
                'provider_message_id', 4
           FROM mailqueue.email_history AS h
          WHERE h.provider_message_id = ANY (v_names) AND (p_projects IS NULL OR h.project_id = ANY (p_projects))
          LIMIT p_limit)
    ), mails AS (
        SELECT DISTINCT ON (f.id) f.* FROM found AS f ORDER BY f.id, f.place
    )
    SELECT 'email', p.name, m.id::text, c.subject, m.recipient_email, m.status, NULL::integer, m.created_at, m.matched
      FROM mails AS m
      JOIN mailqueue.projects AS p ON p.id = m.project_id
      LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
     ORDER BY m.created_at DESC, m.id LIMIT p_limit;
    v_is_found := FOUND;
    IF v_id IS NOT NULL THEN
        RETURN QUERY
        SELECT 'batch', p.name, b.id::text, b.subject, NULL::text, NULL::text,
               cardinality(mailqueue.emails_of_batch(b)), b.created_at,
               'id'
          FROM mailqueue.batches AS b JOIN mailqueue.projects AS p ON p.id = b.project_id
         WHERE b.id = v_id AND (p_projects IS NULL OR b.project_id = ANY (p_projects));
        v_is_found := v_is_found OR FOUND;
    END IF;
    IF v_address IS NOT NULL THEN
        RETURN QUERY
        WITH mails AS (
            (SELECT h.project_id, h.created_at FROM mailqueue.email_history AS h
              WHERE lower(h.recipient_email) = ANY (v_address)
                AND (p_projects IS NULL OR h.project_id = ANY (p_projects)) LIMIT 1000)
            UNION ALL
            (SELECT r.project_id, NULL FROM mailqueue.email_recipients AS r
              WHERE lower(r.address) = ANY (v_address) AND r.position > 0
                AND (p_projects IS NULL OR r.project_id = ANY (p_projects)) LIMIT 1000)
            UNION ALL
            (SELECT q.project_id, q.created_at FROM mailqueue.email_queue AS q
              WHERE v_is_queue_searched AND lower(q.recipient_email) = ANY (v_address)
                AND (p_projects IS NULL OR q.project_id = ANY (p_projects)) LIMIT 1000)
        ), written AS (
            SELECT m.project_id, count(*)::integer AS emails, max(m.created_at) AS newest FROM mails AS m GROUP BY 1
        ), known AS (
            SELECT p.id AS project_id, s.reason
              FROM mailqueue.projects AS p
              LEFT JOIN LATERAL (SELECT x.reason FROM mailqueue.suppressions AS x
                                  WHERE x.project_id = p.id AND x.address = v_address[1] AND x.expires_at > now()
                                  ORDER BY x.category LIMIT 1) AS s ON true
             WHERE (p_projects IS NULL OR p.id = ANY (p_projects))
               AND (s.reason IS NOT NULL
                    OR v_address[1] <> 'erased@erased.invalid'
                       AND EXISTS (SELECT FROM mailqueue.contacts AS c
                                   WHERE c.project_id = p.id AND c.email_key = v_address[1] AND NOT c.is_test
                                     AND c.email_key <> 'erased@erased.invalid'))
        )
        SELECT 'recipient', p.name, v_text, p.display_name, NULL::text, s.reason, coalesce(w.emails, 0), w.newest,
               'address'
          FROM written AS w FULL JOIN known AS s ON s.project_id = w.project_id
          JOIN mailqueue.projects AS p ON p.id = coalesce(w.project_id, s.project_id)
         ORDER BY w.newest DESC NULLS LAST, p.name LIMIT p_limit;
    END IF;
    IF v_begin IS NOT NULL THEN
        RETURN QUERY
        WITH found AS (
            SELECT p.id FROM mailqueue.projects AS p WHERE p.id = v_id
            UNION
            (SELECT p.id FROM mailqueue.projects AS p
              WHERE lower(p.name) LIKE v_begin AND p.deleted_at IS NULL
                AND (p_projects IS NULL OR p.id = ANY (p_projects)) LIMIT p_limit)
            UNION
            (SELECT p.id FROM mailqueue.projects AS p
              WHERE lower(p.display_name) LIKE v_begin AND p.deleted_at IS NULL
                AND (p_projects IS NULL OR p.id = ANY (p_projects)) LIMIT p_limit)
        )
        SELECT 'project', p.name, p.id::text, p.display_name, NULL::text, p.status, NULL::integer, p.created_at,
               CASE WHEN p.id = v_id THEN 'id' ELSE 'name' END
          FROM found AS f JOIN mailqueue.projects AS p ON p.id = f.id
         WHERE p.deleted_at IS NULL AND (p_projects IS NULL OR p.id = ANY (p_projects))
         ORDER BY p.name LIMIT p_limit;
        v_is_found := v_is_found OR FOUND;
        -- Templates of the installation belong to no project.
        RETURN QUERY
        WITH found AS (
            SELECT t.id FROM mailqueue.templates AS t WHERE t.id = v_id
            UNION
            (SELECT t.id FROM mailqueue.templates AS t
              WHERE lower(t.slug) LIKE v_begin AND t.deleted_at IS NULL
                AND (p_projects IS NULL OR t.project_id = ANY (p_projects)) LIMIT p_limit)
            UNION
            (SELECT t.id FROM mailqueue.templates AS t
              WHERE lower(t.name) LIKE v_begin AND t.deleted_at IS NULL
                AND (p_projects IS NULL OR t.project_id = ANY (p_projects)) LIMIT p_limit)
        )
        SELECT 'template', p.name, t.id::text, t.name, t.slug, NULL::text, NULL::integer, t.updated_at,
               CASE WHEN t.id = v_id THEN 'id' ELSE 'name' END
          FROM found AS f
          JOIN mailqueue.templates AS t ON t.id = f.id
          JOIN mailqueue.projects AS p ON p.id = t.project_id
         WHERE t.deleted_at IS NULL AND (p_projects IS NULL OR t.project_id = ANY (p_projects))
         ORDER BY t.slug, p.name LIMIT p_limit;
        v_is_found := v_is_found OR FOUND;
    END IF;
    IF v_mail IS NOT NULL AND NOT v_is_found THEN
        RETURN QUERY
        SELECT 'archive', NULL::text, v_mail::text, a.words, NULL::text, NULL::text, NULL::integer,
               NULL::timestamptz, 'id'
          FROM mailqueue.archive_words(v_mail) AS a(words) WHERE a.words IS NOT NULL;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.matches(text, uuid[], integer) IS
    'Emails, batches, recipients, projects and templates that a text names, in these projects or in all for NULL; at '
    'most so many of each kind.';

CREATE OR REPLACE FUNCTION mailqueue.search(p_text text, p_limit integer)
RETURNS TABLE (kind text, project text, id text, title text, detail text, status text, emails integer, at timestamptz,
               matched text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    RETURN QUERY SELECT m.* FROM mailqueue.matches(p_text, NULL, p_limit) AS m;
END $$;
COMMENT ON FUNCTION mailqueue.search(text, integer) IS
    'Emails, batches, recipients, projects and templates of all projects that a text names.';

CREATE OR REPLACE FUNCTION mailqueue.search_of_console_user(p_user uuid, p_text text, p_limit integer)
RETURNS TABLE (kind text, project text, id text, title text, detail text, status text, emails integer, at timestamptz,
               matched text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_sees_all boolean;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT u.sees_all INTO v_sees_all FROM mailqueue.console_users AS u WHERE u.id = p_user AND u.removed_at IS NULL;
    IF FOUND THEN
        RETURN QUERY
        SELECT m.* FROM mailqueue.matches(p_text, CASE WHEN NOT v_sees_all THEN
            ARRAY(SELECT c.project_id FROM mailqueue.console_members AS c WHERE c.user_id = p_user) END, p_limit) AS m;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.search_of_console_user(uuid, text, integer) IS
    'Emails, batches, recipients, projects and templates that a text names, in projects that a user of the console '
    'sees.';
