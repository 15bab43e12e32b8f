-- What a provider reports of messages that it accepted: late, repeated and in any order.

CREATE OR REPLACE FUNCTION mailqueue.find_whatsapp_notification(p_project uuid, p_id uuid)
RETURNS TABLE (id uuid, project_id uuid, sealed bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT c.id, c.project_id, c.sealed_token
      FROM mailqueue.notifications AS n
      JOIN mailqueue.notification_channels AS c ON c.id = n.notification_channel_id
     WHERE n.id = p_id AND n.project_id = p_project AND c.channel_type = 'whatsapp' AND c.status <> 'disconnected'
       AND coalesce(mailqueue.tenant(), p_project) = p_project
$$;
COMMENT ON FUNCTION mailqueue.find_whatsapp_notification(uuid, uuid) IS
    'The channel of a notification, whose provider reports about it.';

-- This locks no channel, which a settlement locks before; what a report means is applied by settle_receipts, after
-- this has committed. receipts has the last report of each message that was sent for a notification, by the id of the
-- provider. A report that is final stays; one about a message that was given up stays without effect.
CREATE OR REPLACE FUNCTION mailqueue.record_receipt(p_channel uuid, p_id uuid, p_message text, p_report jsonb)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 20;                           -- messages of a notification
    n mailqueue.notifications;
BEGIN
    SELECT * INTO n FROM mailqueue.notifications AS o
     WHERE o.id = p_id AND o.notification_channel_id = p_channel FOR NO KEY UPDATE;
    IF NOT FOUND OR n.receipts -> p_message ->> 'word' IN ('delivered', 'failed', 'over')
       OR n.receipts -> p_message ->> 'word' = p_report ->> 'word'
       OR NOT n.receipts ? p_message AND (SELECT count(*) FROM jsonb_object_keys(n.receipts)) >= c_most THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.check_tenant(n.project_id);
    UPDATE mailqueue.notifications AS o
       SET receipts = coalesce(o.receipts, '{}') || jsonb_build_object(p_message, p_report)
     WHERE o.id = p_id;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.record_receipt(uuid, uuid, text, jsonb) IS
    'Record what the provider reports of a message: word is sent, delivered or failed, with meaning and reason. False: '
    'it changes nothing.';

-- A notification that another transaction is writing is left to it: a settlement applies what was recorded before.
CREATE OR REPLACE FUNCTION mailqueue.settle_receipts(p_channel uuid, p_id uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.notifications AS n
                    WHERE n.id = p_id AND n.notification_channel_id = p_channel AND n.status IN ('sent', 'held')
                      AND n.receipts IS NOT NULL) THEN
        RETURN;
    END IF;
    PERFORM mailqueue.lock_channels(ARRAY[p_channel]);
    PERFORM FROM mailqueue.notifications AS n WHERE n.id = p_id AND n.status IN ('sent', 'held')
      FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM mailqueue.apply_receipt(p_id);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.settle_receipts(uuid, uuid) IS
    'Bring a notification to the state that its provider reported, once the report is recorded.';

CREATE OR REPLACE FUNCTION mailqueue.apply_receipt(p_id uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    n mailqueue.notifications;
    v_message text;
    v_report jsonb;
    v_is_again boolean;
BEGIN
    SELECT * INTO n FROM mailqueue.notifications AS o WHERE o.id = p_id AND o.status IN ('sent', 'held');
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A report proves that a message arrived at the provider of which that was unknown.
    SELECT r.key, r.value INTO v_message, v_report FROM jsonb_each(n.receipts) AS r
     WHERE r.value ->> 'word' <> 'over' AND r.key = coalesce(n.external_message_id, r.key)
     ORDER BY (r.value ->> 'word' = 'delivered') DESC, r.key LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    ELSIF v_report ->> 'word' <> 'failed' THEN
        UPDATE mailqueue.notifications AS o
           SET status = v_report ->> 'word', external_message_id = v_message, finished_at = v_now, last_error = NULL
         WHERE o.id = p_id AND o.status <> v_report ->> 'word';
        RETURN;
    END IF;
    v_is_again := v_report ->> 'meaning' IN ('failed', 'wait', 'channel', 'outside') AND n.attempts < n.max_attempts
        AND EXISTS (SELECT FROM mailqueue.notification_channels AS c
                     WHERE c.id = n.notification_channel_id AND c.status IN ('active', 'error'));
    UPDATE mailqueue.notifications AS o
       SET status = CASE WHEN v_is_again THEN 'pending' ELSE 'failed' END,
           finished_at = CASE WHEN v_is_again THEN NULL ELSE v_now END,
           run_at = CASE WHEN v_report ->> 'meaning' IN ('failed', 'wait')
                         THEN v_now + (ARRAY[30, 120, 480])[least(greatest(n.attempts, 1), 3)] * interval '1 s'
                         ELSE v_now END,
           external_message_id = CASE WHEN v_is_again THEN NULL ELSE v_message END,
           receipts = jsonb_set(n.receipts, ARRAY[v_message, 'word'], '"over"'),
           posting_claim = NULL, last_error = left(v_report ->> 'reason', 1000)
     WHERE o.id = p_id;
    IF v_report ->> 'meaning' = 'outside' THEN
        UPDATE mailqueue.channel_consents AS o SET window_until = NULL WHERE o.channel_id = n.notification_channel_id;
    ELSIF v_report ->> 'meaning' = 'channel' THEN
        UPDATE mailqueue.notification_channels AS o
           SET status = 'error', last_error = left(v_report ->> 'reason', 1000), updated_at = v_now
         WHERE o.id = n.notification_channel_id AND o.status = 'active';
    ELSIF v_report ->> 'meaning' = 'opted_out' THEN
        PERFORM mailqueue.opt_out_channel(n.notification_channel_id, v_report ->> 'reason');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.apply_receipt(uuid) IS
    'Bring a notification that was sent, or of which that is unknown, to the state that its provider reported.';

-- A report may arrive before the outcome of the request is written.
CREATE OR REPLACE FUNCTION mailqueue.apply_early_receipt() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.apply_receipt(NEW.id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.apply_early_receipt() IS 'Apply reports that arrived before a notification was sent.';

CREATE OR REPLACE TRIGGER notifications_reported AFTER UPDATE ON mailqueue.notifications
    FOR EACH ROW WHEN (NEW.receipts IS NOT NULL AND OLD.status = 'assigned' AND NEW.status IN ('sent', 'held'))
    EXECUTE FUNCTION mailqueue.apply_early_receipt();

CREATE OR REPLACE FUNCTION mailqueue.close_whatsapp_window(p_channel uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ UPDATE mailqueue.channel_consents AS o SET window_until = NULL WHERE o.channel_id = p_channel $$;
COMMENT ON FUNCTION mailqueue.close_whatsapp_window(uuid) IS
    'Send templates to a person until the next reply: the provider did not accept free text.';
