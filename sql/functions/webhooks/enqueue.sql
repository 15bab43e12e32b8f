-- Events for webhooks and outboxes, queued in the transaction of the event; if none subscribes to them, one cheap
-- look-up for each statement.
--
-- Every change of a mail is a row of email_events, or (sent) of email_history, or (deferred) of send_logs; the
-- accepting functions queue email.queued themselves, because a trigger would cost each mail more than its own row.

DROP FUNCTION IF EXISTS mailqueue.tell_webhooks(uuid[], uuid[], text[], uuid[], timestamptz[], json[], json[]);
DROP FUNCTION IF EXISTS mailqueue.webhook_payload(text, timestamptz, uuid, uuid, uuid, json, json);
DROP FUNCTION IF EXISTS mailqueue.webhook_mail(uuid);
-- Earlier versions have no flag for test mail.
DROP FUNCTION IF EXISTS mailqueue.tell_webhooks(uuid[], uuid[], text[], uuid[], timestamptz[], json[]);
DROP FUNCTION IF EXISTS mailqueue.webhook_payload(text, timestamptz, uuid, uuid, text, uuid, text, integer, text, text,
    text[], text, text, text, text, text, text, jsonb);
-- Earlier versions have no custom data.
DROP FUNCTION IF EXISTS mailqueue.webhook_payload(text, timestamptz, uuid, uuid, text, uuid, text, integer, text, text,
    text[], text, text, text, text, text, text, jsonb, boolean);

-- The body; docs/webhooks.md has its schema. Without a query in it, so that it is inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.webhook_payload(p_type text, p_at timestamptz, p_id uuid, p_project_id uuid,
    p_project text, p_email uuid, p_recipient text, p_recipients integer, p_category text, p_campaign text,
    p_tags text[], p_custom_data jsonb, p_sender text, p_message_id text, p_provider_id text,
    p_reason text, p_code text, p_source text, p_more jsonb, p_is_test boolean) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT json_build_object('type', p_type, 'timestamp',
        to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'data',
        json_build_object('version', 1, 'event_id', p_id, 'email_id', p_email, 'project_id', p_project_id, 'project',
            p_project,
            'recipient', p_recipient, 'recipients', coalesce(p_recipients, 1), 'category', p_category, 'campaign_id',
            p_campaign,
            'tags', coalesce(p_tags, '{}'), 'custom_data', coalesce(p_custom_data, '{}'), 'sender', p_sender,
            'message_id', p_message_id, 'provider_message_id', p_provider_id,
            'reason', left(p_reason, 1000), 'code', p_code, 'source', p_source, 'url',
            coalesce(p_more -> 'url', p_more -> 'link'),
            'user_agent', p_more -> 'user_agent', 'ip', p_more -> 'ip', 'is_machine', p_more -> 'is_machine', 'is_test',
            p_is_test))
$$;
COMMENT ON FUNCTION mailqueue.webhook_payload(text, timestamptz, uuid, uuid, text, uuid, text, integer, text, text,
    text[], jsonb, text, text, text, text, text, text, jsonb,
    boolean) IS
    'Body of a webhook: {"type", "timestamp", "data"}, version 1.';

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.subscribed_webhooks(p_project uuid, p_type text) RETURNS SETOF uuid
LANGUAGE sql STABLE
AS $$
    SELECT w.id FROM mailqueue.webhooks AS w
     WHERE w.project_id = p_project AND w.is_enabled AND (w.event_types = '{}' OR p_type = ANY (w.event_types))
$$;
COMMENT ON FUNCTION mailqueue.subscribed_webhooks(uuid, text) IS
    'Webhooks of the project that subscribe to a type of event.';
DROP FUNCTION IF EXISTS mailqueue.webhook_wanted(uuid, text);  -- its name in earlier releases

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.event_subscribers(p_project uuid, p_type text) RETURNS SETOF uuid
LANGUAGE sql STABLE
AS $$
    SELECT w.id FROM mailqueue.subscribed_webhooks(p_project, p_type) AS w(id)
    UNION ALL
    SELECT o.id FROM mailqueue.event_outboxes(p_project, p_type) AS o(id)
$$;
COMMENT ON FUNCTION mailqueue.event_subscribers(uuid, text) IS
    'Webhooks of the project that subscribe to a type of event, and outboxes that publish it.';

-- In earlier releases, by two names: each column as an array of its own.
DROP FUNCTION IF EXISTS mailqueue.tell_webhooks(uuid[], uuid[], text[], uuid[], timestamptz[], json[], boolean[]);
DROP FUNCTION IF EXISTS mailqueue.enqueue_webhook_events(uuid[], uuid[], text[], uuid[], timestamptz[], json[],
                                                         boolean[]);

