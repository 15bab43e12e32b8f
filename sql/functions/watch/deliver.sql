-- Deliveries of notifications: which channels may have one now, the mark before each, and what answers mean for the
-- channel and its provider. Rates are rows that all processes share: a message a second to a channel, 20 to a
-- workspace and 100 to a provider; of WhatsApp a message in 6 seconds to a phone, 80 a second of a sender number and
-- 100 of an account.

CREATE OR REPLACE FUNCTION mailqueue.channel_rates(c mailqueue.notification_channels)
RETURNS TABLE (name text, gap interval)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.name, r.gap
      FROM (VALUES (c.workspace, interval '50 ms'), (c.sender_number, interval '12.5 ms'),
                   (c.twilio_sid, interval '10 ms')) AS r (name, gap)
     WHERE r.name IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.channel_rates(mailqueue.notification_channels) IS
    'Rows of workspace_rates that a delivery to a channel counts in, and the time between two deliveries.';

CREATE OR REPLACE FUNCTION mailqueue.ready_notifications(p_now timestamptz)
RETURNS TABLE (key uuid, project_id uuid, room integer, is_probe boolean)
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE waiting AS (
        (SELECT n.notification_channel_id AS id FROM mailqueue.notifications AS n WHERE n.status = 'pending'
          ORDER BY n.notification_channel_id LIMIT 1)
        UNION ALL
        SELECT (SELECT n.notification_channel_id FROM mailqueue.notifications AS n
                 WHERE n.status = 'pending' AND n.notification_channel_id > x.id
                 ORDER BY n.notification_channel_id LIMIT 1)
          FROM waiting AS x WHERE x.id IS NOT NULL
    )
    SELECT c.id, c.project_id, 1, true
      FROM waiting AS x
      JOIN mailqueue.notification_channels AS c ON c.id = x.id
      JOIN mailqueue.inbox_users AS u ON u.id = c.user_id
      LEFT JOIN mailqueue.queue_keys AS k ON k.queue = 'notifications' AND k.key = c.channel_type
     WHERE c.status = 'active' AND c.next_at <= p_now AND NOT mailqueue.is_paused(u)
       AND mailqueue.is_key_ready(k, p_now)
       -- OFFSET 0: one index step for each, not a join with all due rows.
       AND EXISTS (SELECT FROM mailqueue.notifications AS n
                    WHERE n.notification_channel_id = c.id AND n.status = 'pending' AND n.run_at <= p_now OFFSET 0)
$$;
COMMENT ON FUNCTION mailqueue.ready_notifications(timestamptz) IS
    'Channels that have due notifications and may have one now.';

-- Every claim of a notification is reserved here. Rows that another claim is writing are left to it, without a wait.
CREATE OR REPLACE FUNCTION mailqueue.begin_probe_notifications(p_channel uuid, p_lease interval) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    c mailqueue.notification_channels;
    v_provider text;
    v_rates text[];
    v_free integer;
BEGIN
    SELECT * INTO c FROM mailqueue.notification_channels AS o
     WHERE o.id = p_channel AND o.status = 'active' AND o.next_at <= v_now
       -- Rows that are handled alone are claimed without a reservation.
       AND EXISTS (SELECT FROM mailqueue.notifications AS n
                    WHERE n.notification_channel_id = p_channel AND n.status = 'pending' AND n.crashes = 0
                      AND n.run_at <= v_now)
       FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT array_agg(r.name) INTO v_rates FROM mailqueue.channel_rates(c) AS r;
    IF v_rates IS NOT NULL THEN
        PERFORM FROM mailqueue.workspace_rates AS w
          WHERE w.project_id = c.project_id AND w.workspace = ANY (v_rates) AND w.next_at <= v_now
            FOR NO KEY UPDATE SKIP LOCKED;
        GET DIAGNOSTICS v_free = ROW_COUNT;
        IF v_free < cardinality(v_rates) THEN
            RETURN false;
        END IF;
    END IF;
    SELECT p.name INTO v_provider FROM mailqueue.channel_providers AS p
     WHERE p.name = c.channel_type AND p.next_at <= v_now FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    ELSIF EXISTS (SELECT FROM mailqueue.queue_keys AS k
                   WHERE k.queue = 'notifications' AND k.key = v_provider
                     AND (k.opened_at IS NOT NULL OR k.blocked_until > v_now))
          AND NOT mailqueue.begin_key_probe('notifications', v_provider, p_lease) THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.notification_channels AS o
       SET next_at = v_now + CASE c.channel_type WHEN 'whatsapp' THEN interval '6 s' ELSE interval '1 s' END
     WHERE o.id = p_channel;
    UPDATE mailqueue.workspace_rates AS w SET next_at = greatest(w.next_at, v_now - interval '1 s') + r.gap
      FROM mailqueue.channel_rates(c) AS r WHERE w.project_id = c.project_id AND w.workspace = r.name;
    UPDATE mailqueue.channel_providers AS p
       SET next_at = greatest(p.next_at, v_now - interval '1 s') + interval '10 ms'
     WHERE p.name = v_provider;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.begin_probe_notifications(uuid, interval) IS
    'Reserve one delivery to a channel within the rates of channel, workspace and provider; false: not now.';

