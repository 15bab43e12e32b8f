-- Effects of accepted rows, once for each statement: suppressed mail is finished, lanes are signalled, waiting workers
-- are woken.

CREATE OR REPLACE FUNCTION mailqueue.suppress_new(p_ids uuid[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_reasons text[];
BEGIN
    UPDATE mailqueue.email_recipients AS r
       SET status = 'suppressed', reason = mailqueue.suppressed(q.project_id, r.address, q.category), settled_at = now()
      FROM mailqueue.email_queue AS q
     WHERE r.email_id = ANY (p_ids) AND q.id = r.email_id AND NOT q.is_test
       AND mailqueue.suppressed(q.project_id, r.address, q.category) IS NOT NULL;
    IF FOUND THEN
        UPDATE mailqueue.email_queue AS q
           SET recipients = greatest(1, (SELECT count(*) FROM mailqueue.email_recipients AS r
                                          WHERE r.email_id = q.id AND r.status = 'pending'))
         WHERE q.id = ANY (p_ids) AND q.recipients > 1;
    END IF;
    -- Finished here: no recipient is left.
    SELECT array_agg(q.id), array_agg(w.reason) INTO v_ids, v_reasons
      FROM mailqueue.email_queue AS q,
           LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id)
                    THEN (SELECT min(r.reason) FROM mailqueue.email_recipients AS r
                           WHERE r.email_id = q.id HAVING bool_and(r.status = 'suppressed'))
                    ELSE mailqueue.suppressed(q.project_id, q.recipient_email, q.category) END AS reason) AS w
     WHERE q.id = ANY (p_ids) AND NOT q.is_test AND w.reason IS NOT NULL;
    IF v_ids IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM mailqueue.retire_emails(v_ids, NULL, array_fill('suppressed'::text, ARRAY[cardinality(v_ids)]), v_reasons,
                                    NULL, NULL);
    RETURN cardinality(v_ids);
END $$;
COMMENT ON FUNCTION mailqueue.suppress_new(uuid[]) IS
    'Finish new mail whose recipients are all suppressed; returns the number of mails.';

-- Once for each statement, for rows inserted with their content: a batch, resent or requeued mail. Without
-- plan_cache_mode the look-up of a single id is planned at each call, which costs more than running it.
--
-- p_bytes: the size of the contents that were stored for them.
CREATE OR REPLACE FUNCTION mailqueue.accept_rows(p_ids uuid[], p_bytes bigint DEFAULT 0) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_stopped uuid[];
    v_count integer := 0;
    v_is_special boolean;
BEGIN
    INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails, accepted_on, bytes)
    SELECT q.lane_id, min(q.run_at), count(*) FILTER (WHERE q.created_at = now()), (now() AT TIME ZONE 'UTC')::date,
           CASE WHEN row_number() OVER () = 1 THEN p_bytes ELSE 0 END
      -- Requeued mail is older: it was counted when it was accepted.
      FROM mailqueue.email_queue AS q WHERE q.id = ANY (p_ids) GROUP BY q.lane_id;

    -- The plan may be made while there are no suppressions, and has to serve a million of them: OFFSET 0 rules out
    -- reading all of them into a hash table, and ORDER BY any index without the address.
    SELECT array_agg(q.id) INTO v_stopped FROM mailqueue.email_queue AS q
     WHERE q.id = ANY (p_ids)
       AND (EXISTS (SELECT FROM mailqueue.suppressions AS s
                     WHERE s.project_id = q.project_id AND s.address = mailqueue.address_key(q.recipient_email)
                     ORDER BY s.category OFFSET 0)
            OR EXISTS (SELECT FROM mailqueue.email_recipients AS r
                        WHERE q.recipients <> 1 AND r.email_id = q.id
                          AND EXISTS (SELECT FROM mailqueue.suppressions AS s
                                       WHERE s.project_id = q.project_id
                                         AND s.address = mailqueue.address_key(r.address)
                                       ORDER BY s.category OFFSET 0))
            OR EXISTS (SELECT FROM mailqueue.suppressions AS s
                        WHERE s.project_id = q.project_id AND s.address IS NULL OFFSET 0));
    IF v_stopped IS NOT NULL THEN
        v_count := mailqueue.suppress_new(v_stopped);
    END IF;
    -- One look-up for what few projects have.
    v_is_special := EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.ordering IS NOT NULL OR p.has_event_outboxes);
    IF mailqueue.is_consumed('email.queued')
       OR EXISTS (SELECT FROM mailqueue.webhooks AS w
                WHERE w.is_enabled AND (w.event_types = '{}' OR 'email.queued' = ANY (w.event_types)))
       OR v_is_special
       AND EXISTS (SELECT FROM mailqueue.outbox_state AS s
                    WHERE s.events IS NOT NULL AND (s.events = '{}' OR 'email.queued' = ANY (s.events))) THEN
        PERFORM mailqueue.enqueue_queued_events(p_ids);
    END IF;
    IF v_is_special AND EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.ordering IS NOT NULL) THEN
        PERFORM mailqueue.take_places(p_ids);
    END IF;
    PERFORM mailqueue.wake_workers();  -- NOTIFY serialises the commits of the whole server, so only if a worker waits
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.accept_rows(uuid[], bigint) IS
    'After an INSERT of rows with content: suppress, signal lanes, wake waiting workers. Returns the number of '
    'suppressed mails.';

CREATE OR REPLACE FUNCTION mailqueue.email_queue_stopped() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.suppress_new(ARRAY[NEW.id]);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_queue_stopped() IS
    'AFTER INSERT on email_queue, for mail without recipients: finish it as suppressed.';

CREATE OR REPLACE TRIGGER email_queue_stopped AFTER INSERT ON mailqueue.email_queue
    FOR EACH ROW WHEN (NEW.recipients = 0) EXECUTE FUNCTION mailqueue.email_queue_stopped();