-- Each event for every webhook and outbox that subscribes to it. Callers pass only events that have one.
CREATE OR REPLACE FUNCTION mailqueue.enqueue_webhook_events(p_events mailqueue.webhook_events[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_events IS NULL THEN
        RETURN;
    END IF;
    WITH made AS (
        INSERT INTO mailqueue.webhook_events (id, project_id, type, email_id, occurred_at, payload, is_test)
        SELECT e.id, e.project_id, e.type, e.email_id, e.occurred_at, e.payload, e.is_test FROM unnest(p_events) AS e
         WHERE EXISTS (SELECT FROM mailqueue.subscribed_webhooks(e.project_id, e.type))
        ON CONFLICT ON CONSTRAINT webhook_events_pkey DO NOTHING
        RETURNING id, project_id, type, is_test
    )
    INSERT INTO mailqueue.webhook_deliveries (project_id, webhook_id, event_id, type, is_test)
    SELECT m.project_id, w.id, m.id, m.type, m.is_test
      FROM made AS m CROSS JOIN LATERAL mailqueue.subscribed_webhooks(m.project_id, m.type) AS w(id);
    IF EXISTS (SELECT FROM mailqueue.outbox_state AS s WHERE s.events IS NOT NULL) THEN
        PERFORM mailqueue.publish_mail_events(p_events);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_webhook_events(mailqueue.webhook_events[]) IS
    'Queue events, with a delivery for every webhook and a message for every outbox that subscribes to them; NULL: '
    'there are none.';

-- Its name in earlier releases.
DROP FUNCTION IF EXISTS mailqueue.is_untold();

-- Restored records were sent to webhooks when they happened.
CREATE OR REPLACE FUNCTION mailqueue.is_restoring() RETURNS boolean
LANGUAGE sql STABLE
AS $$ SELECT coalesce(current_setting('mailqueue.untold', true), '') = 'on' $$;
COMMENT ON FUNCTION mailqueue.is_restoring() IS
    'Whether this transaction restores archived records, which are not sent to webhooks.';

CREATE OR REPLACE FUNCTION mailqueue.email_events_webhooks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_events mailqueue.webhook_events[];
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.webhooks AS w WHERE w.is_enabled)
       AND NOT EXISTS (SELECT FROM mailqueue.outbox_state AS s WHERE s.events IS NOT NULL)
       OR mailqueue.is_restoring() THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(ROW(i.id, i.project_id, 'email.' || i.type, i.email_id, i.occurred_at, NULL,
               mailqueue.webhook_payload('email.' || i.type, i.occurred_at, i.id, i.project_id, p.name, i.email_id,
                   coalesce(i.recipient_email, m.recipient), m.recipients, m.category, m.campaign_id, m.tags,
                   m.custom_data, s.name, m.message_id, m.provider_id,
                   i.detail, i.code, i.source, CASE jsonb_typeof(i.data) WHEN 'object' THEN i.data END, i.is_test),
               i.is_test)::mailqueue.webhook_events)
      INTO v_events
      FROM inserted AS i
      JOIN mailqueue.projects AS p ON p.id = i.project_id
      LEFT JOIN LATERAL (
           SELECT q.category, q.campaign_id, q.tags, q.custom_data, q.recipients::integer, NULL AS message_id,
                  NULL AS provider_id, q.assigned_to, q.recipient_email AS recipient
             FROM mailqueue.email_queue AS q WHERE q.id = i.email_id
           UNION ALL
           SELECT h.category, h.campaign_id, h.tags, h.custom_data, h.recipients, h.message_id,
                  h.provider_message_id, h.assigned_to, h.recipient_email
             FROM mailqueue.email_history AS h WHERE h.id = i.email_id
            LIMIT 1) AS m ON true
      LEFT JOIN mailqueue.sender_accounts AS s ON s.id = m.assigned_to
     WHERE i.type NOT IN ('queued', 'sent')
       AND EXISTS (SELECT FROM mailqueue.event_subscribers(i.project_id, 'email.' || i.type));
    PERFORM mailqueue.enqueue_webhook_events(v_events);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_events_webhooks() IS
    'AFTER INSERT on email_events, for each statement: queue events for webhooks.';

-- Triggers keep their names: a new name takes a lock that readers wait for.
CREATE OR REPLACE TRIGGER email_events_told AFTER INSERT ON mailqueue.email_events
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_events_webhooks();
DROP FUNCTION IF EXISTS mailqueue.email_events_told();

-- Mail that ended otherwise has an event.
CREATE OR REPLACE FUNCTION mailqueue.email_history_webhooks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_events mailqueue.webhook_events[];
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.webhooks AS w WHERE w.is_enabled)
       AND NOT EXISTS (SELECT FROM mailqueue.outbox_state AS s WHERE s.events IS NOT NULL)
       OR mailqueue.is_restoring() THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(ROW(i.event_id, i.project_id, 'email.sent', i.id, i.finished_at, NULL,
               mailqueue.webhook_payload('email.sent', i.finished_at, i.event_id, i.project_id, p.name, i.id,
                   i.recipient_email, i.recipients::integer, i.category, i.campaign_id, i.tags, i.custom_data, s.name,
                   i.message_id, i.provider_message_id, NULL, NULL, NULL, NULL, i.is_test),
               i.is_test)::mailqueue.webhook_events)
      INTO v_events
      FROM (SELECT mailqueue.uuidv7() AS event_id, n.* FROM inserted AS n WHERE n.status = 'sent' OFFSET 0) AS i
      JOIN mailqueue.projects AS p ON p.id = i.project_id
      LEFT JOIN mailqueue.sender_accounts AS s ON s.id = i.assigned_to
     WHERE EXISTS (SELECT FROM mailqueue.event_subscribers(i.project_id, 'email.sent'));
    PERFORM mailqueue.enqueue_webhook_events(v_events);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_history_webhooks() IS
    'AFTER INSERT on email_history, for each statement: queue events of sent mail for webhooks.';

