-- Events that are due: mail is enqueued, webhook calls become deliveries, in the transaction that settles the event.

CREATE OR REPLACE FUNCTION mailqueue.timed_events_changed() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.version := OLD.version % 2147483647 + 1;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.timed_events_changed() IS
    'BEFORE UPDATE of a timed event that changes it: the next version, and its time. Renewing a lease is no change.';

-- By values: rules of zones that move nothing, and a change to what is there already, leave the version as it is.
CREATE OR REPLACE TRIGGER timed_events_changed BEFORE UPDATE ON mailqueue.timed_events
    FOR EACH ROW WHEN ((OLD.status, OLD.run_at, OLD.attempts, OLD.last_error, OLD.finished_at, OLD.kind, OLD.contact_id,
                        OLD.local_at, OLD.time_zone, OLD.follows_contact, OLD.due_at, OLD.idempotency_key, OLD.payload,
                        OLD.template, OLD.recipient, OLD.webhook_id, OLD.email_id, OLD.delivery_id)
                       IS DISTINCT FROM
                       (NEW.status, NEW.run_at, NEW.attempts, NEW.last_error, NEW.finished_at, NEW.kind, NEW.contact_id,
                        NEW.local_at, NEW.time_zone, NEW.follows_contact, NEW.due_at, NEW.idempotency_key, NEW.payload,
                        NEW.template, NEW.recipient, NEW.webhook_id, NEW.email_id, NEW.delivery_id))
    EXECUTE FUNCTION mailqueue.timed_events_changed();

