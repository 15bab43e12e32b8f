-- Emails as the events of compatible providers describe them.

-- A request for several mails was answered with the id of the first: its batch has that id, a little below theirs.
CREATE OR REPLACE FUNCTION mailqueue.webhook_emails(p_ids uuid[])
RETURNS TABLE (id uuid, first_id uuid, created_at timestamptz, from_email text, from_name text, subject text,
               headers jsonb, message_id text, recipients jsonb, is_bounced boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    SELECT m.id,
           coalesce((SELECT b.id
                       FROM (SELECT o.id, o.project_id, o.email_ids FROM mailqueue.batches AS o
                              WHERE o.id <= m.id ORDER BY o.id DESC LIMIT 8) AS b
                      WHERE b.project_id = m.project_id AND b.id = b.email_ids[1] AND m.id = ANY (b.email_ids)
                      LIMIT 1), m.id),
           m.created_at, coalesce(c.from_email, s.email), c.from_name, c.subject, c.headers, m.message_id,
           coalesce((SELECT jsonb_agg(jsonb_build_array(r.kind, r.address, r.name) ORDER BY r.position)
                       FROM mailqueue.email_recipients AS r WHERE r.email_id = m.id),
                    jsonb_build_array(jsonb_build_array('to', m.recipient_email, m.recipient_name))),
           EXISTS (SELECT FROM mailqueue.email_events AS e
                    WHERE e.email_id = m.id AND e.type IN ('hard_bounce', 'soft_bounce'))
      FROM unnest(p_ids) AS i(id)
     CROSS JOIN LATERAL (
           SELECT q.id, q.project_id, q.created_at, q.content_id, q.content_on, q.assigned_to, q.recipient_email,
                  q.recipient_name, NULL AS message_id
             FROM mailqueue.email_queue AS q WHERE q.id = i.id
           UNION ALL
           SELECT h.id, h.project_id, h.created_at, h.content_id, h.content_on, h.assigned_to, h.recipient_email,
                  h.recipient_name, h.message_id
             FROM mailqueue.email_history AS h WHERE h.id = i.id
            LIMIT 1) AS m
      LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
      LEFT JOIN mailqueue.sender_accounts AS s ON s.id = m.assigned_to
$$;
COMMENT ON FUNCTION mailqueue.webhook_emails(uuid[]) IS
    'Emails for events in the format of a compatible provider: addresses, subject, headers, the id of the first email '
    'of their request, and whether they bounced.';

-- The same of one email of a project, for the API.
CREATE OR REPLACE FUNCTION mailqueue.webhook_email(p_project uuid, p_id uuid)
RETURNS TABLE (id uuid, first_id uuid, created_at timestamptz, from_email text, from_name text, subject text,
               headers jsonb, message_id text, recipients jsonb, is_bounced boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    SELECT m.* FROM mailqueue.webhook_emails(ARRAY[p_id]) AS m
     WHERE EXISTS (SELECT FROM mailqueue.emails AS e WHERE e.id = p_id AND e.project_id = p_project);
END $$;
COMMENT ON FUNCTION mailqueue.webhook_email(uuid, uuid) IS
    'An email of a project as webhook_emails returns it; no row where the project has none of that id.';
