-- Enqueueing by function: one mail, or a batch that shares content.

-- Reads the options object; refuses unknown names and wrong types. Checks of the values are prepare_email()'s.
CREATE OR REPLACE FUNCTION mailqueue.email_from_options(p_options jsonb) RETURNS mailqueue.email_queue
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q mailqueue.email_queue;
    o record;
    v_text text;
BEGIN
    IF jsonb_typeof(p_options) <> 'object' THEN
        PERFORM mailqueue.refuse('options', format('an object is needed, got %s', jsonb_typeof(p_options)));
    END IF;
    FOR o IN SELECT e.key, e.value, jsonb_typeof(e.value) AS type FROM jsonb_each(p_options) AS e WHERE jsonb_typeof(e.value) <> 'null' LOOP
        v_text := o.value #>> '{}';
        IF o.key IN ('template', 'language', 'campaign_id', 'from_email', 'from_name', 'reply_to', 'delivery', 'idempotency_key', 'sender',
                     'category', 'priority', 'run_at', 'expires_at') AND o.type <> 'string'
           AND NOT (o.key = 'priority' AND o.type = 'number') THEN
            PERFORM mailqueue.refuse(o.key, format('a string is needed, got %s', o.type));
        ELSIF o.key IN ('tags', 'to', 'cc', 'bcc') AND (o.type <> 'array'
              OR jsonb_path_exists(o.value, 'strict $[*] ? (@.type() != "string")', '{}', true)) THEN  -- lax looks into nested lists
            PERFORM mailqueue.refuse(o.key, 'a list of strings is needed');
        ELSIF o.key IN ('track_opens', 'track_clicks', 'unsubscribe') AND o.type <> 'boolean' THEN
            PERFORM mailqueue.refuse(o.key, format('true or false is needed, got %s', o.type));
        END IF;
        BEGIN
            CASE o.key
            WHEN 'priority' THEN
                q.priority := CASE v_text WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'normal' THEN 2 WHEN 'low' THEN 3
                    WHEN '0' THEN 0 WHEN '1' THEN 1 WHEN '2' THEN 2 WHEN '3' THEN 3 END;
                IF q.priority IS NULL THEN
                    PERFORM mailqueue.refuse('priority', format('critical, high, normal or low, got %s', to_json(left(v_text, 100))));
                END IF;
            WHEN 'run_at' THEN q.run_at := v_text::timestamptz;
            WHEN 'expires_at' THEN q.expires_at := v_text::timestamptz;
            WHEN 'max_attempts' THEN
                IF o.type <> 'number' OR v_text !~ '^[0-9]{1,4}$' THEN
                    PERFORM mailqueue.refuse('max_attempts', format('1 to 1000, got %s', left(o.value::text, 100)));
                END IF;
                q.max_attempts := v_text;
            WHEN 'campaign_id' THEN q.campaign_id := v_text;
            WHEN 'from_email' THEN q.from_email := v_text;
            WHEN 'from_name' THEN q.from_name := v_text;
            WHEN 'reply_to' THEN q.reply_to := v_text;
            WHEN 'delivery' THEN q.delivery := v_text;
            WHEN 'idempotency_key' THEN q.idempotency_key := v_text;
            WHEN 'sender' THEN q.sender := v_text;
            WHEN 'category' THEN q.category := v_text;
            WHEN 'headers' THEN q.headers := o.value;
            WHEN 'custom_data' THEN q.custom_data := o.value;
            WHEN 'template' THEN q.template := v_text;
            WHEN 'language' THEN q.language := v_text;
            WHEN 'variables' THEN q.variables := o.value;
            WHEN 'attachments' THEN q.attachments := o.value;
            WHEN 'track_opens' THEN q.track_opens := v_text;
            WHEN 'track_clicks' THEN q.track_clicks := v_text;
            WHEN 'unsubscribe' THEN q.unsubscribe := v_text;
            WHEN 'tags' THEN q.tags := ARRAY(SELECT jsonb_array_elements_text(o.value));
            WHEN 'to' THEN q.also_to := ARRAY(SELECT jsonb_array_elements_text(o.value));
            WHEN 'cc' THEN q.cc := ARRAY(SELECT jsonb_array_elements_text(o.value));
            WHEN 'bcc' THEN q.bcc := ARRAY(SELECT jsonb_array_elements_text(o.value));
            ELSE
                PERFORM mailqueue.refuse(left(o.key, 100), 'there is no such option');
            END CASE;
        EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow THEN
            PERFORM mailqueue.refuse(o.key, format('a timestamp is needed, got %s', to_json(left(v_text, 100))));
        END;
    END LOOP;
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.email_from_options(jsonb) IS 'Options of enqueue() as columns; refuses unknown names and wrong types.';

