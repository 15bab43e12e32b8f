-- Events of emails for the stream, written in the transaction of the event; if no consumer wants them, one cheap
-- look-up for each statement.
--
-- Every change of a mail is a row of email_events, or (sent) of email_history, or (deferred) of send_logs; the
-- accepting functions write email.queued themselves, because a trigger would cost each mail more than its own row.

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.subscribed_webhooks(p_project uuid, p_type text) RETURNS SETOF uuid
LANGUAGE sql STABLE
AS $$
    SELECT w.id FROM mailqueue.webhooks AS w
     WHERE w.project_id = p_project AND w.is_enabled AND (w.event_types = '{}' OR p_type = ANY (w.event_types))
$$;
COMMENT ON FUNCTION mailqueue.subscribed_webhooks(uuid, text) IS
    'Webhooks of the project that subscribe to a type of event.';

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.subscribed_webhooks(p_project uuid, p_type text, p_at timestamptz,
    p_number bigint)
RETURNS SETOF uuid
LANGUAGE sql STABLE
AS $$
    SELECT w.id FROM mailqueue.webhooks AS w
     WHERE w.project_id = p_project AND w.is_enabled AND (w.event_types = '{}' OR p_type = ANY (w.event_types))
       AND w.created_at <= p_at AND mailqueue.is_subscribed(w.subscribed_after, p_type, p_number)
$$;
COMMENT ON FUNCTION mailqueue.subscribed_webhooks(uuid, text, timestamptz, bigint) IS
    'Webhooks of the project that subscribe to a type of event, and did when the event with that number was written at '
    'that time.';

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
BEGIN
    IF NOT mailqueue.are_events_wanted() OR mailqueue.is_restoring() THEN
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.event_stream (id, project_id, type, email_id, recipient, occurred_at, facts, is_test)
    SELECT i.id, i.project_id, 'email.' || i.type, i.email_id, i.recipient_email, i.occurred_at,
           nullif(jsonb_strip_nulls(jsonb_build_object(
               'reason', left(i.detail, 1000), 'code', i.code, 'source', i.source,
               'url', coalesce(d.data -> 'url', d.data -> 'link'), 'user_agent', d.data -> 'user_agent',
               'ip', d.data -> 'ip', 'is_machine', d.data -> 'is_machine')), '{}'), i.is_test
      FROM inserted AS i
     CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(i.data) WHEN 'object' THEN i.data END AS data) AS d
     WHERE i.type NOT IN ('queued', 'sent') AND mailqueue.is_wanted(i.project_id, 'email.' || i.type);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_events_webhooks() IS
    'AFTER INSERT on email_events, for each statement: write events to the stream.';

-- Triggers keep their names: a new name takes a lock that readers wait for.
CREATE OR REPLACE TRIGGER email_events_told AFTER INSERT ON mailqueue.email_events
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_events_webhooks();

-- Mail that ended otherwise has an event.
CREATE OR REPLACE FUNCTION mailqueue.email_history_webhooks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NOT mailqueue.are_events_wanted() OR mailqueue.is_restoring() THEN
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.event_stream (project_id, type, email_id, recipient, occurred_at, facts, is_test)
    SELECT i.project_id, 'email.sent', i.id, i.recipient_email, i.finished_at,
           jsonb_strip_nulls(jsonb_build_object('sender', i.assigned_to, 'message_id', i.message_id,
                                                'provider_id', i.provider_message_id)), i.is_test
      FROM inserted AS i
     WHERE i.status = 'sent' AND mailqueue.is_wanted(i.project_id, 'email.sent');
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_history_webhooks() IS
    'AFTER INSERT on email_history, for each statement: write events of sent mail to the stream.';

CREATE OR REPLACE TRIGGER email_history_told AFTER INSERT ON mailqueue.email_history
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_history_webhooks();

CREATE OR REPLACE FUNCTION mailqueue.enqueue_queued_event(q mailqueue.email_queue) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO mailqueue.event_stream (project_id, type, email_id, recipient, occurred_at, is_test)
    VALUES (q.project_id, 'email.queued', q.id, q.recipient_email, q.created_at, q.is_test);
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_queued_event(mailqueue.email_queue) IS
    'Write email.queued of one mail that is about to be inserted to the stream.';

CREATE OR REPLACE FUNCTION mailqueue.enqueue_queued_events(p_ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO mailqueue.event_stream (project_id, type, email_id, recipient, occurred_at, is_test)
    SELECT q.project_id, 'email.queued', q.id, q.recipient_email, now(), q.is_test
      FROM mailqueue.email_queue AS q
     WHERE q.id = ANY (p_ids) AND mailqueue.is_wanted(q.project_id, 'email.queued');
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_queued_events(uuid[]) IS
    'Write email.queued of mails that were just inserted to the stream.';

-- A temporary refusal of a mail that will be tried again. Other attempts have an event by their outcome.
CREATE OR REPLACE FUNCTION mailqueue.send_logs_webhooks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NOT mailqueue.is_wanted(NEW.project_id, 'email.deferred') OR mailqueue.is_restoring() THEN
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.event_stream (project_id, type, email_id, recipient, occurred_at, facts, is_test)
    SELECT NEW.project_id, 'email.deferred', NEW.email_id, NEW.recipient_email, NEW.sent_at,
           jsonb_strip_nulls(jsonb_build_object(
               'sender', NEW.sender_account_id, 'message_id', NEW.message_id, 'reason', left(NEW.reply, 1000),
               'code', coalesce(NEW.enhanced_code, NEW.error_code))), q.is_test
      FROM mailqueue.email_queue AS q WHERE q.id = NEW.email_id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.send_logs_webhooks() IS
    'AFTER INSERT on send_logs of a deferred attempt: write events to the stream.';

CREATE OR REPLACE TRIGGER send_logs_told AFTER INSERT ON mailqueue.send_logs
    FOR EACH ROW WHEN (NEW.status = 'deferred') EXECUTE FUNCTION mailqueue.send_logs_webhooks();
