-- Lanes and limits follow projects and sender accounts by themselves; producers only look them up.

-- The trap serves only projects that have no other account; it is never a fallback. Accounts find their limits by
-- index, whatever statistics say: a project with hundreds of new ones would read all limits for each.
CREATE OR REPLACE FUNCTION mailqueue.candidates_of(p_project uuid, OUT limits integer[], OUT traps integer[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    WITH account AS MATERIALIZED (
        SELECT m.id, a.provider = 'trap' AS is_trap, a.is_fallback, a.priority, a.id AS account
          FROM mailqueue.sender_accounts AS a JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
         WHERE a.project_id = p_project
    )
    SELECT coalesce(array_agg(c.id ORDER BY c.is_fallback, c.priority, c.account) FILTER (WHERE NOT c.is_trap),
                    array_agg(c.id ORDER BY c.account), '{}'),
           coalesce(array_agg(c.id ORDER BY c.priority, c.account) FILTER (WHERE c.is_trap), '{}')
      FROM account AS c
$$;
COMMENT ON FUNCTION mailqueue.candidates_of(uuid) IS
    'Limits of the accounts of a project for mail that names none, in order, and of those for test mail.';

-- Read from the lanes they stand beside, by their route, whatever statistics say: OFFSET keeps that order.
CREATE OR REPLACE FUNCTION mailqueue.lanes_beside(p_homes integer[])
RETURNS TABLE (id integer, home_limits integer[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    SELECT b.id, h.account_limits
      FROM mailqueue.lanes AS h
     CROSS JOIN LATERAL (
           SELECT x.id FROM mailqueue.lanes AS x
            WHERE x.project_id = h.project_id AND x.home_route = h.route AND x.priority = h.priority OFFSET 0) AS b
     WHERE h.id = ANY (p_homes)
$$;
COMMENT ON FUNCTION mailqueue.lanes_beside(integer[]) IS
    'Lanes beside these, for mail that is set aside or tries the next account, and the candidates of these.';

-- Idempotent: lanes of a project for each priority and route, with their candidate accounts in order.
CREATE OR REPLACE FUNCTION mailqueue.make_lanes(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_project_limit integer;
    v_weight integer;
    v_default integer[];
    v_traps integer[];
    v_has_rules boolean;
BEGIN
    SELECT p.weight INTO v_weight FROM mailqueue.projects AS p WHERE p.id = p_project;
    SELECT m.id INTO v_project_limit FROM mailqueue.limits AS m
     WHERE m.project_id = p_project AND m.sender_account_id IS NULL;
    SELECT c.limits, c.traps INTO v_default, v_traps FROM mailqueue.candidates_of(p_project) AS c;
    INSERT INTO mailqueue.lanes AS l (project_id, priority, route, weight, project_limit, account_limits, rule_id)
    SELECT p_project, p, r.route, v_weight, v_project_limit, coalesce(r.accounts, '{}'), r.rule_id
      FROM generate_series(0, 3) AS p,
           (SELECT '' AS route, v_default AS accounts, NULL::integer AS rule_id
            UNION ALL
            SELECT '(test)', v_traps, NULL                   -- of test mail, wherever else mail may go
            UNION ALL
            SELECT a.name, ARRAY[m.id], NULL FROM mailqueue.sender_accounts AS a
              JOIN mailqueue.limits AS m ON m.sender_account_id = a.id WHERE a.project_id = p_project
            UNION ALL
            SELECT 'rule ' || x.id, ARRAY(SELECT m.id FROM unnest(x.accounts) WITH ORDINALITY AS c(id, place)
                                            JOIN mailqueue.limits AS m ON m.sender_account_id = c.id ORDER BY c.place),
                   x.id
              FROM mailqueue.routing_rules AS x WHERE x.project_id = p_project) AS r
     WHERE NOT EXISTS (SELECT FROM mailqueue.lanes AS k  -- a conflict costs a write even where nothing changes
                        WHERE k.project_id = p_project AND k.priority = p AND k.route = r.route
                          AND k.account_limits = coalesce(r.accounts, '{}'))
    ON CONFLICT (project_id, priority, route) DO UPDATE SET account_limits = excluded.account_limits
     WHERE l.account_limits IS DISTINCT FROM excluded.account_limits;
    -- What a rule that is gone has left takes the accounts of mail without a rule. No rule has the id 0.
    UPDATE mailqueue.lanes AS l SET account_limits = v_default, rule_id = 0
     WHERE l.project_id = p_project AND l.rule_id IS NOT NULL
       AND (l.account_limits, l.rule_id) IS DISTINCT FROM (v_default, 0)
       AND NOT EXISTS (SELECT FROM mailqueue.routing_rules AS x WHERE x.id = l.rule_id);
    UPDATE mailqueue.lanes AS l SET account_limits = v_traps  -- of a project that had several traps
     WHERE l.project_id = p_project AND l.route LIKE '(test) %' AND l.home_route IS NULL
       AND l.account_limits IS DISTINCT FROM v_traps;
    v_has_rules := EXISTS (SELECT FROM mailqueue.routing_rules AS x WHERE x.project_id = p_project);
    UPDATE mailqueue.lanes AS l SET has_rules = v_has_rules
     WHERE l.project_id = p_project AND l.route = '' AND l.has_rules <> v_has_rules;
    UPDATE mailqueue.lanes AS l SET weight = v_weight WHERE l.project_id = p_project AND l.weight <> v_weight;
    PERFORM mailqueue.make_aside_lanes(p_project);
    PERFORM mailqueue.make_next_lanes(p_project);
    PERFORM mailqueue.wake_lanes(p_project);
END $$;
COMMENT ON FUNCTION mailqueue.make_lanes(uuid) IS 'Make or renew the lanes of a project.';

-- A change of a sender account holds its row when the trigger locks lanes. So a function that changes both, or several
-- accounts, locks in this order: project, sender accounts, lanes, limits; of each table in id order.
CREATE OR REPLACE FUNCTION mailqueue.lock_senders(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM FROM mailqueue.sender_accounts AS a WHERE a.project_id = p_project ORDER BY a.id FOR NO KEY UPDATE;
END $$;
COMMENT ON FUNCTION mailqueue.lock_senders(uuid) IS
    'Lock the sender accounts of a project, before its lanes, as a change of one of them does.';

-- Claims lock lanes first and limits second. A function that changes both locks in the same order. A claim that is
-- waited for may have created the lane of a domain: it is locked too, before anything else.
CREATE OR REPLACE FUNCTION mailqueue.lock_lanes(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_locked bigint;
    v_before bigint;
BEGIN
    LOOP
        PERFORM FROM mailqueue.lanes AS l WHERE l.project_id = p_project ORDER BY l.id FOR NO KEY UPDATE;
        GET DIAGNOSTICS v_locked = ROW_COUNT;
        EXIT WHEN v_locked = v_before;
        v_before := v_locked;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.lock_lanes(uuid) IS 'Hold the lanes of a project, in the order claims take them.';

-- The reason of a block may have ended: the next claim looks again.
CREATE OR REPLACE FUNCTION mailqueue.wake_lanes(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.lock_lanes(p_project);
    UPDATE mailqueue.lanes AS l SET blocked_until = clock_timestamp()
     WHERE l.project_id = p_project AND l.blocked_until > clock_timestamp()
       AND l.blocked_reason NOT IN ('empty', 'not_due', 'set_aside');
    IF FOUND AND EXISTS (SELECT FROM mailqueue.waiters AS w WHERE w.queue = 'email_queue') THEN
        PERFORM pg_notify('mailqueue_email_queue', '');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.wake_lanes(uuid) IS 'Have the blocked lanes of a project looked at again.';

CREATE OR REPLACE FUNCTION mailqueue.projects_limits() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.lock_senders(NEW.id);                  -- another trigger may change them
    PERFORM mailqueue.lock_lanes(NEW.id);
    PERFORM mailqueue.keep_limit(NEW.id, NULL, NEW.daily_limit, NEW.rate_per_second, NEW.burst, 2147483647,
        NEW.time_zone,
        CASE WHEN NEW.status <> 'active' THEN NEW.status END, NEW.status_until);
    UPDATE mailqueue.limits AS m SET low_from = w.low_from, low_until = w.low_until, low_zone = w.low_zone
      FROM mailqueue.low_priority_window(NEW.low_priority_window, NEW.time_zone) AS w
     WHERE m.project_id = NEW.id AND m.sender_account_id IS NULL
       AND (m.low_from, m.low_until, m.low_zone) IS DISTINCT FROM (w.low_from, w.low_until, w.low_zone);
    PERFORM mailqueue.make_lanes(NEW.id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.projects_limits() IS 'AFTER change of a project: its limit and lanes follow.';

CREATE OR REPLACE TRIGGER projects_limits AFTER INSERT OR UPDATE ON mailqueue.projects
    FOR EACH ROW EXECUTE FUNCTION mailqueue.projects_limits();

CREATE OR REPLACE FUNCTION mailqueue.sender_accounts_revision() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old mailqueue.sender_accounts := OLD;
BEGIN
    v_old.last_used_at := NEW.last_used_at;
    IF NEW.last_used_at IS DISTINCT FROM OLD.last_used_at AND v_old IS NOT DISTINCT FROM NEW THEN
        RETURN NEW;
    END IF;
    NEW.revision := OLD.revision + 1;
    NEW.updated_at := now();
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.sender_accounts_revision() IS
    'BEFORE UPDATE of a sender account: count the change; its last use is none.';

CREATE OR REPLACE TRIGGER sender_accounts_revision BEFORE UPDATE ON mailqueue.sender_accounts
    FOR EACH ROW EXECUTE FUNCTION mailqueue.sender_accounts_revision();

CREATE OR REPLACE FUNCTION mailqueue.check_sender_name(p_name text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_name ~ '^rule [0-9]+$' THEN
        PERFORM mailqueue.refuse('name', 'must not be that of the lanes of a routing rule, such as rule 1');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_sender_name(text) IS
    'Raise 22023 if a sender account would have the name of lanes of routing rules.';

-- A send delay is a rate too: one mail a delay, shared by all workers.
CREATE OR REPLACE FUNCTION mailqueue.keep_sender_limit(a mailqueue.sender_accounts) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.keep_limit(a.project_id, a.id, a.daily_limit,
        least(a.rate_per_second, 1000.0 / nullif(a.send_delay_ms, 0)),
        CASE WHEN a.send_delay_ms > 0 THEN greatest(1, least(a.burst, ceil(1000.0 / a.send_delay_ms)::integer))
             ELSE a.burst END,
        a.batch_size, a.time_zone,
        CASE WHEN a.status <> 'active' THEN a.status END, a.status_until);
    UPDATE mailqueue.limits AS m SET hourly_limit = a.hourly_limit, minute_limit = a.minute_limit
     WHERE m.sender_account_id = a.id
       AND (m.hourly_limit, m.minute_limit) IS DISTINCT FROM (a.hourly_limit, a.minute_limit);
    -- Warm-up begins on the day it is asked for; other stages later do not begin it anew.
    UPDATE mailqueue.limits AS m
       SET warm_up = a.warm_up,
           warm_up_from = CASE WHEN a.warm_up IS NULL THEN NULL
                               ELSE coalesce(m.warm_up_from, (now() AT TIME ZONE a.time_zone)::date) END
     WHERE m.sender_account_id = a.id AND m.warm_up IS DISTINCT FROM a.warm_up;
END $$;
COMMENT ON FUNCTION mailqueue.keep_sender_limit(mailqueue.sender_accounts) IS
    'Write the limit of a sender account; its lanes are locked.';

CREATE OR REPLACE FUNCTION mailqueue.sender_accounts_limits() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NEW.revision = OLD.revision THEN                      -- its last use was noted: no lanes are locked
        RETURN NULL;
    END IF;
    IF NEW.name <> OLD.name THEN
        PERFORM mailqueue.check_sender_name(NEW.name);
    END IF;
    IF NEW.status_until IS DISTINCT FROM OLD.status_until THEN
        PERFORM mailqueue.check_instant('until', NEW.status_until, true);
    END IF;
    PERFORM mailqueue.lock_lanes(NEW.project_id);
    PERFORM mailqueue.keep_sender_limit(NEW);
    PERFORM mailqueue.make_lanes(NEW.project_id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.sender_accounts_limits() IS
    'AFTER UPDATE of a sender account: its limit and lanes follow.';

CREATE OR REPLACE TRIGGER sender_accounts_limits AFTER UPDATE ON mailqueue.sender_accounts
    FOR EACH ROW EXECUTE FUNCTION mailqueue.sender_accounts_limits();

CREATE OR REPLACE FUNCTION mailqueue.keep_limit(p_project uuid, p_account integer, p_daily integer, p_rate numeric,
    p_burst integer, p_batch integer, p_zone text, p_reason text, p_until timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id integer;
    v_pace record;
BEGIN
    PERFORM now() AT TIME ZONE p_zone;  -- an unknown zone fails here, not in a worker
    SELECT x.* INTO v_pace FROM mailqueue.pace_of_rate(p_rate, p_burst) AS x;
    UPDATE mailqueue.limits AS m
       SET daily_limit = p_daily, rate_per_second = v_pace.rate, burst = v_pace.burst,
           capacity = v_pace.capacity, batch_size = p_batch, time_zone = p_zone,
           blocked_reason = p_reason, blocked_until = p_until, failures = 0,
           circuit_opened_at = NULL, circuit_held_until = NULL, circuit_probe_claim = NULL,
           circuit_closed_at = clock_timestamp()
     WHERE m.id = CASE WHEN p_account IS NULL
                            THEN (SELECT o.id FROM mailqueue.limits AS o
                                   WHERE o.project_id = p_project AND o.sender_account_id IS NULL)
                       ELSE (SELECT o.id FROM mailqueue.limits AS o
                              WHERE o.sender_account_id = p_account AND o.project_id = p_project) END;
    IF NOT FOUND THEN
        INSERT INTO mailqueue.limits (project_id, sender_account_id, daily_limit, rate_per_second, burst, capacity,
                                      batch_size, time_zone, blocked_reason, blocked_until)
        VALUES (p_project, p_account, p_daily, v_pace.rate, v_pace.burst, v_pace.capacity, p_batch, p_zone, p_reason,
                p_until)
        RETURNING id INTO v_id;
        INSERT INTO mailqueue.limit_counters (limit_id, tokens, day)
        VALUES (v_id, v_pace.burst, (now() AT TIME ZONE p_zone)::date);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.keep_limit(uuid, integer, integer, numeric, integer, integer, text, text, timestamptz) IS
    'Write the limit of a project (account NULL) or sender account.';
