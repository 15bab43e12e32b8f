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
