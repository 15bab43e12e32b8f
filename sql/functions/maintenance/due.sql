-- Changes that are due by time: days that are over, keys that expired, warm-ups that are finished.

-- Claims roll over the days of the limits they use; without this an idle account would show yesterday's counts for
-- ever.
CREATE OR REPLACE FUNCTION mailqueue.roll_days_over() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    m record;
    v_now timestamptz := clock_timestamp();
    v_rolled integer := 0;
BEGIN
    FOR m IN SELECT x.id, x.time_zone FROM mailqueue.limits AS x WHERE x.project_id IS NOT NULL ORDER BY x.id LOOP
        CONTINUE WHEN NOT EXISTS (
            SELECT
              FROM (SELECT c.* FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id ORDER BY c.rev DESC
                     LIMIT 1) AS n
             WHERE n.day < (v_now AT TIME ZONE m.time_zone)::date
               AND (n.sent, n.reserved, n.bounces, n.errors) <> (0, 0, 0, 0));
        -- A claim holds it: it rolls the day over itself.
        PERFORM FROM mailqueue.limits AS x WHERE x.id = m.id FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        PERFORM mailqueue.reserve(m.id, (v_now AT TIME ZONE m.time_zone)::date, 0, v_now);
        v_rolled := v_rolled + 1;
    END LOOP;
    RETURN v_rolled;
END $$;
COMMENT ON FUNCTION mailqueue.roll_days_over() IS
    'Move counters of past days to limit_days, for accounts and projects without claims; returns their number.';

CREATE OR REPLACE FUNCTION mailqueue.expire_api_keys(p_by text) RETURNS TABLE (project text, name text)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH over AS (
        UPDATE mailqueue.api_keys AS k SET revoked_at = k.expires_at
         WHERE k.revoked_at IS NULL AND k.expires_at <= clock_timestamp()
        RETURNING k.id, k.project_id, k.name, k.expires_at
    ), told AS (
        SELECT mailqueue.record_operation(o.project_id, 'api_key.expired', o.name,
                                          jsonb_build_object('expires_at', o.expires_at), p_by)
          FROM over AS o
    )
    SELECT p.name, o.name FROM over AS o
      JOIN mailqueue.projects AS p ON p.id = o.project_id, (SELECT count(*) FROM told) AS t ORDER BY 1, 2
$$;
COMMENT ON FUNCTION mailqueue.expire_api_keys(text) IS
    'Mark expired keys as revoked, each with an audit row; returns them.';

CREATE OR REPLACE FUNCTION mailqueue.end_warm_ups(p_by text) RETURNS TABLE (project text, sender text)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH over AS (
        UPDATE mailqueue.sender_accounts AS a SET warm_up = NULL
         WHERE a.warm_up IS NOT NULL
           AND EXISTS (SELECT FROM mailqueue.limits AS m CROSS JOIN LATERAL mailqueue.headroom_now(m.id) AS h
                        WHERE m.sender_account_id = a.id AND m.warm_up IS NOT NULL AND h.stage IS NULL)
        RETURNING a.project_id, a.name
    ), told AS (
        SELECT mailqueue.record_operation(o.project_id, 'sender.warmed_up', o.name, '{}', p_by) FROM over AS o
    )
    SELECT p.name, o.name FROM over AS o
      JOIN mailqueue.projects AS p ON p.id = o.project_id, (SELECT count(*) FROM told) AS t ORDER BY 1, 2
$$;
COMMENT ON FUNCTION mailqueue.end_warm_ups(text) IS
    'End the warm-up of accounts that finished its last stage; returns them. Earlier stages advance by themselves.';

CREATE OR REPLACE FUNCTION mailqueue.is_table_empty(p_name text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_empty boolean;
BEGIN
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM mailqueue.%I)', p_name) INTO v_empty;
    RETURN v_empty;
END $$;
COMMENT ON FUNCTION mailqueue.is_table_empty(text) IS 'Whether a table of the schema has no row.';