CREATE OR REPLACE FUNCTION mailqueue.enqueue(
    project text DEFAULT 'default', recipient text DEFAULT NULL, subject text DEFAULT NULL,
    html text DEFAULT NULL, text text DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q mailqueue.email_queue;
    v_id uuid;
BEGIN
    IF enqueue.options <> '{}' THEN
        q := mailqueue.email_from_options(enqueue.options);
    END IF;
    IF enqueue.project IS NULL THEN
        PERFORM mailqueue.project_named(NULL);               -- refuses it
    END IF;
    INSERT INTO mailqueue.email_queue (project, recipient_email, subject, html_body, text_body, priority,
        run_at, expires_at, max_attempts, campaign_id, from_email, from_name, reply_to, delivery, idempotency_key,
        sender, category, headers, custom_data, tags, also_to, cc, bcc, attachments, template, language, variables,
        track_opens, track_clicks, unsubscribe)
    VALUES (enqueue.project, enqueue.recipient, enqueue.subject, enqueue.html, enqueue.text, q.priority,
        q.run_at, q.expires_at, q.max_attempts, q.campaign_id, q.from_email, q.from_name, q.reply_to, q.delivery, q.idempotency_key,
        q.sender, q.category, q.headers, q.custom_data, q.tags, q.also_to, q.cc, q.bcc, q.attachments, q.template, q.language, q.variables,
        q.track_opens, q.track_clicks, q.unsubscribe)
    RETURNING email_queue.id INTO v_id;
    IF v_id IS NULL THEN  -- accepted before, under the same key
        SELECT k.email_id INTO v_id FROM mailqueue.idempotency_keys AS k
         WHERE k.project_id = (SELECT p.id FROM mailqueue.projects AS p WHERE p.name = enqueue.project) AND k.key = q.idempotency_key;
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.enqueue(text, text, text, text, text, jsonb) IS
    'Accept one mail in the caller''s transaction and give its id. Bad input raises 22023 naming the field.';

-- One message of a batch: {"recipient", "subject", "html", "text", and every option of enqueue()}. Its key is taken too:
-- status duplicate and the id of the email that has it, where it was used before.
CREATE OR REPLACE FUNCTION mailqueue.email_from_message(p_project uuid, p_message jsonb) RETURNS mailqueue.email_queue
LANGUAGE plpgsql
AS $$
DECLARE
    q mailqueue.email_queue;
    v_options jsonb;
    v_old uuid;
    v_has_rules boolean;                                     -- it names no account, and its project has routing rules
    v_key text;
BEGIN
    IF jsonb_typeof(p_message) <> 'object' THEN
        PERFORM mailqueue.refuse('messages', format('an object for each message is needed, got %s', jsonb_typeof(p_message)));
    ELSIF jsonb_typeof(p_message -> 'recipient') NOT IN ('string', 'null') OR jsonb_typeof(p_message -> 'subject') NOT IN ('string', 'null')
          OR jsonb_typeof(p_message -> 'html') NOT IN ('string', 'null') OR jsonb_typeof(p_message -> 'text') NOT IN ('string', 'null') THEN
        FOREACH v_key IN ARRAY ARRAY['recipient', 'subject', 'html', 'text'] LOOP
            IF jsonb_typeof(p_message -> v_key) NOT IN ('string', 'null') THEN
                PERFORM mailqueue.refuse(v_key, format('a string is needed, got %s', jsonb_typeof(p_message -> v_key)));
            END IF;
        END LOOP;
    END IF;
    v_options := p_message - '{recipient,subject,html,text}'::text[];
    IF v_options <> '{}' THEN
        q := mailqueue.email_from_options(v_options);
    END IF;
    q.project_id := p_project;
    q.id := mailqueue.uuidv7();
    q.recipient_email := p_message ->> 'recipient';
    q.subject := p_message ->> 'subject';
    q.html_body := p_message ->> 'html';
    q.text_body := p_message ->> 'text';
    IF q.template IS NOT NULL THEN
        q := mailqueue.with_template(q, p_project);
    END IF;
    q := mailqueue.prepare_email(q);
    SELECT l.id, l.has_rules INTO q.lane_id, v_has_rules FROM mailqueue.lanes AS l
     WHERE l.project_id = p_project AND l.priority = q.priority AND l.route = coalesce(q.sender, '') AND l.home_route IS NULL AND l.rule_id IS NULL;
    IF q.lane_id IS NULL THEN
        PERFORM mailqueue.refuse('sender', format('this project has no sender account %s', to_json(left(q.sender, 100))));
    END IF;
    IF q.from_email IS NOT NULL THEN
        PERFORM mailqueue.check_from(p_project, q.from_email);
    END IF;
    IF v_has_rules THEN
        q.lane_id := mailqueue.lane_by_rules(q.lane_id, p_project, q.priority, q.category, q.tags, q.recipient_email);
    END IF;
    IF q.idempotency_key IS NOT NULL THEN
        v_old := mailqueue.take_idempotency_key(q);
        IF v_old IS NOT NULL THEN
            q.id := v_old;
            q.status := 'duplicate';
        END IF;
    END IF;
    IF q.attachments IS NOT NULL AND q.status <> 'duplicate' THEN  -- what comes in is what is sent, what is kept are references
        q.attachments := mailqueue.take_attachments(p_project, q.attachments, mailqueue.has_html(q));
    END IF;
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.email_from_message(uuid, jsonb) IS 'One message of a batch as a checked row; status duplicate where its key was used before.';

-- First all messages at once. Only where one of them is refused they are taken one by one: a point to go back to for each
-- costs as much as the mail.
CREATE OR REPLACE FUNCTION mailqueue.enqueue_batch(project text, messages jsonb)
RETURNS TABLE (index integer, id uuid, status text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := mailqueue.project_taking(enqueue_batch.project);
    v_delivery text := (SELECT p.delivery FROM mailqueue.projects AS p WHERE p.id = v_project);  -- of mail that says none
    v_is_careful boolean := false;
    v_rows mailqueue.email_queue[];                          -- without what they say; content_id is a place in v_contents
    v_contents mailqueue.email_queue[];
    v_ids uuid[]; v_status text[]; v_reasons text[];
    v_message jsonb;
    v_why text;
    q mailqueue.email_queue; c mailqueue.email_queue;
BEGIN
    IF jsonb_typeof(enqueue_batch.messages) <> 'array' THEN
        PERFORM mailqueue.refuse('messages', format('a list is needed, got %s', coalesce(jsonb_typeof(enqueue_batch.messages), 'null')));
    ELSIF EXISTS (SELECT FROM mailqueue.refusals AS r WHERE r.valid_until > now()) THEN
        PERFORM mailqueue.refuse_for_now();
    END IF;
    LOOP
        v_rows := '{}'; v_contents := '{}'; v_ids := '{}'; v_status := '{}'; v_reasons := '{}'; c := NULL;
        BEGIN
            FOR v_message IN SELECT m.value FROM jsonb_array_elements(enqueue_batch.messages) AS m LOOP
                v_why := NULL;
                IF v_is_careful THEN
                    BEGIN
                        q := mailqueue.email_from_message(v_project, v_message);
                    EXCEPTION WHEN invalid_parameter_value THEN
                        v_why := SQLERRM;
                    END;
                    IF v_why IS NOT NULL THEN
                        v_ids := array_append(v_ids, NULL); v_status := array_append(v_status, 'rejected'); v_reasons := array_append(v_reasons, v_why);
                        CONTINUE;
                    END IF;
                ELSE
                    q := mailqueue.email_from_message(v_project, v_message);
                END IF;
                v_ids := array_append(v_ids, q.id); v_reasons := array_append(v_reasons, NULL);
                v_status := array_append(v_status, CASE q.status WHEN 'pending' THEN 'queued' ELSE 'duplicate' END);
                CONTINUE WHEN q.status = 'duplicate';
                IF v_delivery IS NOT NULL AND v_message ->> 'delivery' IS NULL THEN
                    q.delivery := v_delivery;
                END IF;
                IF (q.html_body, q.text_body, q.subject, q.from_email, q.from_name, q.reply_to, q.headers, q.attachments,
                    q.template_version_id, q.language, q.track_opens, q.track_clicks, q.unsubscribe) IS DISTINCT FROM
                   (c.html_body, c.text_body, c.subject, c.from_email, c.from_name, c.reply_to, c.headers, c.attachments,
                    c.template_version_id, c.language, c.track_opens, c.track_clicks, c.unsubscribe) THEN
                    c := q;                                  -- most batches say the same to all
                    v_contents := array_append(v_contents, c);
                END IF;
                q.content_id := cardinality(v_contents);
                q.subject := NULL; q.html_body := NULL; q.text_body := NULL; q.headers := NULL;
                q.attachments := NULL;
                v_rows := array_append(v_rows, q);
            END LOOP;
            EXIT;
        EXCEPTION WHEN invalid_parameter_value THEN
            IF v_is_careful THEN
                RAISE;
            END IF;
            v_is_careful := true;
        END;
    END LOOP;

    IF mailqueue.store_batch(v_rows, v_contents) = 0 THEN
        RETURN QUERY SELECT r.n::integer - 1, r.id, r.status, r.reason
                       FROM unnest(v_ids, v_status, v_reasons) WITH ORDINALITY AS r(id, status, reason, n) ORDER BY r.n;
        RETURN;
    END IF;
    RETURN QUERY
        SELECT r.n::integer - 1, r.id,
               CASE WHEN r.status = 'queued' AND h.id IS NOT NULL THEN h.status ELSE r.status END,
               coalesce(r.reason, h.reason)
          FROM unnest(v_ids, v_status, v_reasons) WITH ORDINALITY AS r(id, status, reason, n)
          LEFT JOIN mailqueue.email_history AS h ON h.id = r.id AND h.finished_at = now() AND r.status = 'queued'
         ORDER BY r.n;
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_batch(text, jsonb) IS
    'Accept many mails in the caller''s transaction; a row for each in order: queued, suppressed, duplicate or rejected with the reason.';

DROP FUNCTION IF EXISTS mailqueue.store_batch(mailqueue.email_queue[]);

-- Equal contents of one batch become one row. p_rows name theirs by its place in p_contents.
CREATE OR REPLACE FUNCTION mailqueue.store_batch(p_rows mailqueue.email_queue[], p_contents mailqueue.email_queue[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_today date := (now() AT TIME ZONE 'UTC')::date;
    v_ids uuid[];
    v_differ boolean;                                        -- no content is there twice
    q mailqueue.email_queue;
BEGIN
    FOR q IN SELECT r.* FROM unnest(p_rows) AS r WHERE r.recipients > 1 LOOP
        PERFORM mailqueue.store_recipients(q);
    END LOOP;
    -- A cheap look first: where all differ, as mails with bodies of their own do, nothing has to be compared for sure.
    v_differ := (SELECT count(DISTINCT hashtextextended(concat_ws(' ', c.subject, c.html_body, c.text_body, c.template_version_id, c.language,
                                                                          c.track_opens, c.track_clicks, c.unsubscribe), 0)) = count(*)
                   FROM unnest(p_contents) AS c);
    WITH said AS MATERIALIZED (
        SELECT c.*, CASE WHEN v_differ THEN int8send(c.ordinality) ELSE sha256(convert_to(jsonb_build_array(c.subject, c.html_body, c.text_body,
                        c.from_email, c.from_name, c.reply_to, c.headers, c.attachments, c.template_version_id, c.language,
                        c.track_opens, c.track_clicks, c.unsubscribe)::text, 'UTF8')) END AS hash
          FROM unnest(p_contents) WITH ORDINALITY AS c
    ), contents AS MATERIALIZED (
        SELECT nextval('mailqueue.email_contents_id_seq') AS new_id, d.*
          FROM (SELECT DISTINCT ON (s.hash) s.* FROM said AS s) AS d
    ), written AS (
        INSERT INTO mailqueue.email_contents (id, created_on, project_id, subject, html_body, text_body, from_email, from_name, reply_to, headers, files,
                                              template_version_id, template_language, dressing)
        SELECT c.new_id, v_today, c.project_id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers,
               c.attachments, c.template_version_id, c.language,
               mailqueue.dressing(coalesce(c.track_opens, p.track_opens), coalesce(c.track_clicks, p.track_clicks), c.unsubscribe)
          FROM contents AS c JOIN mailqueue.projects AS p ON p.id = c.project_id
    ), places AS MATERIALIZED (
        SELECT array_agg(c.new_id ORDER BY s.ordinality) AS ids FROM said AS s JOIN contents AS c ON c.hash = s.hash
    ), kept AS (
        INSERT INTO mailqueue.email_queue (id, project_id, project, lane_id, status, priority, run_at, attempts, max_attempts, created_at,
            recipients, delivery, category, expires_at, recipient_email, recipient_name, campaign_id, tags, custom_data,
            idempotency_key, content_id, content_on)
        SELECT n.id, n.project_id, NULL, n.lane_id, 'pending', n.priority, n.run_at, 0, n.max_attempts, now(),
               n.recipients, n.delivery, n.category, n.expires_at, n.recipient_email, n.recipient_name, n.campaign_id, n.tags,
               n.custom_data, n.idempotency_key, p.ids[n.content_id], v_today
          FROM unnest(p_rows) AS n, places AS p
        RETURNING id
    )
    SELECT array_agg(k.id) INTO v_ids FROM kept AS k;
    RETURN CASE WHEN v_ids IS NULL THEN 0 ELSE mailqueue.accept_rows(v_ids) END;
END $$;
COMMENT ON FUNCTION mailqueue.store_batch(mailqueue.email_queue[], mailqueue.email_queue[]) IS
    'Write checked rows of one batch call; equal contents are stored once. Gives how many of them were suppressed.';
