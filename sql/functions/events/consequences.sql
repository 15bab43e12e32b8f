-- Consequences of events: lists of bounces and complaints, suppressions, notices.
--
-- The result does not depend on the order or repetition of events: it is computed from all events of an address, under
-- the lock of its row, and only ever escalates.
--
-- Addresses are processed in order, each with all its rows, so that transactions cannot deadlock.

CREATE OR REPLACE FUNCTION mailqueue.apply_events(p_events mailqueue.email_events[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    a record;
BEGIN
    FOR a IN
        SELECT e.project_id, lower(e.recipient_email) AS address,
               count(*) FILTER (WHERE b.is_bounce)::integer AS bounces,
               min(e.occurred_at) FILTER (WHERE b.is_bounce) AS first_at,
               max(e.occurred_at) FILTER (WHERE b.is_bounce) AS last_at,
               (array_agg(CASE e.type WHEN 'soft_bounce' THEN 'soft' WHEN 'complaint' THEN 'complaint' ELSE 'hard' END
                          ORDER BY array_position(ARRAY['soft_bounce', 'hard_bounce', 'complaint'],
                                                  e.type) DESC) FILTER (WHERE b.is_bounce))[1] AS type,
               bool_or(e.type = 'soft_bounce') AS is_soft,
               bool_or(e.suppresses IS NOT NULL AND e.suppresses <> 'unsubscribed') AS is_suppressing,
               array_agg(DISTINCT e.email_id) FILTER (WHERE e.suppresses = 'unsubscribed') AS unsubscribed
          FROM unnest(p_events) AS e
         CROSS JOIN LATERAL (SELECT e.type IN ('soft_bounce', 'hard_bounce', 'complaint')
                                    AND coalesce(NOT (e.data ->> 'is_about_us')::boolean, true) AS is_bounce) AS b
         WHERE e.recipient_email IS NOT NULL AND NOT e.is_test  -- test mail has no consequences
         GROUP BY e.project_id, lower(e.recipient_email)
         ORDER BY lower(e.recipient_email), e.project_id
    LOOP
        IF a.bounces > 0 THEN
            PERFORM mailqueue.list_bounce(a.project_id, a.address, a.type, a.bounces, a.first_at, a.last_at);
        END IF;
        IF a.unsubscribed IS NOT NULL THEN
            PERFORM mailqueue.unsubscribe_by_events(a.project_id, a.address, a.unsubscribed);
        END IF;
        IF a.is_suppressing OR a.is_soft AND a.bounces > 0 THEN
            PERFORM mailqueue.suppress_by_events(a.project_id, a.address);
        END IF;
    END LOOP;
    INSERT INTO mailqueue.rate_signals (sender_account_id)
    SELECT DISTINCT e.sender_account_id FROM unnest(p_events) AS e
     WHERE e.type IN ('hard_bounce', 'complaint') AND e.sender_account_id IS NOT NULL AND NOT e.is_test;
    INSERT INTO mailqueue.notices (project_id, kind, sender_account_id, email_id, told)
    SELECT e.project_id, 'complaint', min(e.sender_account_id), e.email_id, 'a recipient complained about a mail'
      FROM unnest(p_events) AS e WHERE e.type = 'complaint' AND NOT e.is_test GROUP BY e.project_id, e.email_id
     ORDER BY e.email_id
    ON CONFLICT (email_id) WHERE kind = 'complaint' DO NOTHING;
END $$;
COMMENT ON FUNCTION mailqueue.apply_events(mailqueue.email_events[]) IS
    'Write the consequences of bounces, complaints and refusals by providers.';

-- The row has the most severe kind, and of that kind the latest event.
CREATE OR REPLACE FUNCTION mailqueue.list_bounce(p_project uuid, p_address text, p_type text, p_count integer,
    p_first timestamptz, p_last timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_types text[] := ARRAY['soft', 'hard', 'complaint'];
    w record;
BEGIN
    -- Locks the row: the reads below see what the previous holder wrote.
    INSERT INTO mailqueue.bounce_list AS b (project_id, project, email, bounce_type, bounce_count, first_bounced_at,
                                            last_bounced_at)
    VALUES (p_project, NULL, p_address, 'soft', p_count, p_first, p_last)
    ON CONFLICT (project_id, email) DO UPDATE
       SET bounce_count = b.bounce_count + p_count,
           first_bounced_at = least(b.first_bounced_at, p_first), last_bounced_at = greatest(b.last_bounced_at, p_last);
    SELECT e.detail, e.code, e.sender_account_id, e.email_id, m.campaign_id INTO w
      FROM mailqueue.email_events AS e
      LEFT JOIN LATERAL (SELECT h.campaign_id FROM mailqueue.email_history AS h WHERE h.id = e.email_id
                         UNION ALL SELECT q.campaign_id FROM mailqueue.email_queue AS q WHERE q.id = e.email_id
                                    LIMIT 1) AS m
           ON true
     WHERE e.project_id = p_project AND lower(e.recipient_email) = p_address
       AND (e.suppresses IS NOT NULL OR e.type = 'soft_bounce') AND NOT e.is_test
       AND e.type IN ('soft_bounce', 'hard_bounce', 'complaint')
       AND coalesce(NOT (e.data ->> 'is_about_us')::boolean, true)
     ORDER BY array_position(ARRAY['soft_bounce', 'hard_bounce', 'complaint'], e.type) DESC, e.occurred_at DESC,
              e.detail COLLATE "C" DESC NULLS LAST, e.code COLLATE "C" DESC NULLS LAST, e.email_id DESC LIMIT 1;
    UPDATE mailqueue.bounce_list AS b
       SET bounce_type = v_types[greatest(array_position(v_types, b.bounce_type), array_position(v_types, p_type))],
           bounce_reason = w.detail, bounce_code = w.code, sender_account_id = w.sender_account_id,
           campaign_id = w.campaign_id, email_id = w.email_id
     WHERE b.project_id = p_project AND b.email = mailqueue.address_key(p_address);
END $$;
COMMENT ON FUNCTION mailqueue.list_bounce(uuid, text, text, integer, timestamptz, timestamptz) IS
    'Count bounces of an address; a trigger suppresses the address for a hard bounce or a complaint.';

-- Transactional mail continues: for a category that cannot be unsubscribed from, the unsubscribe applies to marketing.
CREATE OR REPLACE FUNCTION mailqueue.unsubscribe_by_events(p_project uuid, p_address text, p_emails uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
BEGIN
    INSERT INTO mailqueue.unsubscribe_list AS u (project_id, project, email, category, unsubscribe_reason, campaign_id,
                                                 unsubscribed_at)
    SELECT p_project, NULL, p_address, c.category, 'reported by the provider', min(m.campaign_id), min(e.occurred_at)
      FROM mailqueue.email_events AS e
     CROSS JOIN LATERAL (SELECT h.category, h.campaign_id FROM mailqueue.email_history AS h WHERE h.id = e.email_id
                         UNION ALL SELECT q.category, q.campaign_id FROM mailqueue.email_queue AS q
                                    WHERE q.id = e.email_id LIMIT 1) AS m
     CROSS JOIN LATERAL (SELECT CASE WHEN m.category IN ('transactional', 'system') THEN 'marketing'
                                     ELSE m.category END AS category) AS c
     WHERE e.email_id = ANY (p_emails) AND e.suppresses = 'unsubscribed' AND lower(e.recipient_email) = p_address
     GROUP BY c.category ORDER BY c.category
    ON CONFLICT (project_id, email, category)
        DO UPDATE SET unsubscribed_at = least(u.unsubscribed_at, excluded.unsubscribed_at);
END $$;
COMMENT ON FUNCTION mailqueue.unsubscribe_by_events(uuid, text, uuid[]) IS
    'Record an unsubscribe reported by the provider, for the category of the mail.';

-- The reason of the highest rank, with the details of the first event that gave it.
CREATE OR REPLACE FUNCTION mailqueue.suppress_by_events(p_project uuid, p_address text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    w record;
BEGIN
    -- The first statement locks the row, the second sees what the previous holder wrote.
    FOR i IN 1..2 LOOP
        SELECT e.suppresses AS reason, e.detail, e.email_id INTO w
          FROM mailqueue.email_events AS e
         WHERE e.project_id = p_project AND lower(e.recipient_email) = p_address
           AND (e.suppresses IS NOT NULL OR e.type = 'soft_bounce') AND NOT e.is_test
           AND e.suppresses <> 'unsubscribed'
         ORDER BY mailqueue.suppression_rank(e.suppresses) DESC, e.occurred_at, e.detail COLLATE "C", e.email_id
         LIMIT 1;
        IF NOT FOUND THEN
            SELECT 'soft_bounce_threshold' AS reason,
                   format('%s soft bounces within %s days', p.soft_bounce_limit, p.soft_bounce_days) AS detail,
                   NULL::uuid AS email_id
              INTO w
              FROM mailqueue.projects AS p
             WHERE p.id = p_project AND p.soft_bounce_limit > 0
               AND mailqueue.bounced_too_often(p_project, p_address, p.soft_bounce_limit, p.soft_bounce_days);
        END IF;
        EXIT WHEN NOT FOUND;
        IF i = 1 THEN
            PERFORM mailqueue.suppress(p_project, p_address, '', w.reason, w.detail, w.email_id, 'event');
        END IF;
        UPDATE mailqueue.suppressions AS s SET reason = w.reason, source = 'event'
         WHERE s.project_id = p_project AND s.address = mailqueue.address_key(p_address) AND s.category = ''
           AND mailqueue.suppression_rank(w.reason) > mailqueue.suppression_rank(s.reason);
        UPDATE mailqueue.suppressions AS s SET detail = w.detail, email_id = w.email_id, source = 'event'
         WHERE s.project_id = p_project AND s.address = mailqueue.address_key(p_address) AND s.category = ''
           AND s.reason = w.reason AND s.source IN ('event', 'bounce')
           AND (s.detail, s.email_id, s.source) IS DISTINCT FROM (w.detail, w.email_id, 'event');
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.suppress_by_events(uuid, text) IS
    'Suppress an address whose events require it, such as a number of soft bounces; those before the suppression was '
    'last removed do not count.';

CREATE OR REPLACE FUNCTION mailqueue.bounced_too_often(p_project uuid, p_address text, p_limit integer, p_days integer)
RETURNS boolean
LANGUAGE plpgsql STABLE                                      -- plans of SQL functions are made for each call
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM (
            SELECT e.occurred_at, lead(e.occurred_at, p_limit - 1) OVER (ORDER BY e.occurred_at) AS last_at
              FROM mailqueue.email_events AS e
             WHERE e.project_id = p_project AND lower(e.recipient_email) = p_address
               AND (e.suppresses IS NOT NULL OR e.type = 'soft_bounce') AND NOT e.is_test
               AND e.type = 'soft_bounce' AND coalesce(NOT (e.data ->> 'is_about_us')::boolean, true)
               AND e.occurred_at > coalesce((SELECT b.soft_from FROM mailqueue.bounce_list AS b
                                              WHERE b.project_id = p_project
                                                AND b.email = mailqueue.address_key(p_address)),
                                            '-infinity')) AS w
         WHERE w.last_at <= w.occurred_at + make_interval(days => p_days));
END $$;
COMMENT ON FUNCTION mailqueue.bounced_too_often(uuid, text, integer, integer) IS
    'Whether an address had that many soft bounces within that many days.';
