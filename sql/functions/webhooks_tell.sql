-- What webhooks are told: in the transaction of the event, and where nobody wants to hear it one cheap look a statement.
--
-- Everything that happens to a mail is either a row of email_events, or (sent) one of email_history; that a mail was queued
-- is said by who accepts it, because a trigger there would cost each mail more than its own row.

-- What is said of a mail besides what happened to it. Unknown mail, or mail whose history is gone: an empty object.
CREATE OR REPLACE FUNCTION mailqueue.webhook_mail(p_email uuid) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT coalesce((
        SELECT json_build_object('category', m.category, 'campaign_id', m.campaign_id, 'tags', coalesce(m.tags, '{}'), 'recipients', m.recipients,
                                 'message_id', m.message_id, 'provider_message_id', m.provider_id, 'sender', s.name, 'recipient', m.recipient)
          FROM (SELECT q.category, q.campaign_id, q.tags, q.recipients, NULL AS message_id, NULL AS provider_id, q.assigned_to, q.recipient_email AS recipient
                  FROM mailqueue.email_queue AS q WHERE q.id = p_email
                UNION ALL
                SELECT h.category, h.campaign_id, h.tags, h.recipients, h.message_id, h.provider_message_id, h.assigned_to, h.recipient_email
                  FROM mailqueue.email_history AS h WHERE h.id = p_email) AS m
          LEFT JOIN mailqueue.sender_accounts AS s ON s.id = m.assigned_to LIMIT 1), '{}')
$$;
COMMENT ON FUNCTION mailqueue.webhook_mail(uuid) IS 'What webhooks are told of a mail itself.';

-- p_said: what happened, an object with reason, code, source and what else is known. docs/webhooks.md has the schema.
CREATE OR REPLACE FUNCTION mailqueue.webhook_payload(p_type text, p_at timestamptz, p_id uuid, p_project uuid, p_email uuid, p_mail json, p_said json) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT json_build_object('type', p_type,
        'timestamp', to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'data', json_build_object('version', 1, 'event_id', p_id, 'email_id', p_email, 'project_id', p_project,
            'project', (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = p_project),
            'recipient', coalesce(p_said ->> 'recipient', p_mail ->> 'recipient'), 'recipients', coalesce(p_mail -> 'recipients', '1'),
            'category', p_mail -> 'category', 'campaign_id', p_mail -> 'campaign_id', 'tags', coalesce(p_mail -> 'tags', '[]'),
            'sender', p_mail -> 'sender', 'message_id', p_mail -> 'message_id', 'provider_message_id', p_mail -> 'provider_message_id',
            'reason', p_said -> 'reason', 'code', p_said -> 'code', 'source', p_said -> 'source', 'url', p_said -> 'url',
            'user_agent', p_said -> 'user_agent', 'ip', p_said -> 'ip', 'is_machine', p_said -> 'is_machine', 'is_test', coalesce(p_said -> 'is_test', 'false')))
$$;
COMMENT ON FUNCTION mailqueue.webhook_payload(text, timestamptz, uuid, uuid, uuid, json, json) IS
    'The body of a webhook: {"type", "timestamp", "data"}, version 1.';

CREATE OR REPLACE FUNCTION mailqueue.webhook_wanted(p_project uuid, p_type text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM mailqueue.webhooks AS w
                    WHERE w.project_id = p_project AND w.is_enabled AND (w.event_types = '{}' OR p_type = ANY (w.event_types)))
$$;
COMMENT ON FUNCTION mailqueue.webhook_wanted(uuid, text) IS 'Whether some webhook of the project wants to hear of events of a type.';

-- One event to every webhook that wants it. Callers have looked whether there is one.
CREATE OR REPLACE FUNCTION mailqueue.tell_webhooks(p_ids uuid[], p_projects uuid[], p_types text[], p_emails uuid[], p_times timestamptz[], p_mails json[], p_said json[])
RETURNS void
LANGUAGE sql
AS $$
    WITH made AS (
        INSERT INTO mailqueue.webhook_events (id, project_id, type, email_id, occurred_at, payload)
        SELECT t.id, t.project_id, t.type, t.email_id, t.at,
               mailqueue.webhook_payload(t.type, t.at, t.id, t.project_id, t.email_id, coalesce(t.mail, mailqueue.webhook_mail(t.email_id)), t.said)
          FROM unnest(p_ids, p_projects, p_types, p_emails, p_times, p_mails, p_said) AS t(id, project_id, type, email_id, at, mail, said)
        ON CONFLICT ON CONSTRAINT webhook_events_pkey DO NOTHING
        RETURNING id, project_id, type
    )
    INSERT INTO mailqueue.webhook_deliveries (project_id, webhook_id, event_id, type)
    SELECT m.project_id, w.id, m.id, m.type
      FROM made AS m
      JOIN mailqueue.webhooks AS w ON w.project_id = m.project_id AND w.is_enabled AND (w.event_types = '{}' OR m.type = ANY (w.event_types))
$$;
COMMENT ON FUNCTION mailqueue.tell_webhooks(uuid[], uuid[], text[], uuid[], timestamptz[], json[], json[]) IS
    'Write events and a delivery of each for every webhook that wants it. p_mails NULL: it is looked up.';

