-- Events of the stream as webhooks and outboxes get them: the payload is built when they are read.
--
-- Facts of the event are in the stream. What an email is as long as it exists (its recipients, category, campaign, tags
-- and custom data) is read from it, in the queue or in history.

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

CREATE OR REPLACE FUNCTION mailqueue.webhook_events_of(p_numbers bigint[]) RETURNS SETOF mailqueue.webhook_events
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT e.id, e.project_id, e.type, e.email_id, e.occurred_at, clock_timestamp(),
           mailqueue.webhook_payload(e.type, e.occurred_at, e.id, e.project_id, p.name, e.email_id,
               coalesce(e.recipient, m.recipient), m.recipients, m.category, m.campaign_id, m.tags, m.custom_data,
               s.name, CASE WHEN f.is_own THEN e.facts ->> 'message_id' ELSE m.message_id END,
               CASE WHEN f.is_own THEN e.facts ->> 'provider_id' ELSE m.provider_id END,
               e.facts ->> 'reason', e.facts ->> 'code', e.facts ->> 'source', e.facts, e.is_test), e.is_test
      FROM mailqueue.event_stream AS e
      JOIN mailqueue.projects AS p ON p.id = e.project_id
      LEFT JOIN LATERAL (
           SELECT q.category, q.campaign_id, q.tags, q.custom_data, q.recipients::integer, NULL AS message_id,
                  NULL AS provider_id, q.assigned_to, q.recipient_email AS recipient
             FROM mailqueue.email_queue AS q WHERE q.id = e.email_id
           UNION ALL
           SELECT h.category, h.campaign_id, h.tags, h.custom_data, h.recipients, h.message_id,
                  h.provider_message_id, h.assigned_to, h.recipient_email
             FROM mailqueue.email_history AS h WHERE h.id = e.email_id
            LIMIT 1) AS m ON true
     -- Of an attempt, the stream has sender and Message-ID; email.queued is from before the first.
     CROSS JOIN LATERAL (SELECT e.type IN ('email.queued', 'email.sent', 'email.deferred') AS is_own) AS f
      LEFT JOIN mailqueue.sender_accounts AS s
        ON s.id = CASE WHEN f.is_own THEN (e.facts ->> 'sender')::integer ELSE m.assigned_to END
     WHERE e.sequence_number = ANY (p_numbers)
     ORDER BY e.sequence_number;
END $$;
COMMENT ON FUNCTION mailqueue.webhook_events_of(bigint[]) IS
    'Events of the stream by their numbers, in order, with the bodies that webhooks get.';

-- An event that is read again adds nothing.
CREATE OR REPLACE FUNCTION mailqueue.queue_webhook_deliveries(p_numbers bigint[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    WITH made AS (
        INSERT INTO mailqueue.webhook_events (id, project_id, type, email_id, occurred_at, payload, is_test)
        SELECT e.id, e.project_id, e.type, e.email_id, e.occurred_at, e.payload, e.is_test
          FROM mailqueue.webhook_events_of(ARRAY(
               SELECT s.sequence_number FROM mailqueue.event_stream AS s
                WHERE s.sequence_number = ANY (p_numbers)
                  AND EXISTS (SELECT FROM mailqueue.subscribed_webhooks(s.project_id, s.type, s.created_at,
                                                                               s.sequence_number)))) AS e
        ON CONFLICT ON CONSTRAINT webhook_events_pkey DO NOTHING
        RETURNING id, project_id, type, is_test
    )
    INSERT INTO mailqueue.webhook_deliveries (project_id, webhook_id, event_id, type, is_test)
    SELECT m.project_id, w.id, m.id, m.type, m.is_test
      FROM made AS m
      JOIN mailqueue.event_stream AS s ON s.sequence_number = ANY (p_numbers) AND s.id = m.id
     CROSS JOIN LATERAL mailqueue.subscribed_webhooks(m.project_id, m.type, s.created_at, s.sequence_number) AS w(id)
     ORDER BY s.sequence_number;
END $$;
COMMENT ON FUNCTION mailqueue.queue_webhook_deliveries(bigint[]) IS
    'Queue events of the stream with a delivery for every webhook that subscribes to them.';
