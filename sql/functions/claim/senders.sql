-- Lanes and limits follow sender accounts that are added or removed, once a statement, project by project in the order
-- of their ids: two statements that add accounts to the same projects cannot end each other in a deadlock.
--
-- An account that is added is a candidate of the lanes of mail that names none. It has lanes of its own besides; those
-- of the other accounts are neither read nor locked.

CREATE OR REPLACE FUNCTION mailqueue.shared_routes(p_project uuid) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT ARRAY[''] || ARRAY(SELECT DISTINCT l.route FROM mailqueue.lanes AS l
                                WHERE l.project_id = p_project AND l.rule_id = 0)
$$;
COMMENT ON FUNCTION mailqueue.shared_routes(uuid) IS
    'Routes of lanes that every sender account of a project is a candidate of.';

-- As lock_lanes(): a claim that is waited for may have created the lane of a domain.
CREATE OR REPLACE FUNCTION mailqueue.lock_shared_lanes(p_project uuid, p_names text[]) RETURNS integer[]
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_routes text[] := mailqueue.shared_routes(p_project) || p_names;
    v_locked integer[];
    v_before integer[];
BEGIN
    LOOP
        v_locked := ARRAY(SELECT f.id FROM unnest(v_routes) AS r(route)
                           CROSS JOIN LATERAL (
                                 (SELECT x.id FROM generate_series(0, 3) AS p
                                   CROSS JOIN LATERAL (
                                         SELECT y.id FROM mailqueue.lanes AS y
                                          WHERE y.project_id = p_project AND y.priority = p AND y.route = r.route
                                         OFFSET 0) AS x)
                                 UNION ALL
                                 (SELECT x.id FROM mailqueue.lanes AS x
                                   WHERE x.project_id = p_project AND x.home_route = r.route OFFSET 0)) AS f
                           ORDER BY f.id);
        PERFORM FROM mailqueue.lanes AS l WHERE l.id = ANY (v_locked) ORDER BY l.id FOR NO KEY UPDATE;
        EXIT WHEN v_locked = v_before;
        v_before := v_locked;
    END LOOP;
    RETURN v_locked;
END $$;
COMMENT ON FUNCTION mailqueue.lock_shared_lanes(uuid, text[]) IS
    'Lock the lanes that added accounts of these names change, in the order claims take them; returns their ids.';

