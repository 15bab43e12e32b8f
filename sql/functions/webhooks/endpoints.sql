-- Actions of the API and the command line on webhooks and their log.

CREATE OR REPLACE FUNCTION mailqueue.ended_webhook_deliveries(p_project uuid, p_webhook uuid, p_ids uuid[],
    p_statuses text[], p_types text[], p_since timestamptz, p_until timestamptz, p_most integer)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    SELECT o.id FROM mailqueue.webhook_deliveries AS o
     WHERE o.project_id = p_project AND o.webhook_id = p_webhook
       AND o.status IN ('delivered', 'failed', 'cancelled') AND o.status = ANY (p_statuses)
       AND coalesce(mailqueue.mode(), o.is_test) = o.is_test
       AND (p_ids IS NULL OR o.id = ANY (p_ids)) AND (p_types IS NULL OR o.type = ANY (p_types))
       AND (p_since IS NULL OR o.id >= mailqueue.first_id_since(p_since) AND o.created_at >= p_since)
       AND (p_until IS NULL OR o.created_at < p_until)
       AND EXISTS (SELECT FROM mailqueue.webhook_events AS e WHERE e.id = o.event_id)
     ORDER BY o.id LIMIT p_most;
END $$;
COMMENT ON FUNCTION mailqueue.ended_webhook_deliveries(uuid, uuid, uuid[], text[], text[], timestamptz, timestamptz,
                                                       integer) IS
    'Finished deliveries that can be delivered again, oldest first, at most p_most.';