-- What comes back from the archive was told when it happened.
CREATE OR REPLACE FUNCTION mailqueue.is_untold() RETURNS boolean
LANGUAGE sql STABLE
AS $$ SELECT coalesce(current_setting('mailqueue.untold', true), '') = 'on' $$;
COMMENT ON FUNCTION mailqueue.is_untold() IS 'Whether this transaction brings back old records, of which nobody is told.';

CREATE OR REPLACE FUNCTION mailqueue.email_events_told() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[]; v_projects uuid[]; v_types text[]; v_emails uuid[]; v_times timestamptz[]; v_said json[];
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.webhooks AS w WHERE w.is_enabled) OR mailqueue.is_untold() THEN
        RETURN NULL;
    END IF;
    -- By way of jsonb: what events say besides grows from version to version.
    SELECT array_agg(e.id ORDER BY e.n), array_agg(e.project_id ORDER BY e.n), array_agg(e.type ORDER BY e.n), array_agg(e.email_id ORDER BY e.n),
           array_agg(e.occurred_at ORDER BY e.n),
           array_agg(json_build_object('recipient', e.recipient_email, 'reason', left(e.said ->> 'detail', 1000), 'code', e.said -> 'code', 'source', e.said -> 'source',
               'url', coalesce(e.more -> 'url', e.more -> 'link'), 'user_agent', e.more -> 'user_agent', 'ip', e.more -> 'ip',
               'is_machine', e.more -> 'is_machine') ORDER BY e.n)
      INTO v_ids, v_projects, v_types, v_emails, v_times, v_said
      FROM (SELECT row_number() OVER () AS n, i.id, i.project_id, 'email.' || i.type AS type, i.email_id, i.occurred_at, i.recipient_email, s.said,
                   CASE jsonb_typeof(s.said -> 'data') WHEN 'object' THEN s.said -> 'data' END AS more
              FROM inserted AS i CROSS JOIN LATERAL (SELECT to_jsonb(i) AS said OFFSET 0) AS s
             WHERE i.type NOT IN ('queued', 'sent') AND mailqueue.webhook_wanted(i.project_id, 'email.' || i.type)) AS e;
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.tell_webhooks(v_ids, v_projects, v_types, v_emails, v_times, NULL, v_said);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_events_told() IS 'AFTER INSERT on email_events, once a statement: tell webhooks.';

CREATE OR REPLACE TRIGGER email_events_told AFTER INSERT ON mailqueue.email_events
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_events_told();

-- Mail that ended otherwise has an event.
CREATE OR REPLACE FUNCTION mailqueue.email_history_told() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[]; v_projects uuid[]; v_types text[]; v_emails uuid[]; v_times timestamptz[]; v_mails json[]; v_said json[];
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.webhooks AS w WHERE w.is_enabled) OR mailqueue.is_untold() THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(mailqueue.uuidv7()), array_agg(i.project_id), array_agg('email.sent'::text), array_agg(i.id), array_agg(i.finished_at),
           array_agg(json_build_object('category', i.category, 'campaign_id', i.campaign_id, 'tags', coalesce(i.tags, '{}'), 'recipients', i.recipients,
               'message_id', i.message_id, 'provider_message_id', i.provider_message_id, 'sender', s.name, 'recipient', i.recipient_email)),
           array_agg('{}'::json)
      INTO v_ids, v_projects, v_types, v_emails, v_times, v_mails, v_said
      FROM inserted AS i LEFT JOIN mailqueue.sender_accounts AS s ON s.id = i.assigned_to
     WHERE i.status = 'sent' AND mailqueue.webhook_wanted(i.project_id, 'email.sent');
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.tell_webhooks(v_ids, v_projects, v_types, v_emails, v_times, v_mails, v_said);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_history_told() IS 'AFTER INSERT on email_history, once a statement: tell webhooks of mail that was sent.';

CREATE OR REPLACE TRIGGER email_history_told AFTER INSERT ON mailqueue.email_history
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_history_told();

CREATE OR REPLACE FUNCTION mailqueue.tell_queued(p_ids uuid[]) RETURNS void
LANGUAGE sql
AS $$
    SELECT mailqueue.tell_webhooks(array_agg(mailqueue.uuidv7()), array_agg(q.project_id), array_agg('email.queued'::text), array_agg(q.id),
                                   array_agg(q.created_at), NULL, array_agg('{}'::json))
      FROM mailqueue.email_queue AS q
     WHERE q.id = ANY (p_ids) AND mailqueue.webhook_wanted(q.project_id, 'email.queued')
    HAVING count(*) > 0
$$;
COMMENT ON FUNCTION mailqueue.tell_queued(uuid[]) IS 'Tell webhooks of mail that was just queued.';

-- Before the row itself is there: nothing of it can be looked up.
CREATE OR REPLACE FUNCTION mailqueue.tell_queued_row(q mailqueue.email_queue) RETURNS void
LANGUAGE sql
AS $$
    SELECT mailqueue.tell_webhooks(ARRAY[mailqueue.uuidv7()], ARRAY[q.project_id], ARRAY['email.queued'], ARRAY[q.id], ARRAY[q.created_at],
        ARRAY[json_build_object('category', q.category, 'campaign_id', q.campaign_id, 'tags', coalesce(q.tags, '{}'), 'recipients', q.recipients,
                                'recipient', q.recipient_email)], ARRAY['{}'::json])
$$;
COMMENT ON FUNCTION mailqueue.tell_queued_row(mailqueue.email_queue) IS 'Tell webhooks of mail that is about to be queued.';