CREATE OR REPLACE FUNCTION mailqueue.add_lanes(p_project uuid, p_accounts integer[], p_shared integer[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_shared text[];
    v_homes integer[];
    v_weight integer;
    v_limit integer;
    v_candidates integer[];
BEGIN
    v_shared := mailqueue.shared_routes(p_project);
    SELECT x.limits INTO v_candidates FROM mailqueue.candidates_of(p_project) AS x;
    UPDATE mailqueue.lanes AS l SET account_limits = v_candidates
     WHERE l.id = ANY (p_shared) AND l.route = ANY (v_shared)
       AND l.account_limits IS DISTINCT FROM v_candidates;
    SELECT p.weight INTO v_weight FROM mailqueue.projects AS p WHERE p.id = p_project;
    SELECT m.id INTO v_limit FROM mailqueue.limits AS m WHERE m.project_id = p_project AND m.sender_account_id IS NULL;
    WITH own AS (
        INSERT INTO mailqueue.lanes AS l (project_id, priority, route, weight, project_limit, account_limits)
        SELECT p_project, p, a.name, v_weight, v_limit, ARRAY[m.id]
          FROM unnest(p_accounts) AS i(id)
          JOIN mailqueue.sender_accounts AS a ON a.id = i.id
          JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
         CROSS JOIN generate_series(0, 3) AS p
        ON CONFLICT (project_id, priority, route) DO UPDATE SET account_limits = excluded.account_limits
        RETURNING l.id
    )
    SELECT ARRAY(SELECT l.id FROM mailqueue.lanes AS l WHERE l.id = ANY (p_shared) AND l.home_route IS NULL)
           || array_agg(o.id) INTO v_homes FROM own AS o;
    PERFORM mailqueue.make_aside_lanes_of(p_project, v_homes);
    PERFORM mailqueue.make_next_lanes_of(p_project, v_homes);
    UPDATE mailqueue.lanes AS l SET blocked_until = clock_timestamp()
     WHERE l.id = ANY (p_shared) AND l.blocked_until > clock_timestamp()
       AND l.blocked_reason NOT IN ('empty', 'not_due', 'set_aside');
    IF FOUND AND EXISTS (SELECT FROM mailqueue.waiters AS w WHERE w.queue = 'email_queue') THEN
        PERFORM pg_notify('mailqueue_email_queue', '');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.add_lanes(uuid, integer[], integer[]) IS
    'Make the lanes of added accounts, and add them to those that all accounts share, which are locked.';

CREATE OR REPLACE FUNCTION mailqueue.sender_accounts_added() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_shared integer[];
    p record;
BEGIN
    PERFORM mailqueue.check_instant('until', a.status_until, true) FROM added AS a WHERE a.status_until IS NOT NULL;
    PERFORM mailqueue.check_sender_name(a.name) FROM added AS a;
    FOR p IN SELECT a.project_id, array_agg(a.id ORDER BY a.id) AS accounts, array_agg(a.name) AS names,
                    bool_or(a.provider = 'trap') AS has_trap
               FROM added AS a GROUP BY a.project_id ORDER BY a.project_id
    LOOP
        IF p.has_trap THEN                                   -- test mail has lanes too
            PERFORM mailqueue.lock_lanes(p.project_id);
        ELSE
            v_shared := mailqueue.lock_shared_lanes(p.project_id, p.names);
        END IF;
        PERFORM mailqueue.keep_sender_limit(a) FROM mailqueue.sender_accounts AS a
          WHERE a.id = ANY (p.accounts) ORDER BY a.id;
        IF p.has_trap THEN
            PERFORM mailqueue.make_lanes(p.project_id);
        ELSE
            PERFORM mailqueue.add_lanes(p.project_id, p.accounts, v_shared);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.sender_accounts_added() IS
    'AFTER INSERT of sender accounts, once a statement: their limits and lanes.';

CREATE OR REPLACE TRIGGER sender_accounts_added AFTER INSERT ON mailqueue.sender_accounts
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.sender_accounts_added();

-- Mail that named a removed account is in its lanes, or will be, from a producer that has not committed: it is treated
-- like mail of a removed rule and uses the accounts of mail that names none. No account has such a name.
CREATE OR REPLACE FUNCTION mailqueue.sender_accounts_removed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid;
    v_limits integer[];
BEGIN
    FOR v_project IN SELECT DISTINCT r.project_id FROM removed AS r
                       JOIN mailqueue.projects AS p ON p.id = r.project_id ORDER BY r.project_id
    LOOP
        PERFORM mailqueue.lock_lanes(v_project);
        WITH gone AS (
            DELETE FROM mailqueue.limits AS m USING removed AS r
             WHERE m.sender_account_id = r.id AND r.project_id = v_project RETURNING m.id
        )
        SELECT array_agg(g.id) INTO v_limits FROM gone AS g;
        DELETE FROM mailqueue.limit_counters AS c WHERE c.limit_id = ANY (v_limits);
        DELETE FROM mailqueue.limit_days AS d WHERE d.limit_id = ANY (v_limits);
        DELETE FROM mailqueue.limit_windows AS w WHERE w.limit_id = ANY (v_limits);
        UPDATE mailqueue.lanes AS l
           SET route = '(gone) ' || r.id || substr(l.route, length(r.name) + 1),
               home_route = CASE WHEN l.home_route IS NOT NULL THEN '(gone) ' || r.id END,
               rule_id = CASE WHEN l.home_route IS NULL THEN 0 ELSE l.rule_id END
          FROM removed AS r
         WHERE r.project_id = v_project AND l.project_id = v_project AND l.rule_id IS NULL
           AND coalesce(l.home_route, l.route) = r.name;
        PERFORM mailqueue.make_lanes(v_project);
    END LOOP;
    DELETE FROM mailqueue.sender_failures AS f USING removed AS r WHERE f.sender_account_id = r.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.sender_accounts_removed() IS
    'AFTER DELETE of sender accounts, once a statement: their limits go, and mail of their lanes uses the others.';

CREATE OR REPLACE TRIGGER sender_accounts_removed AFTER DELETE ON mailqueue.sender_accounts
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.sender_accounts_removed();
