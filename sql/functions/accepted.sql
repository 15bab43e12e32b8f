-- What follows from accepted rows, once a statement: suppressed mail is finished, lanes are signalled, parked workers rung.

CREATE OR REPLACE FUNCTION mailqueue.suppress_new(p_ids uuid[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    v_ids uuid[];
    v_reasons text[];
BEGIN
    UPDATE mailqueue.email_recipients AS r
       SET status = 'suppressed', reason = mailqueue.suppressed(q.project_id, r.address, q.category), settled_at = now()
      FROM mailqueue.email_queue AS q
     WHERE r.email_id = ANY (p_ids) AND q.id = r.email_id
       AND mailqueue.suppressed(q.project_id, r.address, q.category) IS NOT NULL;
    IF FOUND THEN
        UPDATE mailqueue.email_queue AS q
           SET recipients = greatest(1, (SELECT count(*) FROM mailqueue.email_recipients AS r
                                          WHERE r.email_id = q.id AND r.status = 'pending'))
         WHERE q.id = ANY (p_ids) AND q.recipients > 1;
    END IF;
    -- Finished here: nobody is left to send it to.
    SELECT array_agg(q.id), array_agg(w.reason) INTO v_ids, v_reasons
      FROM mailqueue.email_queue AS q,
           LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id)
                    THEN (SELECT min(r.reason) FROM mailqueue.email_recipients AS r
                           WHERE r.email_id = q.id HAVING bool_and(r.status = 'suppressed'))
                    ELSE mailqueue.suppressed(q.project_id, q.recipient_email, q.category) END AS reason) AS w
     WHERE q.id = ANY (p_ids) AND w.reason IS NOT NULL;
    IF v_ids IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM mailqueue.retire_emails(v_ids, NULL, array_fill('suppressed'::text, ARRAY[cardinality(v_ids)]), v_reasons, NULL, NULL);
    RETURN cardinality(v_ids);
END $$;
COMMENT ON FUNCTION mailqueue.suppress_new(uuid[]) IS 'Finish new mail whose recipients are all suppressed; gives the number of mails.';

CREATE OR REPLACE FUNCTION mailqueue.email_queue_accepted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    v_stopped uuid[];
BEGIN
    INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails, accepted_on)
    SELECT n.lane_id, min(n.run_at), count(*) FILTER (WHERE n.created_at = now()), (now() AT TIME ZONE 'UTC')::date
      FROM new_rows AS n GROUP BY n.lane_id;  -- requeued mail is older: it was counted when it was accepted

    SELECT array_agg(n.id) INTO v_stopped FROM new_rows AS n
     WHERE EXISTS (SELECT FROM mailqueue.suppressions AS s
                    WHERE s.project_id = n.project_id AND s.address = lower(n.recipient_email))
        OR (n.recipients > 1
            AND EXISTS (SELECT FROM mailqueue.email_recipients AS r, mailqueue.suppressions AS s
                         WHERE r.email_id = n.id AND s.project_id = n.project_id AND s.address = lower(r.address)));
    IF v_stopped IS NOT NULL THEN
        PERFORM mailqueue.suppress_new(v_stopped);
    END IF;

    -- A NOTIFY serialises commits of the whole server: only when somebody is asleep.
    IF EXISTS (SELECT FROM mailqueue.waiters AS w WHERE w.queue = 'email_queue') THEN
        PERFORM pg_notify('mailqueue_email_queue', '');
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_queue_accepted() IS 'AFTER INSERT on email_queue, once a statement: suppress, signal lanes, ring parked workers.';

CREATE OR REPLACE TRIGGER email_queue_accepted AFTER INSERT ON mailqueue.email_queue
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_queue_accepted();
