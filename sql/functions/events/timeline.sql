-- Events of all mail to one address, in one list.

-- Mail is found by its recipients, events by their mail. Newest first; a page begins after one of them.
CREATE OR REPLACE FUNCTION mailqueue.recipient_events(p_project uuid, p_address text, p_before timestamptz,
    p_before_id uuid, p_limit integer)
RETURNS TABLE (id uuid, occurred_at timestamptz, type text, email_id uuid, subject text, campaign_id text, source text,
               code text, detail text, data jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_address text[] := mailqueue.address_spellings(p_address);
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    WITH mails AS MATERIALIZED (
        SELECT h.id, h.created_at, h.finished_at, h.status, h.reason, h.campaign_id, h.content_id, h.content_on
          FROM mailqueue.email_history AS h
         WHERE h.project_id = p_project AND lower(h.recipient_email) = ANY (v_address)
           AND coalesce(mailqueue.mode(), h.is_test) = h.is_test
        UNION
        SELECT h.id, h.created_at, h.finished_at, h.status, h.reason, h.campaign_id, h.content_id, h.content_on
          FROM mailqueue.email_recipients AS r
          JOIN mailqueue.email_history AS h ON h.id = r.email_id AND coalesce(mailqueue.mode(), h.is_test) = h.is_test
         WHERE r.project_id = p_project AND lower(r.address) = ANY (v_address)
        UNION
        SELECT q.id, q.created_at, NULL, q.status, NULL, q.campaign_id, q.content_id, q.content_on
          FROM mailqueue.email_queue AS q
         WHERE q.project_id = p_project AND lower(q.recipient_email) = ANY (v_address)
           AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        UNION
        SELECT q.id, q.created_at, NULL, q.status, NULL, q.campaign_id, q.content_id, q.content_on
          FROM mailqueue.email_recipients AS r
          JOIN mailqueue.email_queue AS q ON q.id = r.email_id AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
         WHERE r.project_id = p_project AND lower(r.address) = ANY (v_address)
    ), moments AS (
        SELECT m.id, m.created_at AS at, 'accepted'::text AS type, m.id AS email_id, NULL::text AS source,
               NULL::text AS code, NULL::text AS detail, NULL::jsonb AS data
          FROM mails AS m
        UNION ALL
        SELECT m.id, m.finished_at, 'sent', m.id, NULL, NULL, m.reason, NULL FROM mails AS m WHERE m.status = 'sent'
        UNION ALL
        SELECT v.id, v.occurred_at, v.type, v.email_id, v.source, v.code, v.detail, v.data
          FROM mails AS m JOIN mailqueue.email_events AS v ON v.email_id = m.id
         WHERE lower(v.recipient_email) = ANY (v_address) OR v.recipient_email IS NULL
    )
    SELECT t.id, t.at, t.type, t.email_id, c.subject, m.campaign_id, t.source, t.code, t.detail, t.data
      FROM (SELECT o.* FROM moments AS o
             WHERE p_before IS NULL OR (o.at, o.id) < (p_before, p_before_id) ORDER BY o.at DESC, o.id DESC
             LIMIT p_limit) AS t
      JOIN mails AS m ON m.id = t.email_id
      LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
     ORDER BY t.at DESC, t.id DESC;
END $$;
COMMENT ON FUNCTION mailqueue.recipient_events(uuid, text, timestamptz, uuid, integer) IS
    'All events of a project''s mail to one address, newest first: accepted, sent, and each event.';

CREATE OR REPLACE FUNCTION mailqueue.see_notices(p_project uuid, p_by text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE mailqueue.notices AS n SET seen_at = clock_timestamp(), seen_by = left(p_by, 200)
     WHERE n.seen_at IS NULL AND (p_project IS NULL OR n.project_id = p_project);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.see_notices(uuid, text) IS
    'Mark the notices of a project, or (NULL) of all, as seen; returns the number of new ones.';
