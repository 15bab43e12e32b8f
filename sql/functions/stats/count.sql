-- Facts become counts: by dimension and minute, and of these by quarter of an hour.

-- Project 00000000-0000-0000-0000-000000000000 stands for all projects together. Values of a dimension that a tenant
-- can make many of have a row of their own up to a number each day; others share the row of the value ''. A value with
-- an address in it has none. Ids of templates and accounts belong to one project: all projects need no rows of them.
CREATE OR REPLACE FUNCTION mailqueue.stats_rows(p_facts mailqueue.stats_fact[]) RETURNS SETOF mailqueue.stats_minutes
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
BEGIN
    RETURN QUERY
    WITH fact AS (
        SELECT date_trunc('minute', f.at) AS minute, f.project_id, f.is_test, f.campaign, f.template, f.version,
               f.category, f.tags, f.account, f.domain, f.link, f.origin, f.variant, f.metric, sum(f.n) AS n
          FROM unnest(p_facts) AS f
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    ), split AS (
        SELECT f.*, d.is_shared, d.dimension, d.value, d.value2
          FROM fact AS f
          LEFT JOIN mailqueue.stats_accounts AS a ON a.sender_account_id = f.account
         CROSS JOIN LATERAL (
                SELECT true AS is_shared, 'total' AS dimension, '' AS value, '' AS value2
                UNION ALL SELECT true, 'campaign', f.campaign, '' WHERE f.campaign IS NOT NULL
                UNION ALL SELECT false, 'template', f.template::text, '' WHERE f.template IS NOT NULL
                UNION ALL SELECT false, 'version', f.version::text, '' WHERE f.version IS NOT NULL
                UNION ALL SELECT false, 'variant', f.variant, '' WHERE f.variant IS NOT NULL
                UNION ALL SELECT true, 'category', f.category, '' WHERE f.category IS NOT NULL
                UNION ALL SELECT DISTINCT true, 'tag', t.tag, '' FROM unnest(f.tags) AS t(tag) WHERE t.tag <> ''
                UNION ALL SELECT false, 'account', f.account::text, '' WHERE f.account IS NOT NULL
                UNION ALL SELECT true, 'provider', a.provider, '' WHERE a.provider IS NOT NULL
                UNION ALL SELECT true, 'domain', f.domain, '' WHERE f.domain IS NOT NULL
                UNION ALL SELECT true, 'provider_domain', a.provider, f.domain
                           WHERE a.provider IS NOT NULL AND f.domain IS NOT NULL
                UNION ALL SELECT false, 'version_link', f.version::text, f.link
                           WHERE f.version IS NOT NULL AND f.link IS NOT NULL
                UNION ALL SELECT true, x.key, x.value, '' FROM jsonb_each_text(f.origin) AS x) AS d
    ), owned AS (
        SELECT s.* FROM split AS s
        UNION ALL
        SELECT s.minute, '00000000-0000-0000-0000-000000000000', s.is_test, s.campaign, s.template, s.version,
               s.category, s.tags, s.account, s.domain, s.link, s.origin, s.variant, s.metric, s.n, s.is_shared,
               s.dimension, s.value, s.value2
          FROM split AS s WHERE s.is_shared
    )
    SELECT o.project_id, o.is_test, o.dimension,
           CASE WHEN n.is_named THEN o.value ELSE '' END, CASE WHEN n.is_named THEN o.value2 ELSE '' END, o.minute,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'accepted'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'sent'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'failed'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'expired'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'suppressed'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'cancelled'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'delivered'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'soft_bounces'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'hard_bounces'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'complaints'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'unsubscribes'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'opens'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'unique_opens'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'machine_opens'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'unique_machine_opens'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'clicks'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'unique_clicks'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'machine_clicks'), 0)::bigint,
           coalesce(sum(o.n) FILTER (WHERE o.metric = 'unique_machine_clicks'), 0)::bigint
      FROM owned AS o
     CROSS JOIN LATERAL (
            SELECT o.dimension IN ('total', 'account', 'provider')
                   OR EXISTS (SELECT FROM mailqueue.stats_values AS v
                               WHERE v.project_id = o.project_id AND v.is_test = o.is_test
                                 AND v.day = (o.minute AT TIME ZONE 'UTC')::date AND v.dimension = o.dimension
                                 AND v.value = o.value AND v.value2 = o.value2) AS is_named) AS n
     GROUP BY 1, 2, 3, 4, 5, 6;
END $$;
COMMENT ON FUNCTION mailqueue.stats_rows(mailqueue.stats_fact[]) IS
    'The counts of facts by minute and dimension, under the values that have rows of their own.';