-- Restarts finished deliveries: those in p_ids, or all that match.
CREATE OR REPLACE FUNCTION mailqueue.retry_webhook_deliveries(p_project uuid, p_webhook uuid, p_ids uuid[],
    p_statuses text[], p_types text[], p_since timestamptz, p_until timestamptz, p_most integer, p_by text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_count integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.webhook_deliveries AS d
       SET status = 'pending', attempts = 0, max_attempts = greatest(d.max_attempts, 7), run_at = clock_timestamp(),
           finished_at = NULL
     WHERE d.id = ANY (ARRAY(
           SELECT o.id FROM mailqueue.webhook_deliveries AS o
            WHERE o.id = ANY (ARRAY(SELECT mailqueue.ended_webhook_deliveries(p_project, p_webhook, p_ids, p_statuses,
                                                                              p_types, p_since, p_until, p_most)))
              AND o.status IN ('delivered', 'failed', 'cancelled') AND o.status = ANY (p_statuses)
              FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 AND p_ids IS NULL THEN
        PERFORM mailqueue.record_operation(p_project, 'webhook.retried', p_webhook::text,
            jsonb_build_object('deliveries', v_count, 'since', p_since, 'until', p_until), p_by);
    END IF;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.retry_webhook_deliveries(uuid, uuid, uuid[], text[], text[], timestamptz, timestamptz,
                                                       integer, text) IS
    'Deliver again what is finished, oldest first; returns the number of deliveries, at most p_most.';

CREATE OR REPLACE FUNCTION mailqueue.switch_webhook(p_project uuid, p_webhook uuid, p_is_enabled boolean, p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM FROM mailqueue.webhooks AS w WHERE w.id = p_webhook AND w.project_id = p_project AND w.removed_at IS NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    ELSIF NOT p_is_enabled THEN
        PERFORM mailqueue.disable_webhook(p_webhook, 'operator', p_by);
        RETURN true;
    END IF;
    -- Its previous failures no longer count.
    UPDATE mailqueue.webhooks AS w
       SET is_enabled = true, disabled_at = NULL, disabled_reason = NULL,
           subscribed_after = mailqueue.subscribed_after(w.subscribed_after, NULL, w.event_types),
           revision = w.revision + 1, updated_at = clock_timestamp()
     WHERE w.id = p_webhook AND NOT w.is_enabled;
    IF FOUND THEN
        PERFORM mailqueue.forget_key('webhooks', p_webhook::text);
        PERFORM mailqueue.record_operation(p_project, 'webhook.enabled', p_webhook::text, '{}', p_by);
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.switch_webhook(uuid, uuid, boolean, text) IS
    'Enable or disable a webhook; false if the project has none with that id.';

-- For changes that keep a part of what there is: it is read after this, so that none of two at once is lost.
CREATE OR REPLACE FUNCTION mailqueue.lock_webhook(p_project uuid, p_webhook uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM FROM mailqueue.webhooks AS w
      WHERE w.id = p_webhook AND w.project_id = p_project AND w.removed_at IS NULL FOR NO KEY UPDATE;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.lock_webhook(uuid, uuid) IS
    'Lock a webhook until the transaction ends; false if the project has none with that id.';

-- A new URL starts without the failures of the old one.
CREATE OR REPLACE FUNCTION mailqueue.change_webhook(p_project uuid, p_webhook uuid, p_url text, p_description text,
    p_event_types text[], p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old mailqueue.webhooks;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO v_old FROM mailqueue.webhooks AS w
     WHERE w.id = p_webhook AND w.project_id = p_project AND w.removed_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.webhooks AS w
       SET url = p_url, description = p_description, event_types = p_event_types,
           subscribed_after = mailqueue.subscribed_after(w.subscribed_after, w.event_types, p_event_types),
           revision = w.revision + 1, updated_at = clock_timestamp()
     WHERE w.id = p_webhook;
    IF v_old.url <> p_url THEN
        PERFORM mailqueue.forget_key('webhooks', p_webhook::text);
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'webhook.changed', p_webhook::text, jsonb_build_object(
        'from',
        jsonb_build_object('url', v_old.url, 'description', v_old.description, 'event_types', v_old.event_types),
        'to', jsonb_build_object('url', p_url, 'description', p_description, 'event_types', p_event_types)), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_webhook(uuid, uuid, text, text, text[], text) IS
    'Change URL and event types of a webhook; false if the project has none with that id.';

CREATE OR REPLACE FUNCTION mailqueue.remove_webhook(p_project uuid, p_webhook uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_url text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.webhooks AS w
       SET removed_at = clock_timestamp(), is_enabled = false, disabled_at = coalesce(w.disabled_at, clock_timestamp()),
           disabled_reason = 'removed', revision = w.revision + 1
     WHERE w.id = p_webhook AND w.project_id = p_project AND w.removed_at IS NULL RETURNING w.url INTO v_url;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.forget_key('webhooks', p_webhook::text);
    PERFORM mailqueue.record_operation(p_project, 'webhook.removed', p_webhook::text, jsonb_build_object('url', v_url),
                                       p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_webhook(uuid, uuid, text) IS
    'Remove a webhook with its log; it receives nothing more. False if the project has none with that id.';

-- A test is delivered by the process that requested it, and logged like any delivery.
CREATE OR REPLACE FUNCTION mailqueue.log_webhook_test(p_project uuid, p_webhook uuid, p_event uuid, p_type text,
    p_payload json, p_at timestamptz, p_code integer, p_error text, p_ms integer, p_headers jsonb, p_response text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM FROM mailqueue.webhooks AS w WHERE w.id = p_webhook AND w.project_id = p_project AND w.removed_at IS NULL
       FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.webhook_events (id, project_id, type, occurred_at, payload)
    VALUES (p_event, p_project, p_type, p_at, p_payload);
    INSERT INTO mailqueue.webhook_deliveries (id, project_id, webhook_id, event_id, type, status, attempts,
                                              max_attempts, last_error, last_code, finished_at)
    VALUES (v_id, p_project, p_webhook, p_event, p_type, CASE WHEN p_error IS NULL THEN 'delivered' ELSE 'failed' END,
            1, 1, p_error, p_code, clock_timestamp());
    INSERT INTO mailqueue.webhook_attempts (delivery_id, tried_at, project_id, webhook_id, attempt, status_code, error,
                                            took_ms, request_headers, response)
    VALUES (v_id, p_at, p_project, p_webhook, 1, p_code, p_error, p_ms, p_headers, p_response);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.log_webhook_test(uuid, uuid, uuid, text, json, timestamptz, integer, text, integer, jsonb,
                                               text) IS
    'Log a test of a webhook; returns the id of its delivery, NULL if the webhook was removed.';

CREATE OR REPLACE FUNCTION mailqueue.count_webhooks(p_project uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_key('webhooks ' || p_project);
    RETURN (SELECT count(*) FROM mailqueue.webhooks AS w WHERE w.project_id = p_project AND w.removed_at IS NULL);
END $$;
COMMENT ON FUNCTION mailqueue.count_webhooks(uuid) IS
    'Number of webhooks of a project; concurrent inserts wait until this transaction ends.';
