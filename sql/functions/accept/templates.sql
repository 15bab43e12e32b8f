-- Mail from a template: its version, its language, and a check of its variables.

-- A schema without a type, or with an unknown one, accepts any value.
CREATE OR REPLACE FUNCTION mailqueue.is_of_type(p_value jsonb, p_type jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(bool_or(t.type = jsonb_typeof(p_value)
                            OR t.type = 'integer' AND jsonb_typeof(p_value) = 'number'
                            AND p_value::numeric = trunc(p_value::numeric)
                            OR t.type NOT IN ('null', 'boolean', 'object', 'array', 'number', 'string', 'integer')),
                    true)
      FROM jsonb_array_elements_text(CASE jsonb_typeof(p_type) WHEN 'array' THEN p_type
                                                               WHEN 'string' THEN jsonb_build_array(p_type)
                                                               ELSE '[]' END)
        AS t(type)
$$;
COMMENT ON FUNCTION mailqueue.is_of_type(jsonb, jsonb) IS
    'Whether a value has the type, or one of the types, of a JSON Schema.';

-- Required names, and the types of given values. Python checks the rest of the schema before sending. Runs for each
-- mail of a batch: changes no setting, and examines only values that fail a cheap check.
CREATE OR REPLACE FUNCTION mailqueue.check_variables(p_variables jsonb, p_schema jsonb, p_needs text[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_name text;
BEGIN
    IF jsonb_typeof(p_variables) <> 'object' THEN
        PERFORM mailqueue.refuse('variables',
                                 format('an object of names and values is needed, got %s', jsonb_typeof(p_variables)));
    ELSIF NOT p_variables ?& p_needs THEN
        SELECT n INTO v_name FROM unnest(p_needs) AS n WHERE NOT p_variables ? n LIMIT 1;
        PERFORM mailqueue.refuse('variables', format('%s is missing', to_json(v_name)));
    ELSIF jsonb_typeof(p_schema -> 'properties') = 'object' THEN
        SELECT s.key INTO v_name FROM jsonb_each(p_schema -> 'properties') AS s
         WHERE CASE WHEN NOT p_variables ? s.key OR s.value ->> 'type' = jsonb_typeof(p_variables -> s.key) THEN false
                    ELSE NOT mailqueue.is_of_type(p_variables -> s.key, s.value -> 'type') END LIMIT 1;
        IF v_name IS NOT NULL THEN
            PERFORM mailqueue.refuse('variables', format('%s must be %s, got %s', to_json(v_name),
                p_schema -> 'properties' -> v_name -> 'type', jsonb_typeof(p_variables -> v_name)));
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_variables(jsonb, jsonb, text[]) IS
    'Raise an error for variables that lack a required name or have a wrong type.';

-- The template of the project comes before that of the platform. Drafts are not sent; a version other than the
-- published one must be named.
CREATE OR REPLACE FUNCTION mailqueue.with_template(q mailqueue.email_queue, p_project uuid)
RETURNS mailqueue.email_queue
LANGUAGE plpgsql
AS $$
DECLARE
    v_slug text := split_part(q.template, '@', 1);
    v_wanted text := coalesce(nullif(substr(q.template, length(v_slug) + 2), ''), 'published');
    v_language text := lower(replace(q.language, '_', '-'));
    v_number integer;
    t record;
    w record;
BEGIN
    IF num_nonnulls(q.subject, q.html_body, q.text_body) > 0 THEN
        PERFORM mailqueue.refuse(CASE WHEN q.subject IS NOT NULL THEN 'subject'
                                      WHEN q.html_body IS NOT NULL THEN 'html_body' ELSE 'text_body' END,
                                 'it is set by the template: leave it out');
    ELSIF v_wanted ~ '^[0-9]{1,9}$' THEN
        v_number := v_wanted;
    ELSIF v_wanted NOT IN ('published', 'latest-published') THEN
        PERFORM mailqueue.refuse('template',
                                 format('%s is not a version: a number, or published', to_json(left(v_wanted, 100))));
    END IF;
    SELECT o.id, o.category, o.language, v.id AS version_id, v.version, v.status, v.variables_schema INTO t
      FROM (SELECT m.id, m.category, m.language FROM mailqueue.templates AS m
             WHERE (m.project_id = p_project OR m.project_id IS NULL) AND m.slug = v_slug AND m.deleted_at IS NULL
             ORDER BY m.project_id NULLS LAST LIMIT 1) AS o
      LEFT JOIN mailqueue.template_versions AS v ON v.template_id = o.id
           AND (v.version = v_number OR v_number IS NULL AND v.status = 'published');
    IF t.id IS NULL THEN
        PERFORM mailqueue.refuse('template', format('there is no template %s', to_json(left(v_slug, 100))));
    ELSIF t.version_id IS NULL THEN
        PERFORM mailqueue.refuse('template',
                                 CASE WHEN v_number IS NULL THEN format('%s has no published version', to_json(v_slug))
                                      ELSE format('%s has no version %s', to_json(v_slug), v_number) END);
    ELSIF t.status = 'draft' THEN
        PERFORM mailqueue.refuse('template',
                                 format('version %s of %s is a draft: publish it', t.version, to_json(v_slug)));
    END IF;
    SELECT x.language, x.subject, x.needs INTO w FROM mailqueue.template_texts AS x
     WHERE x.version_id = t.version_id
       AND x.language = ANY (ARRAY[v_language, split_part(v_language, '-', 1), t.language])
     ORDER BY x.language = v_language DESC NULLS LAST, x.language = split_part(v_language, '-', 1) DESC NULLS LAST
     LIMIT 1;
    q.variables := coalesce(q.variables, '{}');
    IF mailqueue.json_fault(q.variables, 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', mailqueue.json_fault(q.variables, 64));
    ELSIF mailqueue.json_fault(q.custom_data, 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('custom_data', mailqueue.json_fault(q.custom_data, 64));
    END IF;
    PERFORM mailqueue.check_variables(q.variables, t.variables_schema, w.needs);
    IF jsonb_typeof(q.custom_data) NOT IN ('object', 'null') OR q.custom_data ? 'variables' THEN
        PERFORM mailqueue.refuse('custom_data',
                                 'with a template an object is needed, without variables, which are kept there');
    END IF;
    q.custom_data := coalesce(nullif(q.custom_data, 'null'), '{}') || jsonb_build_object('variables', q.variables);
    q.variables := NULL;
    q.category := coalesce(q.category, t.category);
    q.template_version_id := t.version_id;
    q.language := w.language;
    q.subject := w.subject;
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.with_template(mailqueue.email_queue, uuid) IS
    'A row that names a template, with its version, language and subject set; raises 22023 if there is no such '
    'template or its variables are invalid.';
