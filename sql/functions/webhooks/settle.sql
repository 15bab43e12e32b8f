-- Settling claimed deliveries, many at a time, with the effect on their endpoints, in one transaction.

-- The log of calls, and what they say about their endpoints. The deliveries are settled before, in one transaction.
CREATE OR REPLACE FUNCTION mailqueue.record_webhook_calls(p_ids uuid[], p_outcomes text[], p_codes integer[],
    p_errors text[], p_waits interval[], p_rests boolean[], p_times timestamptz[], p_ms integer[], p_headers jsonb,
    p_responses text[])
RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_is_trouble boolean := mailqueue.has_key_in_trouble('webhooks');
    v_is_enabled boolean;
    v_awaits_trace boolean := nullif(mailqueue.are_calls_traced(), false);
    w record;
    k mailqueue.queue_keys;
BEGIN
    -- Of endpoints that succeed, and did before, nothing is read. In id order, so that settlers cannot deadlock.
    FOR w IN
        WITH called AS MATERIALIZED (
            SELECT d.webhook_id, d.project_id, d.attempts, i.*
              FROM ROWS FROM (unnest(p_ids, p_outcomes, p_codes, p_errors, p_waits, p_rests, p_times, p_ms,
                                     p_responses), jsonb_array_elements(p_headers)) WITH ORDINALITY
                AS i(id, outcome, code, error, wait, rests, tried_at, ms, response, headers, n)
              JOIN mailqueue.webhook_deliveries AS d ON d.id = i.id WHERE i.outcome IS NOT NULL
        ), logged AS (
            INSERT INTO mailqueue.webhook_attempts (delivery_id, tried_at, project_id, webhook_id, attempt, status_code,
                                                    error, took_ms, request_headers, response, awaits_trace)
            SELECT c.id, c.tried_at, c.project_id, c.webhook_id, c.attempts, c.code,
                   CASE c.outcome WHEN 'delivered' THEN NULL ELSE c.error END, c.ms, c.headers, c.response,
                   v_awaits_trace
              FROM called AS c WHERE c.tried_at IS NOT NULL
            ON CONFLICT ON CONSTRAINT webhook_attempts_pkey DO NOTHING
        )
        SELECT c.webhook_id AS id, max(c.n) FILTER (WHERE c.outcome = 'delivered') AS delivered_last,
               count(*) FILTER (WHERE c.outcome IN ('failed', 'gone')) AS failed,
               bool_or(c.outcome = 'gone') AS is_gone, max(c.wait) FILTER (WHERE c.rests) AS rest,
               array_agg(c.n) FILTER (WHERE c.outcome IN ('failed', 'gone')) AS failed_at,
               (array_agg(c.error ORDER BY c.n DESC) FILTER (WHERE c.outcome IN ('failed', 'gone')))[1] AS error
          FROM called AS c GROUP BY c.webhook_id ORDER BY c.webhook_id
    LOOP
        CONTINUE WHEN w.failed = 0 AND (NOT v_is_trouble OR NOT EXISTS (
            SELECT FROM mailqueue.queue_keys AS o WHERE o.queue = 'webhooks' AND o.key = w.id::text));
        SELECT o.is_enabled INTO v_is_enabled FROM mailqueue.webhooks AS o WHERE o.id = w.id FOR KEY SHARE;
        CONTINUE WHEN NOT FOUND;
        k := mailqueue.note_key('webhooks', w.id::text, w.delivered_last IS NOT NULL,
            (SELECT count(*) FROM unnest(w.failed_at) AS f(n) WHERE f.n > coalesce(w.delivered_last, 0))::integer,
            -- The endpoint asked for a pause, for all its deliveries.
            CASE WHEN w.rest IS NOT NULL THEN least(w.rest, interval '1 h') END, w.error);
        IF v_is_enabled AND (w.is_gone OR k.failing_since < v_now - mailqueue.system_interval('webhook_give_up')) THEN
            PERFORM mailqueue.disable_webhook(w.id, CASE WHEN w.is_gone THEN 'gone' ELSE 'failing' END, 'mailqueue');
            v_is_enabled := false;
        END IF;
        IF k.opened_at IS NOT NULL OR k.blocked_until > v_now OR NOT v_is_enabled THEN
            RETURN NEXT w.id;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.record_webhook_calls(uuid[], text[], integer[], text[], interval[], boolean[],
                                                   timestamptz[], integer[], jsonb, text[]) IS
    'Log calls of endpoints and count them in the circuits; returns endpoints that are left alone now. The arrays are '
    'of one length; an outcome NULL: the endpoint was not called.';

-- Outcomes of deliveries, and the calls among them, in one statement. All arrays are of one length: those from p_ids to
-- p_values are for settle_webhook_deliveries(), the others for record_webhook_calls().
CREATE OR REPLACE FUNCTION mailqueue.settle_webhook_calls(p_ids uuid[], p_claims bigint[], p_outcomes text[],
    p_statuses text[], p_waits interval[], p_runs timestamptz[], p_reasons text[], p_values jsonb,
    p_results text[], p_codes integer[], p_errors text[], p_minimum_waits interval[], p_rests boolean[],
    p_times timestamptz[], p_ms integer[], p_headers jsonb, p_responses text[])
RETURNS TABLE (id uuid, is_lost boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_lost uuid[];
BEGIN
    v_lost := ARRAY(SELECT mailqueue.settle_webhook_deliveries(p_ids, p_claims, p_outcomes, p_statuses, p_waits, p_runs,
                                                               p_reasons, p_values));
    IF v_lost <> '{}' THEN
        RETURN QUERY SELECT l.id, true FROM unnest(v_lost) AS l(id);
        p_results := ARRAY(SELECT CASE WHEN i.id <> ALL (v_lost) THEN i.result END
                             FROM unnest(p_ids, p_results) WITH ORDINALITY AS i(id, result, n) ORDER BY i.n);
    END IF;
    RETURN QUERY SELECT r.id, false
      FROM mailqueue.record_webhook_calls(p_ids, p_results, p_codes, p_errors, p_minimum_waits, p_rests, p_times, p_ms,
                                          p_headers, p_responses) AS r(id);
END $$;
COMMENT ON FUNCTION mailqueue.settle_webhook_calls(uuid[], bigint[], text[], text[], interval[], timestamptz[], text[],
    jsonb, text[], integer[], text[], interval[], boolean[], timestamptz[], integer[], jsonb, text[]) IS
    'Write outcomes of deliveries and log their calls; returns deliveries whose claim no longer holds, for which '
    'nothing is written, and endpoints that are left alone now.';

CREATE OR REPLACE FUNCTION mailqueue.disable_webhook(p_id uuid, p_reason text, p_by text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid;
BEGIN
    UPDATE mailqueue.webhooks AS w SET is_enabled = false, disabled_at = clock_timestamp(), disabled_reason = p_reason,
           revision = w.revision + 1, updated_at = clock_timestamp()
     WHERE w.id = p_id AND w.is_enabled RETURNING w.project_id INTO v_project;
    IF v_project IS NULL THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(v_project, 'webhook.disabled', p_id::text,
                                       jsonb_build_object('reason', p_reason), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.disable_webhook(uuid, text, text) IS
    'Disable a webhook; false if it was disabled already.';
