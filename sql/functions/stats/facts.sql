-- What history, log and events say, as facts to be counted: the same for counting, for counting anew and for comparing.
--
-- All three read with the snapshot of the statement that calls them. A fact has the time at which it was written, by
-- which it is found, and the time at which it happened, under which it is counted.

CREATE OR REPLACE FUNCTION mailqueue.first_uuid(p_at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
COMMENT ON FUNCTION mailqueue.first_uuid(timestamptz) IS
    'The lowest id of version 7 that can be made in the millisecond of a time.';

CREATE OR REPLACE FUNCTION mailqueue.uuid_time(p_id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT to_timestamp(('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
COMMENT ON FUNCTION mailqueue.uuid_time(uuid) IS 'The millisecond in which an id of version 7 was made.';

-- Mail that was sent is found by the time in its row. Other outcomes are found by the id of the event that is written
-- with them: mail that is suppressed while it is accepted has the time at which its transaction began.
-- Of mail that was queued again and had an outcome since, only the latest counts: the row of history is that one's.
CREATE OR REPLACE FUNCTION mailqueue.stats_written(p_from timestamptz, p_until timestamptz, OUT ids uuid[],
    OUT times timestamptz[], OUT known timestamptz[], OUT events uuid[], OUT event_times timestamptz[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan
SET jit = off
AS $$
BEGIN
    SELECT array_agg(o.id), array_agg(o.finished_at), array_agg(o.known_at) INTO ids, times, known
      FROM (SELECT h.id, h.finished_at, h.finished_at AS known_at FROM mailqueue.email_history AS h
             WHERE h.finished_at >= p_from AND h.finished_at < p_until AND h.status = 'sent'
            UNION ALL
            SELECT h.id, h.finished_at, mailqueue.uuid_time(e.id)
              FROM (SELECT v.email_id, v.type, max(v.id::text)::uuid AS id FROM mailqueue.email_events AS v
                     WHERE v.id >= mailqueue.first_uuid(p_from) AND v.id < mailqueue.first_uuid(p_until)
                       AND v.type IN ('failed', 'expired', 'suppressed', 'cancelled') AND v.source IS NULL
                     GROUP BY v.email_id, v.type) AS e
              JOIN mailqueue.email_history AS h ON h.id = e.email_id AND h.status = e.type
             WHERE NOT EXISTS (SELECT FROM mailqueue.email_events AS x
                                WHERE x.email_id = e.email_id AND x.type = e.type AND x.source IS NULL
                                  AND x.id > e.id)) AS o;
    SELECT array_agg(v.id), array_agg(v.occurred_at) INTO events, event_times
      FROM mailqueue.email_events AS v
     WHERE v.id >= mailqueue.first_uuid(p_from) AND v.id < mailqueue.first_uuid(p_until)
       AND v.type IN ('delivered', 'soft_bounce', 'hard_bounce', 'complaint', 'unsubscribed', 'opened', 'clicked');
END $$;
COMMENT ON FUNCTION mailqueue.stats_written(timestamptz, timestamptz) IS
    'Finished mail and events that were written within a time; both ends are whole milliseconds.';

CREATE OR REPLACE FUNCTION mailqueue.origin_of(p_type text, p_data jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN p_type IN ('opened', 'clicked') THEN nullif(jsonb_strip_nulls(jsonb_build_object(
               'country', p_data ->> 'country', 'city', (p_data ->> 'city') || ', ' || (p_data ->> 'country'),
               'client', p_data ->> 'client', 'system', p_data ->> 'system', 'device', p_data ->> 'device')), '{}') END
$$;
COMMENT ON FUNCTION mailqueue.origin_of(text, jsonb) IS
    'The country, city, client, system and device of an open or click, as dimensions of counts; NULL: none is known.';

-- An event counts for its mail once: the first by id, of its type, by people and by programs apart. p_flipped: clicks
-- that are taken as made by people whatever their rows say.
CREATE OR REPLACE FUNCTION mailqueue.stats_facts(p_ids uuid[], p_times timestamptz[], p_known timestamptz[],
    p_events uuid[], p_event_times timestamptz[], p_flipped uuid[] DEFAULT '{}')
RETURNS SETOF mailqueue.stats_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
BEGIN
    RETURN QUERY
    WITH outcome AS MATERIALIZED (
        SELECT i.known_at, h.id, h.project_id, h.is_test, h.created_at, h.finished_at, h.status, h.assigned_to,
               h.campaign_id, h.category, h.tags, nullif(mailqueue.domain_of(h.recipient_email), '') AS domain,
               t.template_id, c.template_version_id, c.variant
          FROM unnest(p_ids, p_times, p_known) AS i(id, at, known_at)
          JOIN mailqueue.email_history AS h ON h.id = i.id AND h.finished_at = i.at
          LEFT JOIN mailqueue.email_contents AS c ON c.id = h.content_id AND c.created_on = h.content_on
          LEFT JOIN mailqueue.template_versions AS t ON t.id = c.template_version_id
    ), event AS MATERIALIZED (
        SELECT v.id, v.occurred_at, v.project_id, v.email_id, v.is_test, v.type, v.sender_account_id, m.is_machine,
               v.data ->> 'link' AS link, mailqueue.origin_of(v.type, v.data) AS origin,
               NOT EXISTS (SELECT FROM mailqueue.email_events AS x
                            WHERE x.email_id = v.email_id AND x.type = v.type AND x.id < v.id
                              AND (coalesce(x.data -> 'is_machine' = 'true', false) AND x.id <> ALL (p_flipped))
                                  = m.is_machine) AS is_first
          FROM unnest(p_events, p_event_times) AS i(id, at)
          JOIN mailqueue.email_events AS v ON v.id = i.id AND v.occurred_at = i.at
         CROSS JOIN LATERAL (SELECT coalesce(v.data -> 'is_machine' = 'true', false) AND v.id <> ALL (p_flipped)
                                    AS is_machine) AS m
    ), mail AS MATERIALIZED (
        SELECT e.email_id, m.campaign_id, m.category, m.tags,
               nullif(mailqueue.domain_of(m.recipient_email), '') AS domain,
               t.template_id, c.template_version_id, c.variant
          FROM (SELECT DISTINCT v.email_id FROM event AS v) AS e
         CROSS JOIN LATERAL (
                SELECT h.recipient_email, h.campaign_id, h.category, h.tags, h.content_id, h.content_on
                  FROM mailqueue.email_history AS h WHERE h.id = e.email_id
                UNION ALL
                SELECT q.recipient_email, q.campaign_id, q.category, q.tags, q.content_id, q.content_on
                  FROM mailqueue.email_queue AS q WHERE q.id = e.email_id LIMIT 1) AS m
          LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
          LEFT JOIN mailqueue.template_versions AS t ON t.id = c.template_version_id
    ), fact AS (
        SELECT o.known_at, s.at, o.project_id, o.is_test, o.campaign_id, o.category, o.tags, o.assigned_to,
               o.domain, NULL AS link, NULL::jsonb AS origin, s.metric, o.template_id, o.template_version_id, o.variant
          FROM outcome AS o
         CROSS JOIN LATERAL (VALUES (o.created_at, 'accepted'), (o.finished_at, o.status)) AS s(at, metric)
        UNION ALL
        SELECT mailqueue.uuid_time(e.id), e.occurred_at, e.project_id, e.is_test, m.campaign_id, m.category, m.tags,
               e.sender_account_id, m.domain, e.link, e.origin, s.metric, m.template_id, m.template_version_id,
               m.variant
          FROM event AS e LEFT JOIN mail AS m ON m.email_id = e.email_id
         CROSS JOIN LATERAL (
                SELECT CASE e.type WHEN 'delivered' THEN 'delivered' WHEN 'soft_bounce' THEN 'soft_bounces'
                                   WHEN 'hard_bounce' THEN 'hard_bounces' WHEN 'complaint' THEN 'complaints'
                                   WHEN 'unsubscribed' THEN 'unsubscribes' END AS metric
                 WHERE e.is_first AND e.type NOT IN ('opened', 'clicked')
                UNION ALL
                SELECT w.prefix || CASE e.type WHEN 'opened' THEN 'opens' ELSE 'clicks' END
                  FROM (SELECT CASE WHEN e.is_machine THEN 'machine_' ELSE '' END AS prefix, true AS counts
                        UNION ALL
                        SELECT CASE WHEN e.is_machine THEN 'unique_machine_' ELSE 'unique_' END, e.is_first) AS w
                 WHERE w.counts AND e.type IN ('opened', 'clicked')) AS s
    )
    SELECT f.known_at, f.at, f.project_id, f.is_test, nullif(f.campaign_id, ''), f.template_id, f.template_version_id,
           nullif(f.category, ''), f.tags, f.assigned_to, f.domain, f.link, f.metric, 1, f.origin, f.variant
      FROM fact AS f;
END $$;
COMMENT ON FUNCTION mailqueue.stats_facts(uuid[], timestamptz[], timestamptz[], uuid[], timestamptz[], uuid[]) IS
    'The facts of finished mail and of events.';

-- The difference that corrections make to what is counted. Mail that was queued again is in the queue, or in history
-- with a later outcome.
CREATE OR REPLACE FUNCTION mailqueue.stats_fixes(p_corrections mailqueue.stats_corrections[])
RETURNS SETOF mailqueue.stats_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
DECLARE
    v_mail record;
    f mailqueue.stats_fact;
    c mailqueue.stats_corrections;
    v_ids uuid[]; v_times timestamptz[]; v_known timestamptz[];
    v_events uuid[]; v_event_times timestamptz[];
BEGIN
    RETURN QUERY
    SELECT x.known_at, s.at, x.project_id, x.is_test, nullif(m.campaign_id, ''), t.template_id, t.id,
           nullif(m.category, ''), m.tags, x.sender_account_id,
           coalesce(x.domain, nullif(mailqueue.domain_of(m.recipient_email), '')),
           NULL::text, s.metric, -1, NULL::jsonb, o.variant
      FROM unnest(p_corrections) AS x
     CROSS JOIN LATERAL (
            SELECT q.recipient_email, q.campaign_id, q.category, q.tags, q.content_id, q.content_on
              FROM mailqueue.email_queue AS q WHERE q.id = x.email_id
            UNION ALL
            SELECT h.recipient_email, h.campaign_id, h.category, h.tags, h.content_id, h.content_on
              FROM mailqueue.email_history AS h WHERE h.id = x.email_id LIMIT 1) AS m
     CROSS JOIN LATERAL (VALUES (x.created_at, 'accepted'), (x.finished_at, x.status)) AS s(at, metric)
      LEFT JOIN mailqueue.email_contents AS o ON o.id = m.content_id AND o.created_on = m.content_on
      LEFT JOIN mailqueue.template_versions AS t ON t.id = o.template_version_id
     WHERE x.kind = 'removed';

    -- A recipient that is erased too still has its domain here; the loop behind changes it.
    FOR v_mail IN
        SELECT x.email_id, array_agg(DISTINCT e.id) AS flipped,
               (SELECT min(y.domain) FROM unnest(p_corrections) AS y
                 WHERE y.kind = 'erased' AND y.email_id = x.email_id) AS domain
          FROM unnest(p_corrections) AS x CROSS JOIN LATERAL unnest(x.event_ids) AS e(id)
         WHERE x.kind = 'judged' GROUP BY x.email_id
    LOOP
        SELECT array_agg(v.id), array_agg(v.occurred_at) INTO v_events, v_event_times
          FROM mailqueue.email_events AS v WHERE v.email_id = v_mail.email_id AND v.type = 'clicked';
        FOR f IN
            SELECT b.* FROM mailqueue.stats_facts('{}', '{}', '{}', v_events, v_event_times, v_mail.flipped) AS b
        LOOP
            f.n := -f.n;
            f.domain := coalesce(v_mail.domain, f.domain);
            RETURN NEXT f;
        END LOOP;
        FOR f IN SELECT a.* FROM mailqueue.stats_facts('{}', '{}', '{}', v_events, v_event_times) AS a LOOP
            f.domain := coalesce(v_mail.domain, f.domain);
            RETURN NEXT f;
        END LOOP;
    END LOOP;

    FOR c IN SELECT * FROM unnest(p_corrections) AS x WHERE x.kind = 'erased' LOOP
        SELECT array_agg(h.id), array_agg(h.finished_at),
               array_agg(CASE h.status WHEN 'sent' THEN h.finished_at ELSE coalesce(mailqueue.uuid_time((
                   SELECT max(v.id::text)::uuid FROM mailqueue.email_events AS v
                    WHERE v.email_id = h.id AND v.type = h.status AND v.source IS NULL)), h.finished_at) END)
          INTO v_ids, v_times, v_known
          FROM mailqueue.email_history AS h WHERE h.id = c.email_id;
        SELECT array_agg(v.id), array_agg(v.occurred_at) INTO v_events, v_event_times
          FROM mailqueue.email_events AS v
         WHERE v.email_id = c.email_id
           AND v.type IN ('delivered', 'soft_bounce', 'hard_bounce', 'complaint', 'unsubscribed', 'opened', 'clicked');
        FOR f IN SELECT * FROM mailqueue.stats_facts(v_ids, v_times, v_known, v_events, v_event_times) LOOP
            RETURN NEXT f;
            f.n := -f.n;
            f.domain := c.domain;
            RETURN NEXT f;
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.stats_fixes(mailqueue.stats_corrections[]) IS
    'The facts that corrections add and take away.';