CREATE OR REPLACE TRIGGER email_history_told AFTER INSERT ON mailqueue.email_history
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_history_webhooks();
DROP FUNCTION IF EXISTS mailqueue.email_history_told();

-- Its name in earlier releases.
DROP FUNCTION IF EXISTS mailqueue.tell_queued_row(mailqueue.email_queue);

-- Called before the row is inserted, so the row itself cannot be queried.
CREATE OR REPLACE FUNCTION mailqueue.enqueue_queued_event(q mailqueue.email_queue) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_id uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.enqueue_webhook_events(ARRAY[ROW(v_id, q.project_id, 'email.queued', q.id, q.created_at, NULL,
        mailqueue.webhook_payload('email.queued', q.created_at, v_id, q.project_id,
            (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = q.project_id),
            q.id, q.recipient_email, q.recipients::integer, q.category, q.campaign_id, q.tags, q.custom_data,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, q.is_test),
        q.is_test)::mailqueue.webhook_events]);
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_queued_event(mailqueue.email_queue) IS
    'Queue email.queued of one mail that is about to be inserted.';

-- Its name in earlier releases.
DROP FUNCTION IF EXISTS mailqueue.tell_queued(uuid[]);

CREATE OR REPLACE FUNCTION mailqueue.enqueue_queued_events(p_ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_events mailqueue.webhook_events[];
BEGIN
    SELECT array_agg(ROW(i.event_id, i.project_id, 'email.queued', i.id, i.at, NULL,
               mailqueue.webhook_payload('email.queued', i.at, i.event_id, i.project_id, p.name, i.id,
                   i.recipient_email, i.recipients::integer, i.category, i.campaign_id, i.tags, i.custom_data,
                   NULL, NULL, NULL, NULL, NULL, NULL, NULL, i.is_test),
               i.is_test)::mailqueue.webhook_events)
      INTO v_events
      FROM (SELECT mailqueue.uuidv7() AS event_id, now() AS at, q.* FROM mailqueue.email_queue AS q
             WHERE q.id = ANY (p_ids) OFFSET 0) AS i
      JOIN mailqueue.projects AS p ON p.id = i.project_id
     WHERE EXISTS (SELECT FROM mailqueue.event_subscribers(i.project_id, 'email.queued'));
    PERFORM mailqueue.enqueue_webhook_events(v_events);
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_queued_events(uuid[]) IS 'Queue email.queued of mails that were just inserted.';

-- A temporary refusal of a mail that will be tried again. Other attempts have an event by their outcome.
CREATE OR REPLACE FUNCTION mailqueue.send_logs_webhooks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid := mailqueue.uuidv7();
    q mailqueue.email_queue;
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.event_subscribers(NEW.project_id, 'email.deferred'))
       OR mailqueue.is_restoring() THEN
        RETURN NULL;
    END IF;
    SELECT * INTO q FROM mailqueue.email_queue AS o WHERE o.id = NEW.email_id;
    IF FOUND THEN
        PERFORM mailqueue.enqueue_webhook_events(ARRAY[ROW(v_id, NEW.project_id, 'email.deferred', NEW.email_id,
            NEW.sent_at, NULL,
            mailqueue.webhook_payload('email.deferred', NEW.sent_at, v_id, NEW.project_id,
                (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = NEW.project_id), NEW.email_id,
                NEW.recipient_email, q.recipients::integer, q.category, q.campaign_id, q.tags, q.custom_data,
                (SELECT s.name FROM mailqueue.sender_accounts AS s WHERE s.id = NEW.sender_account_id),
                NEW.message_id, NULL, NEW.reply, coalesce(NEW.enhanced_code, NEW.error_code), NULL, NULL, q.is_test),
            q.is_test)::mailqueue.webhook_events]);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.send_logs_webhooks() IS
    'AFTER INSERT on send_logs of a deferred attempt: queue events for webhooks.';

CREATE OR REPLACE TRIGGER send_logs_told AFTER INSERT ON mailqueue.send_logs
    FOR EACH ROW WHEN (NEW.status = 'deferred') EXECUTE FUNCTION mailqueue.send_logs_webhooks();
DROP FUNCTION IF EXISTS mailqueue.send_logs_told();
