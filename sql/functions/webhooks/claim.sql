-- Claims of the webhook worker: a share for each project, and for each endpoint what it can take.
--
-- An endpoint that is down costs one look-up: it is blocked as a whole, and then one delivery probes it.

-- Waits after the first attempt and the next ones; after the last there is none.
CREATE OR REPLACE FUNCTION mailqueue.webhook_wait(p_attempt integer) RETURNS interval
LANGUAGE sql IMMUTABLE
AS $$ SELECT (ARRAY['1 min', '5 min', '30 min', '2 h', '12 h', '24 h']::interval[])[greatest(1, p_attempt)] $$;
COMMENT ON FUNCTION mailqueue.webhook_wait(integer) IS
    'Wait after a failed attempt; NULL: there is no further attempt.';

-- Endpoints with due deliveries that may be called now. Endpoints with pending rows are found by one index step each,
-- however many rows they have.
CREATE OR REPLACE FUNCTION mailqueue.ready_webhooks(p_now timestamptz)
RETURNS TABLE (id uuid, project_id uuid, is_probe boolean)
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE waiting AS (
        (SELECT d.webhook_id AS id FROM mailqueue.webhook_deliveries AS d WHERE d.status = 'pending'
          ORDER BY d.webhook_id LIMIT 1)
        UNION ALL
        SELECT (SELECT d.webhook_id FROM mailqueue.webhook_deliveries AS d
                 WHERE d.status = 'pending' AND d.webhook_id > x.id ORDER BY d.webhook_id LIMIT 1)
          FROM waiting AS x WHERE x.id IS NOT NULL
    )
    SELECT w.id, w.project_id, k.opened_at IS NOT NULL
      FROM waiting AS x JOIN mailqueue.webhooks AS w ON w.id = x.id
      LEFT JOIN mailqueue.queue_keys AS k ON k.queue = 'webhooks' AND k.key = w.id::text
     WHERE w.is_enabled AND mailqueue.is_key_ready(k, p_now)
       -- OFFSET 0: one index step for each, not a join with all due deliveries.
       AND EXISTS (SELECT FROM mailqueue.webhook_deliveries AS d
                    WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.run_at <= p_now OFFSET 0)
$$;
COMMENT ON FUNCTION mailqueue.ready_webhooks(timestamptz) IS
    'Webhooks that have due deliveries and may be called at a point in time.';

-- For claims of the queue kernel: an open circuit lets one delivery pass.
CREATE OR REPLACE FUNCTION mailqueue.ready_webhook_deliveries(p_now timestamptz)
RETURNS TABLE (key uuid, project_id uuid, room integer, is_probe boolean)
LANGUAGE sql STABLE
AS $$ SELECT r.id, r.project_id, CASE WHEN r.is_probe THEN 1 ELSE 1000000 END, r.is_probe
        FROM mailqueue.ready_webhooks(p_now) AS r $$;
COMMENT ON FUNCTION mailqueue.ready_webhook_deliveries(timestamptz) IS
    'Webhooks that have due deliveries and may be called, and how many deliveries each may have.';

CREATE OR REPLACE FUNCTION mailqueue.begin_probe_webhook_deliveries(p_webhook uuid, p_lease interval) RETURNS boolean
LANGUAGE sql
AS $$ SELECT mailqueue.begin_key_probe('webhooks', p_webhook::text, p_lease) $$;
COMMENT ON FUNCTION mailqueue.begin_probe_webhook_deliveries(uuid, interval) IS
    'Reserve the probe of a webhook whose circuit is open; false where another worker has it.';

-- Deliveries of new events are made first, in the same transaction.
-- The rows are read by a statement of their own, so that its snapshot has the events of all that was claimed.
CREATE OR REPLACE FUNCTION mailqueue.claim_webhook_calls(p_worker integer, p_limit integer, p_lease interval,
    p_alone boolean, p_first integer, p_keys text[], p_rooms integer[])
