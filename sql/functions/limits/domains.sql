-- A rate per recipient domain, shared by all projects and workers.
--
-- Mail to such a domain is kept in lanes of its own, one for each lane it comes from, which are blocked as a whole
-- while the rate is used up. Accepting ignores rates: the first claim that meets such mail moves it, once.

CREATE OR REPLACE FUNCTION mailqueue.domain_rates_limits() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_domain text := CASE TG_OP WHEN 'DELETE' THEN OLD.domain ELSE NEW.domain END;
    v_rate numeric := CASE WHEN TG_OP <> 'DELETE' THEN NEW.rate_per_second END;
    v_burst integer := CASE WHEN TG_OP <> 'DELETE' THEN NEW.burst END;
    v_id integer;
    v_pace record;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.domain <> NEW.domain THEN
        RAISE EXCEPTION 'the domain of a rate cannot be changed: delete the row and insert another'
            USING ERRCODE = '22023';
    END IF;
    -- Lanes before limits, in the order of claims. When a rate is removed, its lanes remain and wait for nothing.
    PERFORM FROM mailqueue.lanes AS l WHERE l.pause_kind = 'rate' AND l.pause_value = v_domain ORDER BY l.id
       FOR NO KEY UPDATE;
    SELECT x.* INTO v_pace FROM mailqueue.pace_of_rate(v_rate, v_burst) AS x;
    UPDATE mailqueue.limits AS m SET rate_per_second = v_pace.rate, burst = v_pace.burst, capacity = v_pace.capacity
     WHERE m.domain = v_domain RETURNING m.id INTO v_id;
    IF v_id IS NULL AND v_rate IS NOT NULL THEN
        INSERT INTO mailqueue.limits (domain, rate_per_second, burst, capacity, batch_size, time_zone)
        VALUES (v_domain, v_pace.rate, v_pace.burst, v_pace.capacity, 2147483647, 'UTC') RETURNING id INTO v_id;
        INSERT INTO mailqueue.limit_counters (limit_id, tokens, day)
        VALUES (v_id, v_pace.burst, (now() AT TIME ZONE 'UTC')::date);
    END IF;
    UPDATE mailqueue.lanes AS l SET blocked_until = clock_timestamp()
     WHERE l.domain_limit = v_id AND l.pause_kind = 'rate' AND l.pause_value = v_domain
       AND l.blocked_reason IN ('domain_rate', 'recheck');
    INSERT INTO mailqueue.audit_events (action, subject, detail)
    VALUES ('domain.rate_changed', 'domain ' || v_domain,
            jsonb_build_object('rate_per_second', v_rate, 'burst', v_burst,
            'note', CASE WHEN TG_OP <> 'DELETE' THEN NEW.note END));
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.domain_rates_limits() IS 'AFTER change of a domain''s rate: its limit follows.';

-- For rates and routing rules that are written by hand.
CREATE OR REPLACE FUNCTION mailqueue.domain_compared() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.domain := mailqueue.wire_domain('domain', NEW.domain);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.domain_compared() IS
    'BEFORE INSERT of a non-ASCII domain, and UPDATE of it: stores its canonical form.';

CREATE OR REPLACE TRIGGER domain_rates_compared BEFORE INSERT OR UPDATE OF domain ON mailqueue.domain_rates
    FOR EACH ROW WHEN (octet_length(NEW.domain) > length(NEW.domain)) EXECUTE FUNCTION mailqueue.domain_compared();
CREATE OR REPLACE TRIGGER routing_rules_compared BEFORE INSERT OR UPDATE OF domain ON mailqueue.routing_rules
    FOR EACH ROW WHEN (octet_length(NEW.domain) > length(NEW.domain)) EXECUTE FUNCTION mailqueue.domain_compared();

CREATE OR REPLACE TRIGGER domain_rates_limits AFTER INSERT OR UPDATE OR DELETE ON mailqueue.domain_rates
    FOR EACH ROW EXECUTE FUNCTION mailqueue.domain_rates_limits();

