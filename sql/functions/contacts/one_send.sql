-- Mail to a list by a request for one mail: a batch of its own.

-- A service that sends a code to the address of a form never means a list whose name a visitor typed there. Such mail
-- is transactional: a list takes mail of other categories only, to which the unsubscribes of its contacts apply.
CREATE OR REPLACE FUNCTION mailqueue.category_of_list_email(p_project uuid, p_message jsonb) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_category text := coalesce(p_message ->> 'category', (
        SELECT c.category
          FROM mailqueue.list_contents(p_project, p_message, coalesce(nullif(p_message -> 'variables', 'null'), '{}'))
               AS c
         WHERE p_message ->> 'template' IS NOT NULL));
BEGIN
    IF coalesce(v_category, 'transactional') = 'transactional' THEN
        PERFORM mailqueue.refuse('category', format(
            '%s is a list of contacts: a category other than transactional is needed, such as marketing, whose '
            'unsubscribes apply', to_json(p_message ->> 'recipient')));
    END IF;
    RETURN v_category;
END $$;
COMMENT ON FUNCTION mailqueue.category_of_list_email(uuid, jsonb) IS
    'Category of a message to a list, or else of its template; raises 22023 for transactional mail.';

CREATE OR REPLACE FUNCTION mailqueue.take_key_of_list_email(p_project uuid, p_message jsonb, p_is_test boolean,
    p_batch uuid) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text := p_message ->> 'idempotency_key';
    v_print bytea := sha256(convert_to((jsonb_strip_nulls(
        CASE WHEN p_message ? 'custom_data'
             THEN jsonb_set_lax(p_message, '{custom_data}', mailqueue.without_trace(p_message -> 'custom_data'))
             ELSE p_message END) - 'idempotency_key')::text, 'UTF8'));
    v_old record;
BEGIN
    IF v_key IS NULL THEN
        RETURN NULL;
    ELSIF jsonb_typeof(p_message -> 'idempotency_key') <> 'string' OR length(v_key) NOT BETWEEN 1 AND 255 THEN
        PERFORM mailqueue.refuse('idempotency_key', 'a string of 1 to 255 characters is needed');
    END IF;
    PERFORM mailqueue.check_text('idempotency_key', v_key, 255);
    INSERT INTO mailqueue.idempotency_keys (project_id, key, fingerprint, email_id)
    VALUES (p_project, mailqueue.kept_key(v_key, p_is_test), v_print, p_batch) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT k.email_id, k.fingerprint INTO v_old FROM mailqueue.idempotency_keys AS k
     WHERE k.project_id = p_project AND k.key = mailqueue.kept_key(v_key, p_is_test);
    IF v_old.fingerprint IS DISTINCT FROM v_print THEN
        PERFORM mailqueue.refuse('idempotency_key', format('%s was used for another email', to_json(v_key)));
    END IF;
    IF current_setting('synchronous_standby_names') <> '' THEN
        PERFORM pg_logical_emit_message(true, 'mailqueue', 'accepted before');  -- see take_idempotency_key()
    END IF;
    RETURN v_old.email_id;
END $$;
COMMENT ON FUNCTION mailqueue.take_key_of_list_email(uuid, jsonb, boolean, uuid) IS
    'Assign the idempotency key of a message to a batch, or return the id of the batch that has it; NULL: it has none, '
    'or it was free.';

CREATE OR REPLACE FUNCTION mailqueue.accept_list_email(p_project uuid, p_message jsonb, p_by text,
    OUT batch_id uuid, OUT is_repeated boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    -- one content with them is stored for the whole batch
    c_content CONSTANT text[] := '{subject,html,text,template,language,from_email,from_name,reply_to,headers,'
                                 'attachments}';
    c_own CONSTANT text[] := '{custom_data,tags}';
    v_list text := p_message ->> 'recipient';
    v_is_test boolean;
    l mailqueue.contact_lists;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_producer(p_project);
    p_message := (SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}') FROM jsonb_each(p_message) AS o
                   WHERE o.value <> 'null');
    -- Types of options, and names that do not exist, are refused as those of a mail.
    v_is_test := coalesce((mailqueue.email_from_options(p_message - '{recipient,subject,html,text}'::text[])).is_test,
                          mailqueue.mode(), false);
    l := mailqueue.find_list(p_project, v_list, v_is_test);
    IF p_message -> 'to' <> '[]' THEN
        PERFORM mailqueue.refuse('to', format('%s is a list of contacts, which stands alone: use a batch',
                                              to_json(v_list)));
    ELSIF p_message ? 'variables' AND NOT p_message ? 'template' THEN
        PERFORM mailqueue.refuse('variables', 'has a meaning only with a template');
    END IF;
    p_message := p_message || jsonb_build_object('category', mailqueue.category_of_list_email(p_project, p_message));
    batch_id := mailqueue.uuidv7();
    is_repeated := false;
    DECLARE
        v_old uuid := mailqueue.take_key_of_list_email(p_project, p_message, v_is_test, batch_id);
    BEGIN
        IF v_old IS NOT NULL THEN
            batch_id := v_old;
            is_repeated := true;
            RETURN;
        END IF;
    END;
    PERFORM mailqueue.expand_list(p_project, batch_id, l.name,
        (SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}') FROM jsonb_each(p_message) AS o
          WHERE o.key = ANY (c_content)),
        p_message - c_content - c_own - '{recipient,variables,to,idempotency_key}'::text[],
        coalesce(p_message -> 'variables', '{}'),
        (SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}') FROM jsonb_each(p_message) AS o
          WHERE o.key = ANY (c_own)), p_by => p_by);
END $$;
COMMENT ON FUNCTION mailqueue.accept_list_email(uuid, jsonb, text) IS
    'Let workers send a message of enqueue_batch(), whose recipient is the name of a list, to its contacts; returns '
    'the batch, and whether an earlier call with the idempotency key began it. Invalid input raises 22023 naming the '
    'field.';

CREATE OR REPLACE FUNCTION mailqueue.is_list_of(p_project uuid, p_recipient text, p_options jsonb) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.is_list_name(p_recipient) AND EXISTS (
        SELECT FROM mailqueue.contact_lists AS l
         WHERE l.project_id = p_project AND l.name = p_recipient
           AND l.is_test = coalesce(nullif(p_options -> 'is_test', 'null') = 'true', mailqueue.mode(), false)
           AND coalesce(mailqueue.tenant(), p_project) = p_project)
$$;
COMMENT ON FUNCTION mailqueue.is_list_of(uuid, text, jsonb) IS
    'Whether a recipient of mail with these options is the name of a list of the project.';
