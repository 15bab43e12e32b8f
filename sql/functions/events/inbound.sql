-- Requests of providers have a queue of their own: stored within milliseconds, processed by a worker.

-- The token of a URL identifies the endpoint; it does not authenticate the provider.
CREATE OR REPLACE FUNCTION mailqueue.find_inbound_endpoint(p_provider text, p_token_hash bytea)
RETURNS TABLE (id uuid, project_id uuid, sender_account_id integer, sealed bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT e.id, e.project_id, e.sender_account_id, e.sealed FROM mailqueue.inbound_endpoints AS e
     WHERE e.token_hash = p_token_hash AND e.provider = p_provider
$$;
COMMENT ON FUNCTION mailqueue.find_inbound_endpoint(text, bytea) IS 'The endpoint of a URL.';

-- Duplicates change nothing; rows are inserted in order, so that transactions cannot deadlock.
CREATE OR REPLACE FUNCTION mailqueue.keep_inbound(p_projects uuid[], p_accounts integer[], p_providers text[],
    p_keys text[], p_headers jsonb[], p_queries jsonb[], p_bodies bytea[], p_confirms text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_kept integer;
BEGIN
    INSERT INTO mailqueue.inbound_events (project_id, sender_account_id, provider, dedupe_key, headers, query, body,
                                          confirm_url)
    SELECT k.project_id, k.account, k.provider, k.dedupe_key, k.headers, k.query, k.body, k.confirm
      FROM (SELECT r.project_id, r.account, r.provider, r.headers, r.query, r.body, r.confirm, r.n,
                   CASE WHEN r.key IS NOT NULL
                             THEN mailqueue.event_key(r.account, 'inbound ' || r.provider, r.key) END AS dedupe_key
              FROM unnest(p_projects, p_accounts, p_providers, p_keys, p_headers, p_queries, p_bodies,
                          p_confirms) WITH ORDINALITY
                AS r(project_id, account, provider, key, headers, query, body, confirm, n)) AS k
     ORDER BY k.dedupe_key, k.n
    ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING;
    GET DIAGNOSTICS v_kept = ROW_COUNT;
    RETURN v_kept;
END $$;
COMMENT ON FUNCTION mailqueue.keep_inbound(uuid[], integer[], text[], text[], jsonb[], jsonb[], bytea[], text[]) IS
    'Queue requests of providers for a worker; returns the number of new ones.';

-- claim_inbound, hold_inbound, settle_inbound: for workers of the release before, which run on until they are
-- restarted. Workers of this release call those of folder queue.
CREATE OR REPLACE FUNCTION mailqueue.claim_inbound(p_limit integer, p_lease interval)
RETURNS TABLE (id uuid, claim_no bigint, project_id uuid, sender_account_id integer, provider text, headers jsonb,
               query jsonb, body bytea, confirm_url text, age interval, is_over boolean, attempts smallint,
               waiting integer[], outcome jsonb)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_claim bigint := nextval('mailqueue.claim_no_seq');
BEGIN
    RETURN QUERY
    WITH lost AS MATERIALIZED (
        SELECT e.id FROM mailqueue.inbound_events AS e
         WHERE e.status = 'assigned' AND e.lease_until <= v_now ORDER BY e.lease_until LIMIT p_limit
           FOR UPDATE SKIP LOCKED
    ), due AS MATERIALIZED (
        SELECT e.id FROM mailqueue.inbound_events AS e
         WHERE e.status = 'pending' AND e.run_at <= v_now ORDER BY e.run_at, e.id LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), taken AS (
        SELECT t.id FROM (SELECT l.id FROM lost AS l UNION ALL SELECT d.id FROM due AS d) AS t LIMIT p_limit
    )
    UPDATE mailqueue.inbound_events AS e
       SET status = 'assigned', claim_no = v_claim, assigned_at = v_now, lease_until = v_now + p_lease,
           attempts = least(e.attempts, 32766) + 1
     WHERE e.id = ANY (ARRAY(SELECT t.id FROM taken AS t))
    RETURNING e.id, e.claim_no, e.project_id, e.sender_account_id, e.provider, e.headers, e.query, e.body,
              e.confirm_url, v_now - e.received_at, e.wait_until <= v_now, e.attempts, e.waiting, e.outcome;
END $$;
COMMENT ON FUNCTION mailqueue.claim_inbound(integer, interval) IS
    'Claim due requests, and those whose lease has expired.';

CREATE OR REPLACE FUNCTION mailqueue.hold_inbound(p_ids uuid[], p_claims bigint[]) RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT h.id
      FROM (SELECT e.id, e.claim_no FROM mailqueue.inbound_events AS e WHERE e.id = ANY (p_ids) ORDER BY e.id
               FOR UPDATE) AS h
      JOIN unnest(p_ids, p_claims) AS i(id, claim_no) ON i.id = h.id AND i.claim_no = h.claim_no
$$;
COMMENT ON FUNCTION mailqueue.hold_inbound(uuid[], bigint[]) IS
    'Lock claimed requests until the end of the transaction; returns those whose claim is still valid.';

-- p_states: processed, unmatched, failed; waiting: retry after p_waits without counting an attempt; again: retry and
-- count it, until none are left. Returns the ids whose claim was lost; nothing was written for those.
CREATE OR REPLACE FUNCTION mailqueue.settle_inbound(p_ids uuid[], p_claims bigint[], p_states text[],
    p_waits interval[], p_waiting jsonb[], p_outcomes jsonb[], p_errors text[]) RETURNS uuid[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_settled uuid[];
BEGIN
    WITH settled AS (
        UPDATE mailqueue.inbound_events AS e
           SET status = s.status, run_at = CASE WHEN s.status = 'pending' THEN v_now + s.wait ELSE e.run_at END,
               attempts = e.attempts - CASE WHEN s.state = 'waiting' THEN 1 ELSE 0 END,
               claim_no = NULL, assigned_at = NULL, lease_until = NULL,
               waiting = CASE WHEN s.waiting IS NULL THEN e.waiting
                              ELSE ARRAY(SELECT x::integer FROM jsonb_array_elements_text(s.waiting) AS x) END,
               outcome = CASE WHEN s.outcome IS NULL THEN e.outcome ELSE s.outcome END,
               confirm_url = CASE WHEN s.status = 'processed' THEN NULL ELSE e.confirm_url END,
               last_error = CASE WHEN s.status = 'processed' THEN NULL
                                 ELSE coalesce(left(s.error, 1000), e.last_error) END,
               finished_at = CASE WHEN s.status = 'pending' THEN NULL ELSE v_now END
          FROM (SELECT i.*, CASE i.state WHEN 'waiting' THEN 'pending'
                                         WHEN 'again'
                                              THEN CASE WHEN o.attempts >= o.max_attempts THEN 'failed'
                                                        ELSE 'pending' END
                                         ELSE i.state END AS status
                  FROM unnest(p_ids, p_claims, p_states, p_waits, p_waiting, p_outcomes, p_errors)
                    AS i(id, claim_no, state, wait, waiting, outcome, error)
                  JOIN mailqueue.inbound_events AS o ON o.id = i.id) AS s
         WHERE e.id = s.id AND e.claim_no = s.claim_no
        RETURNING e.id
    )
    SELECT array_agg(s.id) INTO v_settled FROM settled AS s;
    RETURN ARRAY(SELECT i.id FROM unnest(p_ids) AS i(id) WHERE i.id <> ALL (coalesce(v_settled, '{}')));
END $$;
COMMENT ON FUNCTION mailqueue.settle_inbound(uuid[], bigint[], text[], interval[], jsonb[], jsonb[], text[]) IS
    'Settle claimed requests of providers; returns the ids whose claim was lost.';

-- Called by a person: failed and unmatched requests are processed again.
CREATE OR REPLACE FUNCTION mailqueue.retry_inbound(p_project uuid, p_ids uuid[], p_by text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE mailqueue.inbound_events AS e
       SET status = 'pending', run_at = clock_timestamp(), attempts = 0, finished_at = NULL,
           wait_until = clock_timestamp() + interval '3 days'
     WHERE e.id = ANY (p_ids) AND (p_project IS NULL OR e.project_id = p_project)
       AND e.status IN ('failed', 'unmatched') AND e.body IS NOT NULL;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN
        PERFORM mailqueue.record_operation(p_project, 'inbound.retried', v_count || ' requests',
                                           jsonb_build_object('ids', to_jsonb(p_ids)), p_by);
    END IF;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.retry_inbound(uuid, uuid[], text) IS
    'Process failed or unmatched requests again; returns their number.';