RETURNS TABLE (id uuid, claim_no bigint, webhook_id uuid, project_id uuid, event_id uuid, type text, attempts smallint,
               revision integer, payload text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_rows mailqueue.webhook_deliveries[];
BEGIN
    PERFORM mailqueue.read_stream();
    v_rows := ARRAY(
        SELECT q FROM mailqueue.claim_webhook_deliveries(p_worker, p_limit, p_lease, p_alone, p_first, p_keys,
                                                         p_rooms) AS q);
    IF v_rows = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.id, r.claim_no, r.webhook_id, r.project_id, r.event_id, r.type, r.attempts,
           (SELECT w.revision FROM mailqueue.webhooks AS w WHERE w.id = r.webhook_id AND w.removed_at IS NULL),
           (SELECT e.payload::text FROM mailqueue.webhook_events AS e WHERE e.id = r.event_id)
      FROM unnest(v_rows) AS r;
END $$;
COMMENT ON FUNCTION mailqueue.claim_webhook_calls(integer, integer, interval, boolean, integer, text[], integer[]) IS
    'Claim due deliveries as claim_webhook_deliveries() does, with what they send and the revision of their endpoints.';

-- For deliveries claimed by claim_webhook_deliveries(), where the payload of one of them cannot be read.
CREATE OR REPLACE FUNCTION mailqueue.webhook_payloads(p_ids uuid[])
RETURNS TABLE (id uuid, revision integer, payload text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    SELECT d.id, (SELECT w.revision FROM mailqueue.webhooks AS w WHERE w.id = d.webhook_id AND w.removed_at IS NULL),
           (SELECT e.payload::text FROM mailqueue.webhook_events AS e WHERE e.id = d.event_id)
      FROM mailqueue.webhook_deliveries AS d WHERE d.id = ANY (p_ids) AND d.status = 'assigned'
$$;
COMMENT ON FUNCTION mailqueue.webhook_payloads(uuid[]) IS
    'What claimed deliveries send, and the revisions of their endpoints.';

-- Cleaning up: expired leases, deliveries to disabled or removed endpoints, the log of removed ones.
CREATE OR REPLACE FUNCTION mailqueue.tidy_webhooks(p_most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_count integer;
    v_freed integer;
    w record;
BEGIN
    -- It may have been sent: it is sent again with the same webhook-id. A crash of the worker uses no attempt.
    WITH lost AS MATERIALIZED (
        SELECT d.id FROM mailqueue.webhook_deliveries AS d WHERE d.status = 'assigned' AND d.lease_until < v_now
         ORDER BY d.lease_until LIMIT p_most FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE mailqueue.webhook_deliveries AS d
       SET status = 'pending', claim_no = NULL, assigned_at = NULL, lease_until = NULL,
           attempts = greatest(0, d.attempts - 1), last_error = 'the worker was lost while delivering it'
     WHERE d.id = ANY (ARRAY(SELECT l.id FROM lost AS l));
    GET DIAGNOSTICS v_count = ROW_COUNT;

    FOR w IN SELECT x.id, x.disabled_reason FROM mailqueue.webhooks AS x
              WHERE x.disabled_reason IN ('gone', 'failing') LOOP
        UPDATE mailqueue.webhook_deliveries AS d
           SET status = 'cancelled', finished_at = v_now,
               last_error = CASE w.disabled_reason WHEN 'gone' THEN 'the endpoint answered 410 and was disabled'
                                                   ELSE 'the endpoint kept failing and was disabled' END
         WHERE d.id = ANY (ARRAY(SELECT o.id FROM mailqueue.webhook_deliveries AS o
                                  WHERE o.webhook_id = w.id AND o.status = 'pending'
                                  ORDER BY o.run_at, o.id LIMIT p_most FOR NO KEY UPDATE SKIP LOCKED));
        GET DIAGNOSTICS v_freed = ROW_COUNT;
        v_count := v_count + v_freed;
    END LOOP;

    FOR w IN SELECT x.id FROM mailqueue.webhooks AS x WHERE x.removed_at IS NOT NULL LOOP
        WITH gone AS (
            DELETE FROM mailqueue.webhook_deliveries AS d
             WHERE d.id = ANY (ARRAY(SELECT o.id FROM mailqueue.webhook_deliveries AS o WHERE o.webhook_id = w.id
                                      ORDER BY o.id LIMIT p_most FOR UPDATE SKIP LOCKED)) RETURNING d.id
        ), unlogged AS (
            DELETE FROM mailqueue.webhook_attempts AS a USING gone AS g WHERE a.delivery_id = g.id
        )
        SELECT count(*) INTO v_freed FROM gone;
        v_count := v_count + v_freed;
        IF NOT EXISTS (SELECT FROM mailqueue.webhook_deliveries AS d WHERE d.webhook_id = w.id) THEN
            DELETE FROM mailqueue.webhooks AS x WHERE x.id = w.id;
            PERFORM mailqueue.forget_key('webhooks', w.id::text);
        END IF;
    END LOOP;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.tidy_webhooks(integer) IS
    'Return deliveries of lost workers, cancel deliveries to removed endpoints, delete the log of removed ones; '
    'returns the number of rows.';

-- Old deliveries are deleted in batches, oldest first: ids grow with time. Claimed ones are kept.
CREATE OR REPLACE FUNCTION mailqueue.sweep_webhooks(p_after uuid, p_most integer, OUT last uuid, OUT swept integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    WITH read AS MATERIALIZED (
        SELECT d.id, d.project_id, d.status, d.created_at, d.run_at FROM mailqueue.webhook_deliveries AS d
         WHERE d.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
           AND d.created_at < clock_timestamp() - interval '1 day'
         ORDER BY d.id LIMIT p_most
    ), gone AS (
        DELETE FROM mailqueue.webhook_deliveries AS d USING read AS r, mailqueue.retention AS k
         WHERE d.id = r.id AND k.project_id = r.project_id AND k.kind = 'webhook_deliveries' AND d.status <> 'assigned'
           AND r.created_at < clock_timestamp() - make_interval(days => k.keep_days)
        RETURNING d.id
    ), unlogged AS (
        DELETE FROM mailqueue.webhook_attempts AS a USING gone AS g WHERE a.delivery_id = g.id
    )
    SELECT (SELECT r.id FROM read AS r ORDER BY r.id DESC LIMIT 1), (SELECT count(*) FROM gone) INTO last, swept;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_webhooks(uuid, integer) IS
    'Delete deliveries after an id whose retention is over, with their attempts; returns the last id examined (NULL: '
    'there are no more) and the number deleted.';

-- A day later than their deliveries, so that no delivery refers to a missing event.
CREATE OR REPLACE FUNCTION mailqueue.sweep_webhook_events(p_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH gone AS (
        DELETE FROM mailqueue.webhook_events AS e
         WHERE e.id = ANY (ARRAY(SELECT o.id FROM mailqueue.webhook_events AS o
                                   JOIN mailqueue.retention AS k ON k.project_id = o.project_id
                                  WHERE k.kind = 'webhook_deliveries'
                                    AND o.created_at < clock_timestamp() - make_interval(days => k.keep_days + 1)
                                    AND o.created_at < clock_timestamp() - interval '2 days'
                                  LIMIT p_most))
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;
COMMENT ON FUNCTION mailqueue.sweep_webhook_events(integer) IS
    'Delete a batch of events whose deliveries are deleted; returns their number.';
