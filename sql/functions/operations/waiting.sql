-- How many queued emails a pause stops, shown before it begins.

-- At most 100,000 emails are read, whatever the kind. Of a sender account those count that no other account may send.
CREATE OR REPLACE FUNCTION mailqueue.count_waiting(p_project uuid, p_kind text, p_name text, OUT emails integer,
    OUT is_more boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_limit integer;
    v_lanes integer[];
BEGIN
    IF p_project IS NULL THEN
        PERFORM mailqueue.check_administers();
    ELSE
        PERFORM mailqueue.check_tenant(p_project);
    END IF;
    IF p_kind = 'sender' THEN
        SELECT m.id INTO v_limit FROM mailqueue.limits AS m JOIN mailqueue.sender_accounts AS a
            ON a.id = m.sender_account_id WHERE a.project_id = p_project AND a.name = p_name;
    END IF;
    v_lanes := ARRAY(SELECT l.id FROM mailqueue.lanes AS l
                      WHERE (p_project IS NULL OR l.project_id = p_project)
                        AND (p_kind <> 'sender' OR l.account_limits = ARRAY[v_limit]));
    SELECT count(*) FILTER (WHERE o.n <= 100000 AND CASE p_kind
               WHEN 'campaign' THEN o.campaign_id = p_name
               WHEN 'domain' THEN mailqueue.domain_of(o.recipient_email) = p_name
                    OR o.recipients > 1
                       AND EXISTS (SELECT FROM mailqueue.email_recipients AS r
                                    WHERE r.email_id = o.id AND r.status = 'pending'
                                      AND mailqueue.domain_of(r.address) = p_name)
               ELSE true END),
           count(*) > 100000 INTO emails, is_more
      FROM (SELECT q.id, q.campaign_id, q.recipient_email, q.recipients, row_number() OVER () AS n
              FROM mailqueue.email_queue AS q
             WHERE q.lane_id = ANY (v_lanes) AND q.status = 'pending' LIMIT 100001) AS o;
END $$;
COMMENT ON FUNCTION mailqueue.count_waiting(uuid, text, text) IS
    'Number of queued emails that a pause of this kind would stop, of a project or (NULL) of all projects; is_more: '
    'more than the 100,000 that were read wait.';

CREATE OR REPLACE FUNCTION mailqueue.waiting_campaigns(p_project uuid, p_most integer)
RETURNS TABLE (name text, queued bigint, held bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_is_test boolean := coalesce(mailqueue.mode(), false);
    v_lanes integer[];
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    v_lanes := ARRAY(SELECT l.id FROM mailqueue.lanes AS l WHERE l.project_id = p_project);
    RETURN QUERY
    SELECT coalesce(o.campaign_id, ''), count(*) FILTER (WHERE NOT o.is_held), count(*) FILTER (WHERE o.is_held)
      FROM ((SELECT q.campaign_id, q.is_test, false AS is_held FROM mailqueue.email_queue AS q
              WHERE q.lane_id = ANY (v_lanes) AND q.status = 'pending' LIMIT p_most)
            UNION ALL
            (SELECT q.campaign_id, q.is_test, true FROM mailqueue.email_queue AS q
              WHERE q.project_id = p_project AND q.status = 'held' LIMIT p_most)) AS o
     WHERE o.is_test = v_is_test
     GROUP BY coalesce(o.campaign_id, '');
END $$;
COMMENT ON FUNCTION mailqueue.waiting_campaigns(uuid, integer) IS
    'Queued and held emails of a project by campaign, '''' for those of none, of at most p_most queued and as many '
    'held ones.';
