-- Mail of a project in pages, newest first.

-- Queue and history are searched separately, each in the order of its index: a join is not pushed into a UNION, and a
-- page must not cost as much as all pages behind it. p_before: the last id of the page before; p_sender: name of the
-- account that sent or tried the mail; p_data, p_or_data: its custom_data contains one of them; p_contains: part of the
-- subject or of the first recipient; p_template: slug; p_provider: of the account; p_from_id: the oldest mail that is
-- looked at. A subquery of one row is one step of an index, whatever the planner expects: position() knows no patterns.
CREATE OR REPLACE FUNCTION mailqueue.list_emails(p_project uuid, p_status text, p_tag text, p_from text, p_to text,
    p_campaign text, p_category text, p_batch uuid, p_since timestamptz, p_until timestamptz, p_before uuid,
    p_limit integer, p_sender text DEFAULT NULL, p_data jsonb DEFAULT NULL,
    p_or_data jsonb DEFAULT NULL, p_contains text DEFAULT NULL, p_template text DEFAULT NULL,
    p_provider text DEFAULT NULL, p_from_id uuid DEFAULT NULL)
RETURNS TABLE (id uuid, status text, reason text, priority smallint, category text, from_email text,
               recipient_email text, recipient_name text, recipients smallint, subject text, campaign_id text,
               tags text[], sender text, attempts smallint, created_at timestamptz,
               run_at timestamptz, finished_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off        -- test mail among much live mail has an index of its own
AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[];                                            -- NULL: not filtered
    v_to text[] := mailqueue.address_spellings(p_to);
    v_is_test boolean := mailqueue.mode();                   -- NULL: both
    v_sender integer;
    v_project jsonb := jsonb_build_object('$project', p_project);
    v_data jsonb := p_data || v_project;
    v_or_data jsonb := p_or_data || v_project;
    v_contains text := lower(p_contains);
    v_versions uuid[];                                       -- of the template
    v_accounts integer[];                                    -- of the provider
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_sender IS NOT NULL THEN
        SELECT a.id INTO v_sender FROM mailqueue.sender_accounts AS a
         WHERE a.project_id = p_project AND a.name = p_sender;
        IF v_sender IS NULL THEN
            RETURN;
        END IF;
    END IF;
    IF p_template IS NOT NULL THEN
        v_versions := ARRAY(SELECT v.id FROM mailqueue.templates AS t
                              JOIN mailqueue.template_versions AS v ON v.template_id = t.id
                             WHERE t.slug = p_template AND (t.project_id = p_project OR t.project_id IS NULL));
    END IF;
    IF p_provider IS NOT NULL THEN
        v_accounts := ARRAY(SELECT a.id FROM mailqueue.sender_accounts AS a
                             WHERE a.project_id = p_project AND a.provider = p_provider);
    END IF;
    IF p_batch IS NOT NULL THEN
        v_ids := coalesce((SELECT mailqueue.emails_of_batch(b) FROM mailqueue.batches AS b
                            WHERE b.id = p_batch AND b.project_id = p_project),
                          '{}');
    END IF;
    IF p_to IS NOT NULL THEN  -- by the indexes on addresses
        v_ids := ARRAY(SELECT t.id FROM (
            SELECT h.id FROM mailqueue.email_history AS h
             WHERE lower(h.recipient_email) = ANY (v_to) AND h.project_id = p_project
            UNION SELECT q.id FROM mailqueue.email_queue AS q
                   WHERE lower(q.recipient_email) = ANY (v_to) AND q.project_id = p_project
            UNION SELECT r.email_id FROM mailqueue.email_recipients AS r
                   WHERE lower(r.address) = ANY (v_to) AND r.project_id = p_project) AS t
            WHERE v_ids IS NULL OR t.id = ANY (v_ids));
    END IF;
    RETURN QUERY
    WITH page AS (
        (SELECT q.id, q.project_id, q.status, q.last_error AS reason, q.priority, q.category, q.recipient_email,
                q.recipient_name, q.recipients, q.campaign_id, q.tags, q.assigned_to, q.attempts, q.created_at,
                CASE WHEN q.run_at < '9000-01-01' THEN q.run_at
                     ELSE coalesce((SELECT x.run_at FROM mailqueue.custom_smtp_servers AS x
                                     WHERE x.email_id = q.id),
                                   (SELECT o.run_at FROM mailqueue.email_order AS o
                                     WHERE o.email_id = q.id)) END AS run_at,
                NULL::timestamptz AS finished_at, q.content_id, q.content_on
           FROM mailqueue.email_queue AS q
           LEFT JOIN mailqueue.email_contents AS c ON p_from IS NOT NULL AND c.id = q.content_id
                AND c.created_on = q.content_on
          WHERE q.project_id = p_project AND (p_before IS NULL OR q.id < p_before)
            AND (p_from_id IS NULL OR q.id >= p_from_id)
            AND (v_ids IS NULL OR q.id = ANY (v_ids))
            AND (v_is_test IS NULL OR q.is_test = v_is_test)
            AND (p_status IS NULL OR q.status = p_status) AND (p_tag IS NULL OR q.tags @> ARRAY[p_tag])
            AND (p_campaign IS NULL OR q.campaign_id = p_campaign) AND (p_category IS NULL OR q.category = p_category)
            AND (p_from IS NULL OR mailqueue.address_key(c.from_email) = mailqueue.address_key(p_from))
            AND (v_sender IS NULL OR q.assigned_to = v_sender)
            AND (v_accounts IS NULL OR q.assigned_to = ANY (v_accounts))
            AND (v_versions IS NULL
                 OR (SELECT t.template_version_id FROM mailqueue.email_contents AS t
                      WHERE t.id = q.content_id AND t.created_on = q.content_on) = ANY (v_versions))
            AND (v_contains IS NULL OR position(v_contains IN lower(q.recipient_email)) > 0
                 OR position(v_contains IN lower((SELECT t.subject FROM mailqueue.email_contents AS t
                                                   WHERE t.id = q.content_id AND t.created_on = q.content_on))) > 0)
            AND (p_since IS NULL OR q.created_at >= p_since) AND (p_until IS NULL OR q.created_at < p_until)
            AND (p_data IS NULL
                 OR mailqueue.is_searched(q.custom_data)
                    AND (mailqueue.searched_data(q.project_id, q.custom_data) @> v_data
                         OR mailqueue.searched_data(q.project_id, q.custom_data) @> v_or_data))
          ORDER BY q.id DESC LIMIT p_limit)
        UNION ALL
        (SELECT h.id, h.project_id, h.status, h.reason, h.priority, h.category, h.recipient_email, h.recipient_name,
                h.recipients, h.campaign_id, h.tags, h.assigned_to, h.attempts, h.created_at, NULL, h.finished_at,
                h.content_id, h.content_on
           FROM mailqueue.email_history AS h
           LEFT JOIN mailqueue.email_contents AS c ON p_from IS NOT NULL AND c.id = h.content_id
                AND c.created_on = h.content_on
          WHERE h.project_id = p_project AND (p_before IS NULL OR h.id < p_before)
            AND (p_from_id IS NULL OR h.id >= p_from_id)
            AND (v_ids IS NULL OR h.id = ANY (v_ids))
            AND (v_is_test IS NULL OR h.is_test = v_is_test)
            AND (p_status IS NULL OR h.status = p_status) AND (p_tag IS NULL OR h.tags @> ARRAY[p_tag])
            AND (p_campaign IS NULL OR h.campaign_id = p_campaign) AND (p_category IS NULL OR h.category = p_category)
            AND (p_from IS NULL OR mailqueue.address_key(c.from_email) = mailqueue.address_key(p_from))
            AND (v_sender IS NULL OR h.assigned_to = v_sender)
            AND (v_accounts IS NULL OR h.assigned_to = ANY (v_accounts))
            AND (v_versions IS NULL
                 OR (SELECT t.template_version_id FROM mailqueue.email_contents AS t
                      WHERE t.id = h.content_id AND t.created_on = h.content_on) = ANY (v_versions))
            AND (v_contains IS NULL OR position(v_contains IN lower(h.recipient_email)) > 0
                 OR position(v_contains IN lower((SELECT t.subject FROM mailqueue.email_contents AS t
                                                   WHERE t.id = h.content_id AND t.created_on = h.content_on))) > 0)
            AND (p_since IS NULL OR h.created_at >= p_since) AND (p_until IS NULL OR h.created_at < p_until)
            AND (p_data IS NULL
                 OR mailqueue.is_searched(h.custom_data)
                    AND (mailqueue.searched_data(h.project_id, h.custom_data) @> v_data
                         OR mailqueue.searched_data(h.project_id, h.custom_data) @> v_or_data))
          ORDER BY h.id DESC LIMIT p_limit)
        ORDER BY id DESC LIMIT p_limit
    )
    SELECT e.id, e.status, e.reason, e.priority, e.category, c.from_email, e.recipient_email, e.recipient_name,
           e.recipients, c.subject, e.campaign_id, e.tags, s.name, e.attempts, e.created_at, e.run_at, e.finished_at
      FROM page AS e
      LEFT JOIN mailqueue.email_contents AS c ON c.id = e.content_id AND c.created_on = e.content_on
      LEFT JOIN mailqueue.sender_accounts AS s ON s.id = e.assigned_to
     ORDER BY e.id DESC;
END $$;
COMMENT ON FUNCTION mailqueue.list_emails(uuid, text, text, text, text, text, text, uuid, timestamptz, timestamptz,
                                          uuid, integer, text, jsonb, jsonb, text, text, text, uuid) IS
    'A page of a project''s mail, finished or not, newest first; parameters that are NULL do not filter.';

CREATE OR REPLACE FUNCTION mailqueue.emails_looked_from(p_project uuid, p_before uuid, p_looked integer)
RETURNS uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_is_test boolean := mailqueue.mode();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN (SELECT e.id FROM (
                (SELECT q.id FROM mailqueue.email_queue AS q
                  WHERE q.project_id = p_project AND (p_before IS NULL OR q.id < p_before)
                    AND (v_is_test IS NULL OR q.is_test = v_is_test)
                  ORDER BY q.id DESC LIMIT p_looked)
                UNION ALL
                (SELECT h.id FROM mailqueue.email_history AS h
                  WHERE h.project_id = p_project AND (p_before IS NULL OR h.id < p_before)
                    AND (v_is_test IS NULL OR h.is_test = v_is_test)
                  ORDER BY h.id DESC LIMIT p_looked)) AS e
             ORDER BY e.id DESC OFFSET p_looked - 1 LIMIT 1);
END $$;
COMMENT ON FUNCTION mailqueue.emails_looked_from(uuid, uuid, integer) IS
    'Id of the oldest of so many mails of a project before one, or of its newest for NULL; NULL if it has fewer.';