-- For claims, which hold the lane and these mails. A message with recipients at several such domains uses the rate of
-- the first.
CREATE OR REPLACE FUNCTION mailqueue.move_rated(p_lane integer, p_ids uuid[], OUT ids uuid[], OUT recipients integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_mails uuid[];
    v_limits integer[];
BEGIN
    WITH mails AS MATERIALIZED (
        SELECT q.id, q.recipients, coalesce(
                   (SELECT m.id FROM mailqueue.limits AS m
                     WHERE m.domain = mailqueue.domain_of(q.recipient_email) AND m.rate_per_second IS NOT NULL),
                   (SELECT m.id FROM mailqueue.email_recipients AS r
                      JOIN mailqueue.limits AS m ON m.domain = mailqueue.domain_of(r.address)
                           AND m.rate_per_second IS NOT NULL
                     WHERE q.recipients > 1 AND r.email_id = q.id AND r.status = 'pending' ORDER BY r.position
                     LIMIT 1)) AS limit_id
          FROM mailqueue.email_queue AS q WHERE q.id = ANY (p_ids)
    )
    SELECT coalesce(array_agg(m.id) FILTER (WHERE m.limit_id IS NULL), '{}'),
           coalesce(sum(m.recipients) FILTER (WHERE m.limit_id IS NULL), 0),
           array_agg(m.id) FILTER (WHERE m.limit_id IS NOT NULL),
           array_agg(m.limit_id) FILTER (WHERE m.limit_id IS NOT NULL)
      INTO ids, recipients, v_mails, v_limits FROM mails AS m;
    IF v_mails IS NULL THEN
        RETURN;
    END IF;
    -- One claim at a time creates lanes, so that two cannot deadlock; the mails of the other are moved by its next
    -- claim.
    PERFORM FROM mailqueue.lock_rows AS r WHERE r.name = 'lanes of domains'
       AND EXISTS (SELECT FROM mailqueue.lanes AS h, mailqueue.limits AS m WHERE h.id = p_lane AND m.id = ANY (v_limits)
                      AND NOT EXISTS (SELECT FROM mailqueue.lanes AS l
                                       WHERE l.project_id = h.project_id AND l.priority = h.priority
                                         AND l.route = coalesce(h.home_route, h.route) || '|rate:' || m.domain))
       FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        INSERT INTO mailqueue.lanes (project_id, priority, route, weight, project_limit, account_limits, home_route,
                                     pause_kind, pause_value, domain_limit)
        SELECT DISTINCT h.project_id, h.priority, coalesce(h.home_route, h.route) || '|rate:' || m.domain, h.weight,
               h.project_limit, h.account_limits, coalesce(h.home_route, h.route), 'rate', m.domain, m.id
          FROM mailqueue.lanes AS h, mailqueue.limits AS m WHERE h.id = p_lane AND m.id = ANY (v_limits)
        ON CONFLICT (project_id, priority, route) DO NOTHING;
    END IF;
    WITH moved AS (
        UPDATE mailqueue.email_queue AS q SET lane_id = l.id
          FROM unnest(v_mails, v_limits) AS x(id, limit_id), mailqueue.lanes AS h, mailqueue.limits AS m,
               mailqueue.lanes AS l
         WHERE q.id = x.id AND h.id = p_lane AND m.id = x.limit_id AND l.project_id = h.project_id
           AND l.priority = h.priority
           AND l.route = coalesce(h.home_route, h.route) || '|rate:' || m.domain
        RETURNING q.lane_id, q.run_at
    )
    INSERT INTO mailqueue.lane_signals (lane_id, due_at)
    SELECT v.lane_id, min(v.run_at) FROM moved AS v GROUP BY v.lane_id;
    PERFORM mailqueue.wake_workers();
END $$;
COMMENT ON FUNCTION mailqueue.move_rated(integer, uuid[]) IS
    'Move picked mails to a domain with a rate to the lane of that rate; returns the other mails.';
