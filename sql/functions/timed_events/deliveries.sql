-- The end of webhook deliveries of timed events, which is the end of the events.

CREATE OR REPLACE FUNCTION mailqueue.end_timed_event(p_id uuid, p_status text, p_attempts integer, p_error text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    -- A row that is locked, by the removal of its contact for example, is ended by end_delivered_timed_events().
    UPDATE mailqueue.timed_events AS t
       SET status = CASE p_status WHEN 'delivered' THEN 'completed' ELSE 'failed' END,
           attempts = greatest(1, least(p_attempts, t.max_attempts)),
           last_error = CASE p_status WHEN 'delivered' THEN NULL ELSE coalesce(p_error, 'the delivery was removed') END,
           finished_at = clock_timestamp()
     WHERE t.id = ANY (ARRAY(SELECT o.id FROM mailqueue.timed_events AS o
                              WHERE o.id = p_id AND (o.status = 'delivering'
                                                     OR o.status = 'failed' AND p_status = 'delivered')
                                FOR NO KEY UPDATE SKIP LOCKED));
END $$;
COMMENT ON FUNCTION mailqueue.end_timed_event(uuid, text, integer, text) IS
    'Write the end of the delivery of an event to the event.';

CREATE OR REPLACE FUNCTION mailqueue.webhook_deliveries_timed_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.end_timed_event(NEW.event_id, NEW.status, NEW.attempts, NEW.last_error);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.webhook_deliveries_timed_events() IS
    'AFTER UPDATE of a delivery of a timed event that has ended: end the event.';

CREATE OR REPLACE TRIGGER webhook_deliveries_timed_events AFTER UPDATE OF status ON mailqueue.webhook_deliveries
    FOR EACH ROW WHEN (NEW.type = 'timed_event.due' AND NEW.status IN ('delivered', 'failed', 'cancelled')
                       AND OLD.status <> NEW.status)
    EXECUTE FUNCTION mailqueue.webhook_deliveries_timed_events();

-- For what the trigger skipped, and for deliveries that were deleted with their webhook.
CREATE OR REPLACE FUNCTION mailqueue.end_delivered_timed_events(p_after uuid, p_most integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_last uuid;
    n record;
BEGIN
    FOR n IN
        SELECT t.id, d.status, d.attempts, d.last_error
          FROM (SELECT o.id, o.delivery_id FROM mailqueue.timed_events AS o
                 WHERE o.status = 'delivering' AND o.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
                 ORDER BY o.id LIMIT p_most) AS t
          LEFT JOIN mailqueue.webhook_deliveries AS d ON d.id = t.delivery_id
         ORDER BY t.id
    LOOP
        v_last := n.id;
        IF coalesce(n.status NOT IN ('pending', 'assigned'), true) THEN
            PERFORM mailqueue.end_timed_event(n.id, coalesce(n.status, 'removed'), coalesce(n.attempts, 1),
                                              n.last_error);
        END IF;
    END LOOP;
    RETURN v_last;
END $$;
COMMENT ON FUNCTION mailqueue.end_delivered_timed_events(uuid, integer) IS
    'End events whose delivery has ended; returns the last id that was examined, NULL: there are no more.';

-- Without a wait: a delivery that a worker settles goes on.
CREATE OR REPLACE FUNCTION mailqueue.timed_events_removed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    UPDATE mailqueue.webhook_deliveries AS d
       SET status = 'cancelled', finished_at = clock_timestamp(), last_error = 'the contact was removed'
     WHERE d.id = ANY (ARRAY(SELECT o.id FROM mailqueue.webhook_deliveries AS o
                              WHERE o.id = OLD.delivery_id AND o.status = 'pending' FOR NO KEY UPDATE SKIP LOCKED));
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.timed_events_removed() IS
    'AFTER DELETE of an event that is being delivered: cancel its delivery.';

CREATE OR REPLACE TRIGGER timed_events_removed AFTER DELETE ON mailqueue.timed_events
    FOR EACH ROW WHEN (OLD.status = 'delivering') EXECUTE FUNCTION mailqueue.timed_events_removed();
