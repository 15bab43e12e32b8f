-- Enqueueing by function: one mail, and a message of a batch as a row.

-- Reads the options object; raises an error for unknown names and wrong types. prepare_email() checks the values.
-- Markers stand for the rows of MAIL_OPTIONS in mailqueue/core/mail_options.py.
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
    FOR o IN SELECT e.key, e.value, jsonb_typeof(e.value) AS type FROM jsonb_each(p_options) AS e
              WHERE jsonb_typeof(e.value) <> 'null' LOOP
        -- the text of those may be long
        v_text := CASE WHEN o.type NOT IN ('array', 'object') THEN o.value #>> '{}' END;
        IF '[[STRING_OPTIONS]]'::jsonb ? o.key AND o.type <> 'string'
           AND NOT (o.key = 'priority' AND o.type = 'number') THEN
            PERFORM mailqueue.refuse(o.key, format('a string is needed, got %s', o.type));
        ELSIF '[[LIST_OPTIONS]]'::jsonb ? o.key AND (o.type <> 'array'
              -- lax would look into nested lists
              OR jsonb_path_exists(o.value, 'strict $[*] ? (@.type() != "string")', '{}', true)) THEN
            PERFORM mailqueue.refuse(o.key, 'a list of strings is needed');
        ELSIF '[[BOOLEAN_OPTIONS]]'::jsonb ? o.key AND o.type <> 'boolean' THEN
            PERFORM mailqueue.refuse(o.key, format('true or false is needed, got %s', o.type));
        END IF;
        BEGIN
            CASE o.key
            WHEN 'priority' THEN
                q.priority := CASE v_text WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'normal' THEN 2
                                          WHEN 'low' THEN 3
                    WHEN '0' THEN 0 WHEN '1' THEN 1 WHEN '2' THEN 2 WHEN '3' THEN 3 END;
                IF q.priority IS NULL THEN
                    PERFORM mailqueue.refuse('priority',
                                             format('critical, high, normal or low, got %s',
                                                    to_json(left(v_text, 100))));
                END IF;
            WHEN 'max_attempts' THEN
                IF o.type <> 'number' OR v_text !~ '^[0-9]{1,4}$' THEN
                    PERFORM mailqueue.refuse('max_attempts',
                                             format('1 to 1000, got %s',
                                                    CASE WHEN v_text IS NULL THEN o.type
                                                         ELSE left(o.value::text, 100) END));
                END IF;
                q.max_attempts := v_text;
            [[MAIL_OPTION_CASES]]
            ELSE
                PERFORM mailqueue.refuse(left(o.key, 100), 'there is no such option');
            END CASE;
        EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow THEN
            PERFORM mailqueue.refuse(o.key,
                                     format('a timestamp is needed, got %s: RFC 3339 format with an offset, such as '
                                            '2030-05-01T08:00:00+02:00', to_json(left(v_text, 100))));
        END;
    END LOOP;
    -- No account has such a name; the route of test mail has.
    IF q.sender IS NOT NULL AND (q.is_test OR q.sender LIKE '(%') THEN
        PERFORM mailqueue.refuse('sender',
                                 format(CASE WHEN q.is_test
                                                  THEN 'has no meaning for test mail, which goes to the trap, got %s'
                                             ELSE 'this project has no sender account %s' END,
                                        to_json(left(q.sender, 100))));
    ELSIF q.is_test THEN
        q.sender := '(test)';
    END IF;
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.email_from_options(jsonb) IS
    'Options of enqueue() as columns; raises an error for unknown names and wrong types.';

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
        PERFORM mailqueue.project_named(NULL);               -- raises the error
    ELSIF strpos(enqueue.recipient, '@') = 0 AND mailqueue.is_list_of(
              mailqueue.project_named(enqueue.project), enqueue.recipient, enqueue.options) THEN
        RETURN (SELECT b.batch_id FROM mailqueue.accept_list_email(
            mailqueue.project_taking(enqueue.project), coalesce(enqueue.options, '{}') || jsonb_build_object(
                'recipient', enqueue.recipient, 'subject', enqueue.subject, 'html', enqueue.html,
                'text', enqueue.text), session_user) AS b);
    END IF;
    INSERT INTO mailqueue.email_queue (project, recipient_email, subject, html_body, text_body, [[MAIL_COLUMNS]])
    VALUES (enqueue.project, enqueue.recipient, enqueue.subject, enqueue.html, enqueue.text, [[q.MAIL_COLUMNS]])
    RETURNING email_queue.id INTO v_id;
    IF v_id IS NULL THEN  -- accepted before, under the same key
        SELECT k.email_id INTO v_id FROM mailqueue.idempotency_keys AS k
         WHERE k.project_id = (SELECT p.id FROM mailqueue.projects AS p WHERE p.name = enqueue.project)
           AND k.key = mailqueue.kept_key(q.idempotency_key, q.is_test);
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.enqueue(text, text, text, text, text, jsonb) IS
    'Accept one mail in the caller''s transaction and return its id; of mail to a list of contacts, whose name may be '
    'the recipient, the id of the batch. Invalid input raises 22023 naming the field.';