CREATE OR REPLACE FUNCTION mailqueue.timed_events_ended() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.plan_next_birthday(NEW.contact_id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.timed_events_ended() IS
    'AFTER UPDATE of a birthday that has ended, however it did: make the next one in the same transaction.';

CREATE OR REPLACE TRIGGER timed_events_ended AFTER UPDATE OF status ON mailqueue.timed_events
    FOR EACH ROW WHEN (NEW.is_birthday AND NEW.status IN ('completed', 'failed', 'cancelled')
                       AND OLD.status <> NEW.status)
    EXECUTE FUNCTION mailqueue.timed_events_ended();

CREATE OR REPLACE FUNCTION mailqueue.timed_event_recipient(t mailqueue.timed_events, c mailqueue.contacts) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN coalesce(t.recipient,
                CASE WHEN concat_ws(' ', c.first_name, c.last_name) = '' THEN c.email
                     ELSE format('"%s" <%s>', replace(replace(concat_ws(' ', c.first_name, c.last_name), '\', '\\'),
                                                      '"', '\"'), c.email) END);
COMMENT ON FUNCTION mailqueue.timed_event_recipient(mailqueue.timed_events, mailqueue.contacts) IS
    'The recipient of the mail of an event: the one it names, or else its contact by name and address.';

-- What templates see beside the payload, and webhooks in their data.
CREATE OR REPLACE FUNCTION mailqueue.timed_event_facts(t mailqueue.timed_events) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN jsonb_build_object('id', t.id, 'kind', t.kind, 'idempotency_key', t.idempotency_key,
                          'target_timestamp_local', to_char(t.local_at, 'YYYY-MM-DD"T"HH24:MI:SS'),
                          'target_timestamp_utc', to_char(t.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                          'target_timezone', t.time_zone);
COMMENT ON FUNCTION mailqueue.timed_event_facts(mailqueue.timed_events) IS
    'An event as the variable "event" of templates has it.';

CREATE OR REPLACE FUNCTION mailqueue.timed_event_mail(t mailqueue.timed_events, c mailqueue.contacts) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN jsonb_build_object(
    'recipient', mailqueue.timed_event_recipient(t, c), 'template', t.template, 'language', c.language,
    'variables', t.payload || jsonb_build_object(
        'event', mailqueue.timed_event_facts(t),
        'contact', CASE WHEN c.id IS NULL THEN '{}' ELSE mailqueue.contact_document(c) END),
    'is_test', t.is_test,
    'custom_data', jsonb_build_object('timed_event_id', t.id, 'timed_event_kind', t.kind));
COMMENT ON FUNCTION mailqueue.timed_event_mail(mailqueue.timed_events, mailqueue.contacts) IS
    'The mail of an event, as enqueue_batch() takes it.';

CREATE OR REPLACE FUNCTION mailqueue.timed_event_body(t mailqueue.timed_events, c mailqueue.contacts, p_project text)
RETURNS json
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN json_build_object(
    'type', 'timed_event.due',
    'timestamp', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'data', jsonb_build_object('version', 1, 'event_id', t.id, 'project_id', t.project_id, 'project', p_project,
                               'contact_id', t.contact_id, 'payload', t.payload, 'is_test', t.is_test,
                               'contact', CASE WHEN c.id IS NOT NULL THEN mailqueue.contact_document(c) END)
            || mailqueue.timed_event_facts(t) - 'id');
COMMENT ON FUNCTION mailqueue.timed_event_body(mailqueue.timed_events, mailqueue.contacts, text) IS
    'Body of the webhook call of an event, version 1.';

-- The id of the webhook event is that of the timed event: a second delivery, after a requeue, has the same Webhook-Id.
CREATE OR REPLACE FUNCTION mailqueue.deliver_timed_events(p_ids uuid[])
RETURNS TABLE (id uuid, outcome text, status text, reason text, email_id uuid, delivery_id uuid)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT t.id, t.project_id, t.webhook_id, t.is_test, w.id IS NOT NULL AS is_known,
               CASE WHEN w.id IS NOT NULL THEN mailqueue.timed_event_body(t, c, p.name) END AS body
          FROM mailqueue.timed_events AS t
          JOIN mailqueue.projects AS p ON p.id = t.project_id
          LEFT JOIN mailqueue.contacts AS c ON c.id = t.contact_id
          LEFT JOIN mailqueue.webhooks AS w ON w.id = t.webhook_id AND w.project_id = t.project_id AND w.is_enabled
                                           AND w.removed_at IS NULL
         WHERE t.id = ANY (p_ids) AND t.webhook_id IS NOT NULL
    ), written AS (
        INSERT INTO mailqueue.webhook_events (id, project_id, type, occurred_at, payload, is_test)
        SELECT f.id, f.project_id, 'timed_event.due', clock_timestamp(), f.body, f.is_test FROM found AS f
         WHERE f.is_known
        ON CONFLICT ON CONSTRAINT webhook_events_pkey DO NOTHING
    ), queued AS (
        INSERT INTO mailqueue.webhook_deliveries (project_id, webhook_id, event_id, type, is_test, max_attempts)
        SELECT f.project_id, f.webhook_id, f.id, 'timed_event.due', f.is_test, 4 FROM found AS f WHERE f.is_known
        RETURNING id, event_id
    )
    SELECT f.id, CASE WHEN f.is_known THEN 'done' ELSE 'retry' END, CASE WHEN f.is_known THEN 'delivering' END,
           CASE WHEN NOT f.is_known THEN 'its webhook is disabled or was removed' END, NULL::uuid, q.id
      FROM found AS f LEFT JOIN queued AS q ON q.event_id = f.id;
END $$;
COMMENT ON FUNCTION mailqueue.deliver_timed_events(uuid[]) IS
    'Queue the webhook calls of events; a row for each with its outcome.';

CREATE OR REPLACE FUNCTION mailqueue.enqueue_timed_events(p_project uuid, p_ids uuid[], p_mails jsonb)
RETURNS TABLE (id uuid, outcome text, status text, reason text, email_id uuid, delivery_id uuid)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_outcome text;
    v_reason text;
    v_left uuid[] := p_ids;
    v_n integer := 0;                                        -- the mail of the first of them
    v_found record;
BEGIN
    BEGIN
        RETURN QUERY
        SELECT p_ids[b.index + 1], CASE b.status WHEN 'rejected' THEN 'retry' ELSE 'done' END, NULL::text,
               CASE b.status WHEN 'queued' THEN NULL ELSE b.reason END, b.id, NULL::uuid
          FROM mailqueue.accept_batch((SELECT p.name FROM mailqueue.projects AS p WHERE p.id = p_project),
                                      p_mails) AS b;
        RETURN;
    EXCEPTION
        -- No room, for now: this uses no attempt.
        WHEN SQLSTATE 'MQ002' OR disk_full THEN v_outcome := 'defer'; v_reason := SQLERRM;
        WHEN invalid_parameter_value THEN v_outcome := 'retry'; v_reason := SQLERRM;
    END;
    IF v_outcome = 'defer' THEN
        -- There may be room for some of them: one after another, until one is refused.
        WHILE cardinality(p_ids) > 1 AND cardinality(v_left) > 0 LOOP
            SELECT * INTO v_found
              FROM mailqueue.enqueue_timed_events(p_project, v_left[1 : 1], jsonb_build_array(p_mails -> v_n));
            EXIT WHEN v_found.outcome = 'defer';
            RETURN QUERY SELECT v_found.id, v_found.outcome, v_found.status, v_found.reason, v_found.email_id,
                                v_found.delivery_id;
            v_n := v_n + 1;
            v_left := v_left[2 :];
        END LOOP;
    END IF;
    RETURN QUERY SELECT i.id, v_outcome, NULL::text, v_reason, NULL::uuid, NULL::uuid FROM unnest(v_left) AS i(id);
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_timed_events(uuid, uuid[], jsonb) IS
    'Enqueue the mail of events of one project; a row for each with its outcome.';

CREATE OR REPLACE FUNCTION mailqueue.fire_timed_events(p_ids uuid[], p_claims bigint[])
RETURNS TABLE (id uuid, outcome text, status text, reason text, email_id uuid, delivery_id uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_busy uuid[];
    v_stale uuid[];
    g record;
BEGIN
    -- The transaction that removes or erases a contact locks it, and then sees the mail made here.
    v_busy := ARRAY(SELECT t.contact_id FROM mailqueue.timed_events AS t
                     WHERE t.id = ANY (p_ids) AND t.contact_id IS NOT NULL
                    EXCEPT SELECT k.id FROM (
                        SELECT c.id FROM mailqueue.contacts AS c
                         WHERE c.id = ANY (ARRAY(SELECT t.contact_id FROM mailqueue.timed_events AS t
                                                  WHERE t.id = ANY (p_ids)))
                         ORDER BY c.id FOR KEY SHARE SKIP LOCKED) AS k);
    v_busy := ARRAY(SELECT t.id FROM mailqueue.timed_events AS t
                     WHERE t.id = ANY (p_ids) AND t.contact_id = ANY (v_busy));
    RETURN QUERY SELECT i.id, 'defer', NULL::text, 'the contact is being changed or removed', NULL::uuid, NULL::uuid
                   FROM unnest(v_busy) AS i(id);
    -- An event whose reason is gone is not fired; its contact may have changed while a worker had it.
    v_stale := ARRAY(SELECT t.id FROM mailqueue.timed_events AS t
                       LEFT JOIN mailqueue.contacts AS c ON c.id = t.contact_id
                       LEFT JOIN mailqueue.birthday_rules AS r ON r.project_id = t.project_id
                      WHERE t.id = ANY (p_ids) AND t.id <> ALL (v_busy)
                        AND (t.is_birthday AND (c.date_of_birth IS NULL OR r.is_enabled IS NOT TRUE)
                             OR c.email_key = 'erased@erased.invalid' OR t.recipient LIKE '%erased@erased.invalid%'));
    RETURN QUERY SELECT t.id, 'done', 'cancelled',
                        CASE WHEN t.is_birthday THEN 'the contact has no birthday any more'
                             ELSE 'the recipient was erased' END, NULL::uuid, NULL::uuid
                   FROM mailqueue.timed_events AS t WHERE t.id = ANY (v_stale);
    FOR g IN
        SELECT t.project_id, array_agg(t.id ORDER BY t.id) AS ids,
               jsonb_agg(mailqueue.timed_event_mail(t, c) ORDER BY t.id) AS mails
          FROM unnest(p_ids, p_claims) AS i(id, claim_no)
          JOIN mailqueue.timed_events AS t ON t.id = i.id AND t.claim_no = i.claim_no
          LEFT JOIN mailqueue.contacts AS c ON c.id = t.contact_id
         WHERE t.template IS NOT NULL AND t.id <> ALL (v_stale || v_busy)
         GROUP BY t.project_id ORDER BY t.project_id
    LOOP
        RETURN QUERY SELECT * FROM mailqueue.enqueue_timed_events(g.project_id, g.ids, g.mails);
    END LOOP;
    RETURN QUERY
    SELECT * FROM mailqueue.deliver_timed_events(ARRAY(
        SELECT i.id FROM unnest(p_ids, p_claims) AS i(id, claim_no)
          JOIN mailqueue.timed_events AS t ON t.id = i.id AND t.claim_no = i.claim_no
         WHERE i.id <> ALL (v_stale || v_busy)));
END $$;
COMMENT ON FUNCTION mailqueue.fire_timed_events(uuid[], bigint[]) IS
    'Enqueue the mail and the webhook calls of claimed events; a row for each that is still claimed, with its outcome. '
    'The caller settles them in the same transaction.';
