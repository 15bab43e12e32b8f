-- Content and recipients of a mail as sent, and a dry run of accepting one.

CREATE OR REPLACE FUNCTION mailqueue.message_source(p_project uuid, p_id uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e record;
    v_account record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT x.* INTO e FROM (
        SELECT q.id, q.status, q.category, q.created_at, q.lane_id, q.assigned_to, q.recipient_email, q.recipient_name,
               q.custom_data, q.content_id, q.content_on
          FROM mailqueue.email_queue AS q
         WHERE q.id = p_id AND q.project_id = p_project AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        UNION ALL
        (SELECT h.id, h.status, h.category, h.created_at, h.lane_id, h.assigned_to, h.recipient_email, h.recipient_name,
                h.custom_data, h.content_id, h.content_on
           FROM mailqueue.email_history AS h
          WHERE h.id = p_id AND h.project_id = p_project AND coalesce(mailqueue.mode(), h.is_test) = h.is_test
          ORDER BY h.finished_at DESC LIMIT 1)) AS x
     LIMIT 1;
    IF e.id IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT a.email, a.display_name, a.provider = 'trap' AS is_trap INTO v_account FROM mailqueue.sender_accounts AS a
     WHERE a.id = coalesce(e.assigned_to,
                           (SELECT m.sender_account_id FROM mailqueue.lanes AS l
                              JOIN mailqueue.limits AS m ON m.id = l.account_limits[1]
                             WHERE l.id = e.lane_id));
    RETURN jsonb_build_object('id', e.id, 'status', e.status, 'category', e.category, 'created_at', e.created_at,
        'recipient_email', e.recipient_email, 'recipient_name', e.recipient_name, 'custom_data', e.custom_data,
        'sent_at', (SELECT max(l.sent_at) FROM mailqueue.send_logs AS l WHERE l.email_id = p_id AND l.status = 'sent'),
        'content',
        (SELECT to_jsonb(c) FROM mailqueue.email_contents AS c
          WHERE c.id = e.content_id AND c.created_on = e.content_on),
        'recipients',
        (SELECT jsonb_agg(jsonb_build_object('kind', r.kind, 'address', r.address, 'name', r.name, 'status', r.status,
                                             'reason', r.reason)
                          ORDER BY r.position) FROM mailqueue.email_recipients AS r WHERE r.email_id = p_id),
        'account',
        jsonb_build_object('email', v_account.email, 'name', v_account.display_name, 'is_trap', v_account.is_trap),
        'project',
        (SELECT jsonb_build_object('email', p.from_email, 'name', p.from_name, 'reply_to', p.reply_to, 'bounce_address',
                                   p.bounce_address)
           FROM mailqueue.projects AS p WHERE p.id = p_project));
END $$;
COMMENT ON FUNCTION mailqueue.message_source(uuid, uuid) IS
    'One mail of a project as JSON, with everything its message is built from; NULL where there is none.';

-- Accepted and rolled back at once, whatever the caller does afterwards: no worker is woken, nothing is counted.
CREATE OR REPLACE FUNCTION mailqueue.try_email(p_project text, p_message jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_taking(p_project);
    v_found jsonb;
    b record;
    e record;
    l mailqueue.lanes;
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    BEGIN
        SELECT x.* INTO b
          FROM mailqueue.accept_batch(p_project, jsonb_build_array(p_message - 'idempotency_key')) AS x;
        v_found := jsonb_build_object('status', b.status, 'reason', b.reason);
        IF b.id IS NOT NULL THEN
            SELECT x.lane_id, x.priority, x.run_at, x.expires_at, x.delivery INTO e FROM (
                SELECT q.lane_id, q.priority, q.run_at, q.expires_at, q.delivery FROM mailqueue.email_queue AS q
                 WHERE q.id = b.id
                UNION ALL SELECT h.lane_id, h.priority, NULL, h.expires_at, h.delivery FROM mailqueue.email_history AS h
                           WHERE h.id = b.id) AS x;
            SELECT x.* INTO l FROM mailqueue.lanes AS x WHERE x.id = e.lane_id;
            v_found := v_found || jsonb_build_object('letter', mailqueue.message_source(v_project, b.id),
                'priority', (ARRAY['critical', 'high', 'normal', 'low'])[e.priority + 1], 'scheduled_at', e.run_at,
                'expires_at', e.expires_at, 'delivery', e.delivery,
                'rule', (SELECT r.position FROM mailqueue.routing_rules AS r WHERE r.id = l.rule_id),
                'limit',
                (SELECT jsonb_build_object('daily_limit', h.daily_limit, 'sent', h.sent, 'reserved', h.reserved,
                                           'headroom', h.headroom,
                                           'why', mailqueue.limit_words(coalesce(h.why, w.why), h.daily_limit), 'until',
                                           nullif(CASE WHEN h.why IS NULL THEN w.until ELSE h.until END, 'infinity'))
                   FROM mailqueue.headroom(ARRAY[l.project_limit], clock_timestamp()) AS h
                   LEFT JOIN LATERAL (SELECT 'outside_window' AS why, h.low_opens_at AS until
                                       WHERE e.priority = 3 AND h.low_opens_at IS NOT NULL) AS w ON true),
                'senders',
                (SELECT jsonb_agg(jsonb_build_object('name', a.name, 'provider', a.provider, 'daily_limit',
                                                     h.daily_limit, 'sent', h.sent,
                                                     'headroom', h.headroom, 'why',
                                                     mailqueue.limit_words(h.why, h.daily_limit), 'until',
                                                     nullif(h.until, 'infinity'))
                                  ORDER BY array_position(l.account_limits, h.limit_id))
                   FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS h
                   JOIN mailqueue.sender_accounts AS a ON a.id = h.sender_account_id));
        END IF;
        RAISE EXCEPTION 'taken back' USING ERRCODE = 'MQ001';
    EXCEPTION WHEN SQLSTATE 'MQ001' THEN
        RETURN v_found;
    END;
END $$;
COMMENT ON FUNCTION mailqueue.try_email(text, jsonb) IS
    'Dry run of accepting a mail: accepted or not, its route and limits, its recipients, the source of its message. '
    'Nothing is stored.';