-- One message of a batch: {"recipient", "subject", "html", "text", and every option of enqueue()}. Takes its
-- idempotency key as well: if the key is in use, the status is duplicate and the id is that of the existing email. A
-- mail split off a larger message has "split", with "of": the value that represents all recipients.
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
        PERFORM mailqueue.refuse('messages',
                                 format('an object for each message is needed, got %s', jsonb_typeof(p_message)));
    ELSIF jsonb_typeof(p_message -> 'recipient') NOT IN ('string', 'null')
          OR jsonb_typeof(p_message -> 'subject') NOT IN ('string', 'null')
          OR jsonb_typeof(p_message -> 'html') NOT IN ('string', 'null')
          OR jsonb_typeof(p_message -> 'text') NOT IN ('string', 'null') THEN
        FOREACH v_key IN ARRAY ARRAY['recipient', 'subject', 'html', 'text'] LOOP
            IF jsonb_typeof(p_message -> v_key) NOT IN ('string', 'null') THEN
                PERFORM mailqueue.refuse(v_key, format('a string is needed, got %s', jsonb_typeof(p_message -> v_key)));
            END IF;
        END LOOP;
    END IF;
    v_options := p_message - '{recipient,subject,html,text,split}'::text[];
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
    q.is_test := coalesce(q.is_test, false);
    SELECT l.id, l.has_rules INTO q.lane_id, v_has_rules FROM mailqueue.lanes AS l
     WHERE l.project_id = p_project AND l.priority = q.priority AND l.route = coalesce(q.sender, '')
       AND l.home_route IS NULL AND l.rule_id IS NULL;
    IF q.lane_id IS NULL THEN
        PERFORM mailqueue.refuse('sender',
                                 format('this project has no sender account %s', to_json(left(q.sender, 100))));
    END IF;
    IF q.from_email IS NOT NULL THEN
        PERFORM mailqueue.check_from(p_project, q.from_email);
    END IF;
    IF v_has_rules THEN
        q.lane_id := mailqueue.lane_by_rules(q.lane_id, p_project, q.priority, q.category, q.tags, q.recipient_email);
    END IF;
    IF q.idempotency_key IS NOT NULL THEN
        v_old := mailqueue.take_idempotency_key(q, p_message -> 'split' ->> 'of');
        IF v_old IS NOT NULL THEN
            q.id := v_old;
            q.status := 'duplicate';
        END IF;
    END IF;
    -- The caller sends the bytes; references are stored.
    IF q.attachments IS NOT NULL AND q.status <> 'duplicate' THEN
        q.attachments := mailqueue.take_attachments(p_project, q.attachments, mailqueue.has_html(q), q.is_test);
    END IF;
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.email_from_message(uuid, jsonb) IS
    'A message of a batch as a checked row; status duplicate if its idempotency key is in use.';