CREATE OR REPLACE FUNCTION mailqueue.name_stats_values(p_facts mailqueue.stats_fact[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
DECLARE
    c_most CONSTANT integer := 500;                          -- values of a dimension, project and day
BEGIN
    INSERT INTO mailqueue.stats_accounts (sender_account_id, project_id, name, provider)
    SELECT a.id, a.project_id, a.name, a.provider
      FROM (SELECT DISTINCT f.account FROM unnest(p_facts) AS f WHERE f.account IS NOT NULL) AS x
      JOIN mailqueue.sender_accounts AS a ON a.id = x.account
     WHERE NOT EXISTS (SELECT FROM mailqueue.stats_accounts AS o WHERE o.sender_account_id = a.id)
    ON CONFLICT DO NOTHING;
    UPDATE mailqueue.stats_accounts AS a SET tells_since = d.at
      FROM (SELECT f.account, min(f.at) AS at FROM unnest(p_facts) AS f
             WHERE f.metric = 'delivered' AND f.n > 0 GROUP BY f.account) AS d
     WHERE a.sender_account_id = d.account AND a.tells_since IS NULL;

    WITH fact AS (
        SELECT DISTINCT (f.at AT TIME ZONE 'UTC')::date AS day, f.project_id, f.is_test, f.campaign, f.template,
               f.version, f.category, f.tags, f.account, f.domain, f.link, f.origin, f.variant
          FROM unnest(p_facts) AS f
    ), split AS (
        SELECT DISTINCT f.day, p.id AS project_id, f.is_test, d.dimension, d.value, d.value2
          FROM fact AS f
          LEFT JOIN mailqueue.stats_accounts AS a ON a.sender_account_id = f.account
         CROSS JOIN LATERAL (
                SELECT true AS is_shared, 'campaign' AS dimension, f.campaign AS value, '' AS value2
                UNION ALL SELECT false, 'template', f.template::text, ''
                UNION ALL SELECT false, 'version', f.version::text, ''
                UNION ALL SELECT false, 'variant', f.variant, ''
                UNION ALL SELECT true, 'category', f.category, ''
                UNION ALL SELECT true, 'tag', t.tag, '' FROM unnest(f.tags) AS t(tag) WHERE t.tag <> ''
                UNION ALL SELECT true, 'domain', f.domain, ''
                UNION ALL SELECT true, 'provider_domain', a.provider, f.domain
                UNION ALL SELECT false, 'version_link', f.version::text, f.link
                UNION ALL SELECT true, x.key, x.value, '' FROM jsonb_each_text(f.origin) AS x) AS d
         CROSS JOIN LATERAL (SELECT f.project_id AS id
                             UNION ALL
                             SELECT '00000000-0000-0000-0000-000000000000' WHERE d.is_shared) AS p
         WHERE d.value IS NOT NULL AND d.value2 IS NOT NULL AND d.value !~ '@|%40' AND length(d.value) <= 300
    ), fresh AS (
        SELECT s.*, row_number() OVER (PARTITION BY s.project_id, s.is_test, s.day, s.dimension
                                       ORDER BY s.value COLLATE "C", s.value2 COLLATE "C") AS n
          FROM split AS s
         WHERE NOT EXISTS (SELECT FROM mailqueue.stats_values AS v
                            WHERE v.project_id = s.project_id AND v.is_test = s.is_test AND v.day = s.day
                              AND v.dimension = s.dimension AND v.value = s.value AND v.value2 = s.value2)
    ), taken AS (
        SELECT d.*, (SELECT count(*) FROM mailqueue.stats_values AS v
                      WHERE v.project_id = d.project_id AND v.is_test = d.is_test AND v.day = d.day
                        AND v.dimension = d.dimension) AS values
          FROM (SELECT DISTINCT f.project_id, f.is_test, f.day, f.dimension FROM fresh AS f) AS d
    )
    INSERT INTO mailqueue.stats_values (project_id, is_test, day, dimension, value, value2)
    SELECT f.project_id, f.is_test, f.day, f.dimension, f.value, f.value2
      FROM fresh AS f JOIN taken AS t USING (project_id, is_test, day, dimension)
     WHERE t.values + f.n <= c_most;
END $$;
COMMENT ON FUNCTION mailqueue.name_stats_values(mailqueue.stats_fact[]) IS
    'Give values that facts name rows of their own, as long as fewer than 500 of the dimension have one on the day.';

CREATE OR REPLACE FUNCTION mailqueue.add_stats(p_facts mailqueue.stats_fact[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
DECLARE
    v_rows mailqueue.stats_minutes[];
BEGIN
    PERFORM mailqueue.name_stats_values(p_facts);
    SELECT array_agg(r) INTO v_rows FROM mailqueue.stats_rows(p_facts) AS r
     WHERE (r.accepted, r.sent, r.failed, r.expired, r.suppressed, r.cancelled, r.delivered, r.soft_bounces,
            r.hard_bounces, r.complaints, r.unsubscribes, r.opens, r.unique_opens, r.machine_opens,
            r.unique_machine_opens, r.clicks, r.unique_clicks, r.machine_clicks, r.unique_machine_clicks)
           <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    INSERT INTO mailqueue.stats_minutes AS s
    SELECT r.* FROM unnest(v_rows) AS r
    ON CONFLICT ON CONSTRAINT stats_minutes_pkey DO UPDATE
       SET accepted = s.accepted + excluded.accepted, sent = s.sent + excluded.sent, failed = s.failed +
           excluded.failed, expired = s.expired + excluded.expired, suppressed = s.suppressed + excluded.suppressed,
           cancelled = s.cancelled + excluded.cancelled, delivered = s.delivered + excluded.delivered, soft_bounces
           = s.soft_bounces + excluded.soft_bounces, hard_bounces = s.hard_bounces + excluded.hard_bounces,
           complaints = s.complaints + excluded.complaints, unsubscribes = s.unsubscribes + excluded.unsubscribes,
           opens = s.opens + excluded.opens, unique_opens = s.unique_opens + excluded.unique_opens, machine_opens =
           s.machine_opens + excluded.machine_opens, unique_machine_opens = s.unique_machine_opens +
           excluded.unique_machine_opens, clicks = s.clicks + excluded.clicks, unique_clicks = s.unique_clicks +
           excluded.unique_clicks, machine_clicks = s.machine_clicks + excluded.machine_clicks,
           unique_machine_clicks = s.unique_machine_clicks + excluded.unique_machine_clicks;
    INSERT INTO mailqueue.stats_quarters AS s
    SELECT r.project_id, r.is_test, r.dimension, r.value, r.value2, mailqueue.stats_quarter(r.started_at),
           sum(r.accepted), sum(r.sent), sum(r.failed), sum(r.expired), sum(r.suppressed), sum(r.cancelled),
           sum(r.delivered), sum(r.soft_bounces), sum(r.hard_bounces), sum(r.complaints), sum(r.unsubscribes),
           sum(r.opens), sum(r.unique_opens), sum(r.machine_opens), sum(r.unique_machine_opens), sum(r.clicks),
           sum(r.unique_clicks), sum(r.machine_clicks), sum(r.unique_machine_clicks)
      FROM unnest(v_rows) AS r
     GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT ON CONSTRAINT stats_quarters_pkey DO UPDATE
       SET accepted = s.accepted + excluded.accepted, sent = s.sent + excluded.sent, failed = s.failed +
           excluded.failed, expired = s.expired + excluded.expired, suppressed = s.suppressed + excluded.suppressed,
           cancelled = s.cancelled + excluded.cancelled, delivered = s.delivered + excluded.delivered, soft_bounces
           = s.soft_bounces + excluded.soft_bounces, hard_bounces = s.hard_bounces + excluded.hard_bounces,
           complaints = s.complaints + excluded.complaints, unsubscribes = s.unsubscribes + excluded.unsubscribes,
           opens = s.opens + excluded.opens, unique_opens = s.unique_opens + excluded.unique_opens, machine_opens =
           s.machine_opens + excluded.machine_opens, unique_machine_opens = s.unique_machine_opens +
           excluded.unique_machine_opens, clicks = s.clicks + excluded.clicks, unique_clicks = s.unique_clicks +
           excluded.unique_clicks, machine_clicks = s.machine_clicks + excluded.machine_clicks,
           unique_machine_clicks = s.unique_machine_clicks + excluded.unique_machine_clicks;
END $$;
COMMENT ON FUNCTION mailqueue.add_stats(mailqueue.stats_fact[]) IS 'Add facts to the counts.';

CREATE OR REPLACE FUNCTION mailqueue.stats_quarter(p_at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT date_bin('15 min', p_at, '2000-01-01 00:00:00+00') $$;
COMMENT ON FUNCTION mailqueue.stats_quarter(timestamptz) IS 'Start of the quarter of an hour of a time.';

CREATE OR REPLACE FUNCTION mailqueue.latency_class(p_ms integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT c.bounds[least(width_bucket(p_ms - 1, c.bounds) + 1, cardinality(c.bounds))]
      FROM (SELECT ARRAY[1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 79, 100, 126, 158, 200, 251, 316, 398,
                         501, 631, 794, 1000, 1259, 1585, 1995, 2512, 3162, 3981, 5012, 6310, 7943, 10000, 12589, 15849,
                         19953, 25119, 31623, 39811, 50119, 63096, 79433, 100000, 125893, 158489, 199526, 251189,
                         316228, 398107, 501187, 600000] AS bounds) AS c
$$;
COMMENT ON FUNCTION mailqueue.latency_class(integer) IS
    'Upper bound in milliseconds of the class that a response time belongs to: ten classes for each power of ten.';
