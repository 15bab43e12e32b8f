-- What webhooks were told of one email.

-- Deliveries have no index of their events. A delivery is written with the row of its event, so that its id is of the
-- seconds from that time on: that part of each webhook's log is read, of which this bounds the rows.
CREATE OR REPLACE FUNCTION mailqueue.deliveries_of_email(p_project uuid, p_email uuid)
RETURNS TABLE (id uuid, webhook_id uuid, url text, type text, status text, attempts smallint, last_code smallint,
               last_error text, created_at timestamptz, finished_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    WITH told AS MATERIALIZED (
        SELECT e.id, mailqueue.first_id_since(e.created_at - interval '1 second') AS first_id,
               mailqueue.first_id_since(e.created_at + interval '5 seconds') AS next_id
          FROM mailqueue.webhook_events AS e
         WHERE e.email_id = p_email AND e.project_id = p_project
           AND coalesce(mailqueue.mode(), e.is_test) = e.is_test
         ORDER BY e.id DESC LIMIT 20
    )
    SELECT d.id, d.webhook_id, w.url, d.type, d.status, d.attempts, d.last_code, d.last_error, d.created_at,
           d.finished_at
      FROM told AS t
     CROSS JOIN (SELECT o.id, o.url FROM mailqueue.webhooks AS o
                  WHERE o.project_id = p_project ORDER BY o.id DESC LIMIT 50) AS w
     CROSS JOIN LATERAL (
           SELECT s.* FROM mailqueue.webhook_deliveries AS s
            WHERE s.webhook_id = w.id AND s.id >= t.first_id AND s.id < t.next_id
            ORDER BY s.id LIMIT 5000) AS d
     WHERE d.event_id = t.id
     ORDER BY d.id;
END $$;
COMMENT ON FUNCTION mailqueue.deliveries_of_email(uuid, uuid) IS
    'Deliveries to webhooks of the newest 20 events of an email, oldest first.';
