-- Mail to all contacts of a list, begun: rows of list_sends, which workers expand in chunks.
--
-- expand_list() is the one way in, for batches, schedules and whatever else sends to a list. The contacts that are in
-- the list are stored by one statement of a worker (list_send_contacts), so that later changes of the list do not
-- matter. Each chunk then accepts mail to some of them, in the transaction that notes who has theirs: a batch sends at
-- most one mail to a contact, however many of its lists have it and however often workers die.

-- Every address has an @, which no name of a list has.
CREATE OR REPLACE FUNCTION mailqueue.is_list_name(p_recipient text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT p_recipient ~ '^[a-z0-9][a-z0-9_-]{0,62}$' $$;
COMMENT ON FUNCTION mailqueue.is_list_name(text) IS
    'Whether a recipient is the name of a list of contacts and no address.';

-- Mail in each language of a template; the first is used for contacts whose language it lacks.
CREATE OR REPLACE FUNCTION mailqueue.list_contents(p_project uuid, p_content jsonb, p_variables jsonb,
    OUT contents jsonb, OUT languages text[], OUT category text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_languages CONSTANT integer := 50;
    q mailqueue.email_queue;
    v_schema jsonb;
    v_needs text[];
BEGIN
    IF p_content ? 'template_version_id' THEN                -- chosen and checked by the caller
        SELECT jsonb_agg((p_content - 'template_language') || jsonb_build_object('template_language', t.language)
                         ORDER BY t.place), array_agg(t.language ORDER BY t.place)
          INTO contents, languages
          FROM (SELECT x.language, row_number() OVER (ORDER BY x.language <> (p_content ->> 'template_language'),
                                                               x.language) AS place
                  FROM mailqueue.template_texts AS x
                 WHERE x.version_id = (p_content ->> 'template_version_id')::uuid) AS t
         WHERE t.place <= c_max_languages;
        RETURN;
    ELSIF NOT p_content ? 'template' THEN
        contents := jsonb_build_array(p_content);
        languages := '{}';
        RETURN;
    END IF;
    q.template := p_content ->> 'template';
    q.language := p_content ->> 'language';
    q.subject := p_content ->> 'subject';
    q.html_body := p_content ->> 'html';
    q.text_body := p_content ->> 'text';
    q.variables := p_variables || '{"contact": {}}';
    q := mailqueue.with_template(q, p_project);
    category := q.category;
    SELECT jsonb_agg((p_content - '{template,language}'::text[])
                     || jsonb_build_object('template_version_id', q.template_version_id,
                                           'template_language', t.language)
                     ORDER BY t.place),
           array_agg(t.language ORDER BY t.place), min(v.variables_schema::text)::jsonb
      INTO contents, languages, v_schema
      FROM (SELECT x.language, row_number() OVER (ORDER BY x.language <> q.language, x.language) AS place
              FROM mailqueue.template_texts AS x WHERE x.version_id = q.template_version_id) AS t,
           mailqueue.template_versions AS v
     WHERE t.place <= c_max_languages AND v.id = q.template_version_id;
    FOR v_needs IN SELECT x.needs FROM mailqueue.template_texts AS x
                    WHERE x.version_id = q.template_version_id AND x.language = ANY (languages) LOOP
        PERFORM mailqueue.check_variables(p_variables || '{"contact": {}}', v_schema, v_needs);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.list_contents(uuid, jsonb, jsonb) IS
    'Contents of mail to a list as accept_shared() takes them: of a template, one for each of its languages.';

CREATE OR REPLACE FUNCTION mailqueue.find_list(p_project uuid, p_name text, p_is_test boolean)
RETURNS mailqueue.contact_lists
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    l mailqueue.contact_lists;
BEGIN
    SELECT * INTO l FROM mailqueue.contact_lists AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.is_test = p_is_test;
    IF l.id IS NULL THEN
        PERFORM mailqueue.refuse('recipients', format('there is no list %s', to_json(left(p_name, 100))));
    END IF;
    RETURN l;
END $$;
COMMENT ON FUNCTION mailqueue.find_list(uuid, text, boolean) IS
    'The list of a name; raises 22023 naming recipients if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.expand_list(
    p_project uuid, p_batch uuid, p_list text, p_content jsonb, p_options jsonb DEFAULT '{}',
    p_variables jsonb DEFAULT '{}', p_own jsonb DEFAULT '{}', p_local timestamp DEFAULT NULL,
    p_zone text DEFAULT NULL, p_except uuid[] DEFAULT '{}', p_by text DEFAULT session_user) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_unfinished CONSTANT integer := 1000;               -- sends of a project
    v_id uuid;
    v_batch uuid := coalesce(p_batch, mailqueue.uuidv7());
    v_is_test boolean := coalesce((p_options ->> 'is_test')::boolean, mailqueue.mode(), false);
    l mailqueue.contact_lists;
    c record;
    q mailqueue.email_queue;
    v_name text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(v_is_test);
    PERFORM mailqueue.check_room(p_project, 1);
    IF NOT EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.id = p_project AND p.deleted_at IS NULL) THEN
        PERFORM mailqueue.refuse('project', 'is deleted');
    END IF;
    l := mailqueue.find_list(p_project, p_list, v_is_test);
    SELECT s.id INTO v_id FROM mailqueue.list_sends AS s
     WHERE s.batch_id = v_batch AND s.list_id = l.id AND s.project_id = p_project;
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    ELSIF EXISTS (SELECT FROM mailqueue.batches AS b WHERE b.id = v_batch AND b.project_id <> p_project) THEN
        PERFORM mailqueue.refuse('batch', 'belongs to another project');
    END IF;
    IF jsonb_typeof(p_variables) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('variables', 'an object of names and values is needed');
    ELSIF p_variables ? 'contact' THEN
        PERFORM mailqueue.refuse('variables', '"contact" has the fields of each contact of the list: use another name');
    ELSIF mailqueue.json_fault(p_variables, 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', mailqueue.json_fault(p_variables, 64));
    ELSIF jsonb_typeof(p_own -> 'custom_data') NOT IN ('object', 'null') OR p_own -> 'custom_data' ? 'variables' THEN
        PERFORM mailqueue.refuse('custom_data', 'an object without variables is needed');
    ELSIF mailqueue.json_fault(p_own, 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('custom_data', mailqueue.json_fault(p_own, 64));
    END IF;
    FOREACH v_name IN ARRAY ARRAY['cc', 'bcc', 'idempotency_key', 'variables', 'language'] LOOP
        IF coalesce(p_options -> v_name, 'null') NOT IN ('null', '[]') THEN
            PERFORM mailqueue.refuse(v_name, 'is not allowed with a list of contacts');
        END IF;
    END LOOP;
    SELECT o.contents, o.languages, o.category INTO c
      FROM mailqueue.list_contents(p_project, p_content, p_variables) AS o;
    p_options := jsonb_strip_nulls(p_options)
        || CASE WHEN v_is_test THEN '{"is_test": true}' ELSE '{}' END::jsonb
        || CASE WHEN c.category IS NOT NULL AND p_options ->> 'category' IS NULL
                THEN jsonb_build_object('category', c.category) ELSE '{}' END;
    -- Errors of content and options are the caller's; what each mail has of its own is checked with the first content.
    q := mailqueue.shared_content(p_project, c.contents -> 0, p_options);
    PERFORM mailqueue.shared_content(p_project, c.contents -> 0, p_options || jsonb_strip_nulls(p_own));
    IF q.category = 'marketing' AND EXISTS (SELECT FROM mailqueue.projects AS p
            WHERE p.id = p_project AND p.require_postal_address AND p.postal_address IS NULL) THEN
        PERFORM mailqueue.refuse_addressless();
    ELSIF p_zone IS NOT NULL THEN
        PERFORM mailqueue.project_time_zone('time_zone', p_zone);
    END IF;
    IF (SELECT count(*) FROM (SELECT FROM mailqueue.list_sends AS s
                               WHERE s.project_id = p_project AND s.status IN ('pending', 'assigned')
                               LIMIT c_max_unfinished) AS o) = c_max_unfinished THEN
        RAISE object_in_use USING MESSAGE = format('the project has %s lists that mail is being made for',
                                                   c_max_unfinished);
    END IF;
    INSERT INTO mailqueue.batches (id, project_id, created_by, subject, email_ids, is_test)
    VALUES (v_batch, p_project, p_by, CASE WHEN c.languages = '{}' THEN q.subject END, '{}', v_is_test)
    ON CONFLICT DO NOTHING;
    INSERT INTO mailqueue.list_sends AS s (project_id, batch_id, list_id, list_name, contents, languages, options,
        variables, own, local_at, time_zone, except_contacts, is_test, requested_by, priority)
    VALUES (p_project, v_batch, l.id, l.name, c.contents, c.languages, p_options, p_variables, p_own, p_local, p_zone,
        coalesce(p_except, '{}'), v_is_test, left(p_by, 200), q.priority)
    ON CONFLICT ON CONSTRAINT list_sends_batch_id_list_id_key DO NOTHING
    RETURNING s.id INTO v_id;
    RETURN coalesce(v_id, (SELECT s.id FROM mailqueue.list_sends AS s
                            WHERE s.batch_id = v_batch AND s.list_id = l.id));
END $$;
COMMENT ON FUNCTION mailqueue.expand_list(uuid, uuid, text, jsonb, jsonb, jsonb, jsonb, timestamp, text, uuid[], text)
IS 'Let workers send a content to every contact that is in a list, at most once for each contact and batch; returns '
   'the id of the row of list_sends. Called again for a batch and list, it returns the same row and changes nothing. '
   'p_batch: id of the batch, such as that of a run of a schedule; NULL: a new one. '
   'p_content: {"subject", "html", "text"}, or {"template": "slug@version", "language"}, whose text in the language of '
   'each contact is used. p_options: those of enqueue() without cc, bcc and idempotency_key. '
   'p_variables: of the template; each mail has the fields of its contact beside them, as contact.first_name. '
   'p_own: {"custom_data", "tags"} of each mail. p_local: local time in the zone of each contact, else in p_zone, else '
   'in that of the project, before which its mail is not sent. p_except: contacts that are left out. '
   'Raises 22023 naming the field.';

-- Names of lists among the recipients of a batch are expanded, unless its mail is transactional, as for one send
-- (category_of_list_email()); contacts that are recipients themselves are left out.
CREATE OR REPLACE FUNCTION mailqueue.expand_recipients(p_project uuid, p_batch uuid, p_contents jsonb, p_options jsonb,
    p_recipients jsonb, p_by text) RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_is_test boolean := coalesce((p_options ->> 'is_test')::boolean, mailqueue.mode(), false);
    v_except uuid[];
    v_recipients jsonb[] := '{}';
    r jsonb;
BEGIN
    v_except := ARRAY(SELECT c.id FROM mailqueue.contacts AS c
                       WHERE c.project_id = p_project AND c.is_test = v_is_test
                         AND c.email_key IN (SELECT mailqueue.address_key(x.value ->> 'recipient')
                                               FROM jsonb_array_elements(p_recipients) AS x
                                              WHERE strpos(x.value ->> 'recipient', '@') > 0));
    FOR r IN SELECT x.value FROM jsonb_array_elements(p_recipients) AS x LOOP
        IF NOT r ? 'refused' AND mailqueue.is_list_name(r ->> 'recipient') THEN
            BEGIN
                IF r ? 'name' THEN
                    PERFORM mailqueue.refuse('name', 'contacts of a list have names of their own');
                END IF;
                PERFORM mailqueue.find_list(p_project, r ->> 'recipient', v_is_test);
                PERFORM mailqueue.category_of_list_email(p_project,
                    (p_contents -> coalesce((r ->> 'content')::integer, 0))
                    || jsonb_build_object('recipient', r ->> 'recipient', 'category', p_options -> 'category',
                                          'variables', r -> 'custom_data' -> 'variables'));
                PERFORM mailqueue.expand_list(
                    p_project, p_batch, r ->> 'recipient', p_contents -> coalesce((r ->> 'content')::integer, 0),
                    p_options, coalesce(r -> 'custom_data' -> 'variables', '{}'),
                    jsonb_strip_nulls(jsonb_build_object('tags', r -> 'tags'))
                    || CASE WHEN r -> 'custom_data' <> 'null'
                                 THEN jsonb_build_object('custom_data', (r -> 'custom_data') - 'variables')
                            ELSE '{}' END,
                    p_except => v_except, p_by => p_by);
                r := r || '{"refused": "-", "expanding": true}';
            EXCEPTION WHEN invalid_parameter_value OR object_in_use THEN
                r := r || jsonb_build_object('refused', SQLERRM);
            END;
        END IF;
        v_recipients := array_append(v_recipients, r);
    END LOOP;
    RETURN to_jsonb(v_recipients);
END $$;
COMMENT ON FUNCTION mailqueue.expand_recipients(uuid, uuid, jsonb, jsonb, jsonb, text) IS
    'Begin the mail of the lists that are named among recipients, each as a recipient that accept_shared() refuses, '
    'with expanding where it was begun. Transactional mail goes to no list.';

CREATE OR REPLACE FUNCTION mailqueue.emails_of_batch(b mailqueue.batches) RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT array_remove(b.email_ids, NULL)
        || ARRAY(SELECT t.email_id FROM mailqueue.list_send_contacts AS t
                  WHERE t.batch_id = b.id AND t.email_id IS NOT NULL)
$$;
COMMENT ON FUNCTION mailqueue.emails_of_batch(mailqueue.batches) IS
    'Ids of the mails of a batch, those to contacts of its lists included.';