-- A mark that is there already was left by a worker that died: the message may have been posted.
CREATE OR REPLACE FUNCTION mailqueue.begin_notification(p_id uuid, p_claim bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    n record;
BEGIN
    SELECT o.posting_claim, c.status AS channel, mailqueue.is_paused(u) AS is_paused,
           c.channel_type <> 'whatsapp' OR EXISTS (SELECT FROM mailqueue.channel_consents AS s
                                                    WHERE s.channel_id = c.id AND s.withdrawn_at IS NULL) AS is_wanted
      INTO n
      FROM mailqueue.notifications AS o
      JOIN mailqueue.notification_channels AS c ON c.id = o.notification_channel_id
      JOIN mailqueue.inbox_users AS u ON u.id = o.user_id
     WHERE o.id = p_id AND o.claim_no = p_claim FOR NO KEY UPDATE OF o;
    IF NOT FOUND THEN
        RETURN 'lost';
    ELSIF n.posting_claim = p_claim THEN
        RETURN 'marked';                                     -- the answer to the first call was lost
    ELSIF n.posting_claim IS NOT NULL THEN
        RETURN 'doubtful';
    ELSIF n.channel = 'disconnected' THEN
        RETURN 'disconnected';
    ELSIF n.channel = 'opted_out' OR NOT n.is_wanted THEN
        RETURN 'opted_out';
    ELSIF n.channel <> 'active' OR n.is_paused THEN
        RETURN 'waits';
    END IF;
    UPDATE mailqueue.notifications AS o SET posting_claim = p_claim WHERE o.id = p_id;
    RETURN 'marked';
END $$;
COMMENT ON FUNCTION mailqueue.begin_notification(uuid, bigint) IS
    'Mark a claimed notification before it is posted; returns marked, doubtful, waits, disconnected, '
    'opted_out or lost.';

-- One order for all: channels, in the order of their ids, before their notifications. What a settlement writes may
-- change a channel by a trigger, whose row is locked before.
CREATE OR REPLACE FUNCTION mailqueue.lock_channels(p_channels uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT FROM mailqueue.notification_channels AS c WHERE c.id = ANY (p_channels) ORDER BY c.id FOR NO KEY UPDATE
$$;
COMMENT ON FUNCTION mailqueue.lock_channels(uuid[]) IS 'Lock channels before rows of their notifications.';

-- The key of circuits is the provider.
CREATE OR REPLACE FUNCTION mailqueue.note_channel_answers(p_channels uuid[], p_revisions integer[], p_faults text[],
    p_waits interval[], p_is_failed boolean[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    a record;
    c mailqueue.notification_channels;
BEGIN
    FOR a IN SELECT * FROM unnest(p_channels, p_revisions, p_faults, p_waits, p_is_failed)
                      AS x(channel_id, revision, fault, wait, is_failed) ORDER BY x.channel_id
    LOOP
        UPDATE mailqueue.notification_channels AS o
           SET status = CASE WHEN a.fault IS NOT NULL AND o.revision = a.revision AND o.status = 'active' THEN 'error'
                             ELSE o.status END,
               last_error = CASE WHEN a.fault IS NOT NULL AND o.revision = a.revision THEN left(a.fault, 1000)
                                 ELSE o.last_error END,
               next_at = greatest(o.next_at, v_now + a.wait), updated_at = v_now
         WHERE o.id = a.channel_id AND (a.fault IS NOT NULL OR a.wait IS NOT NULL)
        RETURNING o.* INTO c;
        IF FOUND AND a.wait IS NOT NULL THEN
            UPDATE mailqueue.workspace_rates AS w SET next_at = greatest(w.next_at, v_now + a.wait)
             WHERE w.project_id = c.project_id
               AND w.workspace IN (SELECT r.name FROM mailqueue.channel_rates(c) AS r);
        END IF;
    END LOOP;
    IF true = ANY (p_is_failed) OR cardinality(p_channels) > 0 AND mailqueue.has_key_in_trouble('notifications') THEN
        PERFORM mailqueue.note_key('notifications', s.provider, s.has_success, s.failures, NULL, NULL)
           FROM (SELECT f.provider, bool_or(NOT f.is_failed) AS has_success,
                        count(*) FILTER (WHERE f.n > f.last_success)::integer AS failures
                   FROM (SELECT o.channel_type AS provider, x.is_failed, x.n,
                                coalesce(max(x.n) FILTER (WHERE NOT x.is_failed) OVER (PARTITION BY o.channel_type),
                                         0) AS last_success
                           FROM unnest(p_channels, p_is_failed) WITH ORDINALITY AS x(channel_id, is_failed, n)
                           JOIN mailqueue.notification_channels AS o ON o.id = x.channel_id) AS f
                  GROUP BY f.provider) AS s;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.note_channel_answers(uuid[], integer[], text[], interval[], boolean[]) IS
    'Write what answers mean: a fault puts the channel in error, a wait delays channel and workspace, failures open '
    'the circuit of the provider.';

CREATE OR REPLACE FUNCTION mailqueue.retry_notifications(p_project uuid, p_ids uuid[], p_by text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    UPDATE mailqueue.notifications AS n
       SET status = 'pending', attempts = 0, crashes = 0, run_at = clock_timestamp(), finished_at = NULL,
           posting_claim = NULL, updated_at = clock_timestamp(), external_message_id = NULL,
           -- What is reported of earlier messages changes nothing any more.
           receipts = (SELECT jsonb_object_agg(r.message, '{"word": "over"}'::jsonb)
                         FROM (SELECT jsonb_object_keys(n.receipts) AS message
                               UNION SELECT n.external_message_id WHERE n.external_message_id IS NOT NULL) AS r)
      FROM mailqueue.notification_channels AS c
     WHERE n.id = ANY (p_ids) AND n.project_id = p_project AND n.status IN ('failed', 'held')
       AND c.id = n.notification_channel_id AND c.status IN ('active', 'error')
       -- The senders of all its mail were muted.
       AND (n.kind <> 'summary' OR EXISTS (SELECT FROM mailqueue.notifications AS m WHERE m.summary_id = n.id));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN
        PERFORM mailqueue.record_operation(p_project, 'notification.retried', 'notifications',
                                           jsonb_build_object('notifications', v_count), p_by);
    END IF;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.retry_notifications(uuid, uuid[], text) IS
    'Deliver notifications again that failed or whose outcome is unknown; returns how many.';

CREATE OR REPLACE FUNCTION mailqueue.notification_wait(p_id uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN u.notifications_paused THEN 'all notifications of its inbox user are paused'
                WHEN mailqueue.is_paused(u)
                     THEN format('all notifications of its inbox user are paused until %s',
                                 mailqueue.shown(u.paused_until))
                WHEN c.status = 'error'
                     THEN 'its channel is in error and has to be reconnected' || coalesce(': ' || c.last_error, '')
                WHEN mailqueue.key_wait('notifications', c.channel_type, c.channel_type) IS NOT NULL
                     THEN mailqueue.key_wait('notifications', c.channel_type, c.channel_type)
                WHEN c.next_at > clock_timestamp() + interval '2 s'
                     THEN format('its channel asked to wait until %s', mailqueue.shown(c.next_at)) END
      FROM mailqueue.notifications AS n
      JOIN mailqueue.notification_channels AS c ON c.id = n.notification_channel_id
      JOIN mailqueue.inbox_users AS u ON u.id = n.user_id
     WHERE n.id = p_id
$$;
COMMENT ON FUNCTION mailqueue.notification_wait(uuid) IS
    'Why a due notification is not delivered now; NULL if nothing holds it.';

-- Those who end a channel end what waits, not what is being posted: that is ended here when it returns. The lock lets
-- either see what the other writes.
CREATE OR REPLACE FUNCTION mailqueue.end_returned_notification() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_status text;
BEGIN
    SELECT c.status INTO v_status FROM mailqueue.notification_channels AS c
     WHERE c.id = NEW.notification_channel_id FOR SHARE;
    -- With a mark it may have been posted: no claim follows that would find it in doubt.
    IF v_status IN ('opted_out', 'disconnected') THEN
        NEW.status := CASE WHEN NEW.posting_claim IS NULL THEN 'failed' ELSE 'held' END;
        NEW.finished_at := CASE WHEN NEW.posting_claim IS NULL THEN clock_timestamp() END;
        NEW.last_error := CASE WHEN NEW.posting_claim IS NOT NULL
                                    THEN 'its worker was lost while it was posted: it may have arrived'
                               WHEN v_status = 'opted_out' THEN 'the person opted out'
                               ELSE 'its channel was disconnected' END;
        NEW.posting_claim := NULL;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.end_returned_notification() IS
    'End a notification that would wait for a channel which was disconnected, or whose person opted out, meanwhile.';

CREATE OR REPLACE TRIGGER notifications_returned BEFORE UPDATE ON mailqueue.notifications
    FOR EACH ROW WHEN (OLD.status = 'assigned' AND NEW.status = 'pending')
    EXECUTE FUNCTION mailqueue.end_returned_notification();
