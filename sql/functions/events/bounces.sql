-- The mail that a bounce belongs to.

-- p_recipients: recipients named by the bounce, in lower case. Several finished messages may have one Message-ID, such
-- as mails split for many recipients: the one with such a recipient is returned.
CREATE OR REPLACE FUNCTION mailqueue.bounced_mail(p_email uuid, p_message_id text, p_project uuid,
    p_recipients text[] DEFAULT '{}')
RETURNS TABLE (id uuid, project_id uuid, message_id text, recipients text[])
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off
AS $$
    WITH said AS MATERIALIZED (
        SELECT coalesce(p_email, mailqueue.uuid_in_message_id(p_message_id)) AS email_id,
               '<' || nullif(btrim(left(p_message_id, 998), ' <>'), '') || '>' AS message_id
    )
    SELECT m.id, m.project_id, m.message_id,
           coalesce((SELECT array_agg(r.address ORDER BY r.position) FROM mailqueue.email_recipients AS r
                      WHERE r.email_id = m.id),
                    ARRAY[m.recipient_email])
      FROM said AS s
     CROSS JOIN LATERAL (
          SELECT q.id, q.project_id, NULL::text AS message_id, q.recipient_email FROM mailqueue.email_queue AS q
           WHERE q.id = s.email_id
          UNION ALL
          SELECT h.id, h.project_id, h.message_id, h.recipient_email FROM mailqueue.email_history AS h
           WHERE h.id = s.email_id
          UNION ALL
          -- Finished messages keep their original Message-ID.
          (SELECT h.id, h.project_id, h.message_id, h.recipient_email FROM mailqueue.email_history AS h
            WHERE p_email IS NULL AND h.message_id = s.message_id
              AND strpos(h.message_id, replace(h.id::text, '-', '')) <> 2
            LIMIT 1000)
     ) AS m
     WHERE (p_project IS NULL OR m.project_id = p_project)
       AND (mailqueue.tenant() IS NULL OR m.project_id = mailqueue.tenant())
       -- A Message-ID must match as a whole, not only the mail id at its beginning.
       AND (p_email IS NOT NULL OR m.message_id IS NULL OR lower(m.message_id) = lower(s.message_id))
     ORDER BY mailqueue.address_key(m.recipient_email) = ANY (SELECT mailqueue.address_key(p)
                                                                FROM unnest(p_recipients) AS p)
              OR EXISTS (SELECT FROM mailqueue.email_recipients AS r
                          WHERE r.email_id = m.id
                            AND mailqueue.address_key(r.address) = ANY (SELECT mailqueue.address_key(p)
                                                                          FROM unnest(p_recipients) AS p)) DESC
     LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.bounced_mail(uuid, text, uuid, text[]) IS
    'The bounced mail, by its id or else by its Message-ID, with all its recipients in order; no row if there is none'
    ' (in the project).';

CREATE OR REPLACE FUNCTION mailqueue.bounce_domains() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT DISTINCT p.bounce_domain FROM mailqueue.projects AS p
     WHERE p.bounce_domain IS NOT NULL AND p.deleted_at IS NULL
$$;
COMMENT ON FUNCTION mailqueue.bounce_domains() IS 'Domains of the return paths of all projects.';
