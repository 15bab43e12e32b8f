-- Templates and their versions. The caller has compiled and rendered the content of a version before it is stored.

CREATE OR REPLACE FUNCTION mailqueue.note_template(p_project uuid, p_by text, p_action text, p_subject text,
    p_detail jsonb DEFAULT '{}')
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);  -- the error rolls back changes to a template of another project
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, p_action, p_subject, p_detail)
$$;
COMMENT ON FUNCTION mailqueue.note_template(uuid, text, text, text, jsonb) IS
    'Write an audit row for a change of a template.';

CREATE OR REPLACE FUNCTION mailqueue.check_template(p_template jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_template ->> 'slug' !~ '^[a-z0-9][a-z0-9_-]{0,99}$' THEN
        PERFORM mailqueue.refuse('slug',
                                 format('%s is not a slug: 1 to 100 lower-case letters, digits, - and _',
                                        to_json(left(p_template ->> 'slug', 100))));
    ELSIF length(p_template ->> 'name') NOT BETWEEN 1 AND 200 THEN
        PERFORM mailqueue.refuse('name', format('1 to 200 characters, got %s', length(p_template ->> 'name')));
    ELSIF length(p_template ->> 'description') > 2000 THEN
        PERFORM mailqueue.refuse('description',
                                 format('at most 2000 characters, got %s', length(p_template ->> 'description')));
    ELSIF p_template ->> 'category' !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('category',
                                 format('%s is not a category: lower-case letters, digits, - and _',
                                        to_json(left(p_template ->> 'category', 100))));
    ELSIF NOT mailqueue.is_language(p_template ->> 'language') THEN
        PERFORM mailqueue.refuse('language',
                                 format('%s is not a language tag such as de or pt-br',
                                        to_json(left(p_template ->> 'language', 100))));
    END IF;
    PERFORM mailqueue.check_text('name', p_template ->> 'name', 200);
END $$;
COMMENT ON FUNCTION mailqueue.check_template(jsonb) IS
    'Raise an error for a template with an invalid slug, name, category or language; absent fields are not checked.';

CREATE OR REPLACE FUNCTION mailqueue.is_language(p_tag text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT p_tag ~ '^[a-z]{2,3}(-[a-z0-9]{2,8})*$' AND length(p_tag) <= 35 $$;
COMMENT ON FUNCTION mailqueue.is_language(text) IS 'Whether a text is a language tag in lower case.';

-- {"slug", "name", "description", "category", "language"}; p_project NULL: of the platform.
CREATE OR REPLACE FUNCTION mailqueue.add_template(p_project uuid, p_template jsonb, p_by text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF coalesce(p_template ->> 'slug', '') = '' THEN
        PERFORM mailqueue.refuse('slug', 'is needed');
    END IF;
    PERFORM mailqueue.check_template(p_template);
    PERFORM mailqueue.check_template_room(p_project);
    INSERT INTO mailqueue.templates (project_id, slug, name, description, category, language, created_by)
    VALUES (p_project, p_template ->> 'slug', coalesce(p_template ->> 'name', p_template ->> 'slug'),
            p_template ->> 'description', coalesce(p_template ->> 'category', 'transactional'),
            coalesce(p_template ->> 'language', 'en'), p_by)
    ON CONFLICT (project_id, slug) WHERE deleted_at IS NULL DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        RAISE EXCEPTION 'there is a template % already', p_template ->> 'slug' USING ERRCODE = '23505';
    END IF;
    PERFORM mailqueue.note_template(p_project, p_by, 'template.created', p_template ->> 'slug',
                                    jsonb_build_object('id', v_id));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_template(uuid, jsonb, text) IS
    'Create a template without a version; without a project it belongs to the platform.';

-- {"name", "description", "category", "language"}: absent fields stay as they are.
CREATE OR REPLACE FUNCTION mailqueue.change_template(p_id uuid, p_changes jsonb, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.templates;
BEGIN
    PERFORM mailqueue.check_template(p_changes);
    SELECT * INTO t FROM mailqueue.templates AS o WHERE o.id = p_id AND o.deleted_at IS NULL FOR NO KEY UPDATE;
    IF t.id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.templates AS o
       SET name = coalesce(p_changes ->> 'name', o.name), category = coalesce(p_changes ->> 'category', o.category),
           language = coalesce(p_changes ->> 'language', o.language), updated_at = now(),
           description = CASE WHEN p_changes ? 'description' THEN p_changes ->> 'description' ELSE o.description END
     WHERE o.id = p_id;
    PERFORM mailqueue.note_template(t.project_id, p_by, 'template.changed', t.slug, p_changes);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_template(uuid, jsonb, text) IS
    'Change fields of a template; false if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.remove_template(p_id uuid, p_by text DEFAULT session_user) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
BEGIN
    UPDATE mailqueue.templates AS o SET deleted_at = now() WHERE o.id = p_id AND o.deleted_at IS NULL
    RETURNING o.project_id, o.slug INTO t;
    IF t.slug IS NULL THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.note_template(t.project_id, p_by, 'template.deleted', t.slug, jsonb_build_object('id', p_id));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_template(uuid, text) IS
    'Delete a template with its versions: no new mail is accepted from it, and mail accepted before is still '
    'rendered.';

-- {"variables_schema", "is_css_inlined", "note", "texts": [{"language", "subject", "html_body", "text_body", "parts",
-- "needs"}]}
CREATE OR REPLACE FUNCTION mailqueue.add_template_version(p_template uuid, p_version jsonb,
    p_by text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
    v_number integer;
    t record;
BEGIN
    SELECT o.project_id, o.slug, o.language INTO t FROM mailqueue.templates AS o
     WHERE o.id = p_template AND o.deleted_at IS NULL FOR NO KEY UPDATE;
    IF t.slug IS NULL THEN
        RETURN NULL;
    ELSIF NOT EXISTS (SELECT FROM jsonb_array_elements(p_version -> 'texts') AS x
                       WHERE x.value ->> 'language' = t.language) THEN
        PERFORM mailqueue.refuse('language',
                                 format('a version needs a text in %s, the language of its template',
                                        to_json(t.language)));
    END IF;
    SELECT coalesce(max(v.version), 0) + 1 INTO v_number FROM mailqueue.template_versions AS v
     WHERE v.template_id = p_template;
    INSERT INTO mailqueue.template_versions (template_id, project_id, version, variables_schema, is_css_inlined, note,
                                             created_by)
    VALUES (p_template, t.project_id, v_number, nullif(p_version -> 'variables_schema', 'null'),
            coalesce((p_version ->> 'is_css_inlined')::boolean, false), p_version ->> 'note', p_by)
    RETURNING id INTO v_id;
    INSERT INTO mailqueue.template_texts (version_id, project_id, language, subject, html_body, text_body, parts, needs)
    SELECT v_id, t.project_id, x.language, x.subject, x.html_body, x.text_body, coalesce(x.parts, '{}'),
           ARRAY(SELECT n FROM unnest(x.needs) AS n
                 UNION SELECT n
                         FROM jsonb_array_elements_text(CASE jsonb_typeof(p_version -> 'variables_schema' -> 'required')
                                                        WHEN 'array' THEN p_version -> 'variables_schema' -> 'required'
                                                        ELSE '[]' END) AS n
                 ORDER BY 1)
      FROM jsonb_to_recordset(p_version -> 'texts')
        AS x(language text, subject text, html_body text, text_body text, parts jsonb, needs text[]);
    PERFORM mailqueue.note_template(t.project_id, p_by, 'template.version_created', t.slug,
                                    jsonb_build_object('version', v_number));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_template_version(uuid, jsonb, text) IS
    'Create a draft, the next version of a template; NULL if there is no template.';

-- Changes of one template's versions wait for each other.
CREATE OR REPLACE FUNCTION mailqueue.lock_template_of(p_version uuid, OUT id uuid, OUT project_id uuid, OUT slug text,
    OUT version integer)
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT o.id, o.project_id, o.slug, v.version
      FROM mailqueue.template_versions AS v JOIN mailqueue.templates AS o ON o.id = v.template_id
     WHERE v.id = p_version AND o.deleted_at IS NULL FOR NO KEY UPDATE OF o
$$;
COMMENT ON FUNCTION mailqueue.lock_template_of(uuid) IS
    'Lock the template of a version; returns it with the number of the version, NULL if there is none.';

-- p_sent: {language: HTML with inlined CSS}. The version that was published is archived in the same transaction.
CREATE OR REPLACE FUNCTION mailqueue.publish_template(p_version uuid, p_sent jsonb DEFAULT '{}',
    p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
BEGIN
    SELECT * INTO t FROM mailqueue.lock_template_of(p_version);
    IF t.id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.template_versions AS v SET status = 'archived', archived_at = now()
     WHERE v.template_id = t.id AND v.status = 'published' AND v.id <> p_version;
    UPDATE mailqueue.template_versions AS v SET status = 'published', published_at = now(), archived_at = NULL
     WHERE v.id = p_version;
    UPDATE mailqueue.template_texts AS x SET sent_html = p_sent ->> x.language
     WHERE x.version_id = p_version AND x.sent_html IS NULL AND p_sent ? x.language;
    PERFORM mailqueue.note_template(t.project_id, p_by, 'template.published', t.slug,
                                    jsonb_build_object('version', t.version));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.publish_template(uuid, jsonb, text) IS
    'Publish a version: mail uses it from now on; false if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.archive_template(p_version uuid, p_by text DEFAULT session_user) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
BEGIN
    SELECT * INTO t FROM mailqueue.lock_template_of(p_version);
    IF t.id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.template_versions AS v SET status = 'archived', archived_at = now()
     WHERE v.id = p_version AND v.status <> 'archived';
    PERFORM mailqueue.note_template(t.project_id, p_by, 'template.archived', t.slug,
                                    jsonb_build_object('version', t.version));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.archive_template(uuid, text) IS
    'Archive a version; if it was the published one, no new mail is accepted. False if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.put_template_part(p_project uuid, p_name text, p_kind text, p_source text,
    p_by text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most_parts CONSTANT integer := 200;                    -- of an owner: a version is compiled with all of them
    c_most_source CONSTANT integer := 8388608;
    v_id uuid;
    v_parts bigint;
    v_source bigint;
    v_before bigint;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF coalesce(p_name, '') !~ '^[a-z0-9][a-z0-9._/-]{0,99}$' THEN
        PERFORM mailqueue.refuse('name',
                                 format('%s is not a name: lower-case letters, digits, - . _ and /',
                                        to_json(left(p_name, 100))));
    ELSIF p_kind NOT IN ('layout', 'partial') THEN
        PERFORM mailqueue.refuse('kind', format('layout or partial, got %s', to_json(left(p_kind, 100))));
    ELSIF length(p_source) > 524288 THEN
        PERFORM mailqueue.refuse('source', 'at most 524288 characters');
    END IF;
    PERFORM mailqueue.lock_key('template parts ' || coalesce(p_project::text, ''));
    SELECT count(*), sum(octet_length(o.source)), sum(octet_length(o.source)) FILTER (WHERE o.name = p_name)
      INTO v_parts, v_source, v_before
      FROM mailqueue.template_parts AS o WHERE o.project_id IS NOT DISTINCT FROM p_project;
    IF v_before IS NULL AND v_parts >= c_most_parts THEN
        PERFORM mailqueue.refuse('name', format('there are %s layouts and partials, which is the most', v_parts));
    ELSIF octet_length(p_source) > greatest(v_before, c_most_source - v_source + coalesce(v_before, 0)) THEN
        PERFORM mailqueue.refuse('source', 'layouts and partials have at most 8 MiB together');
    END IF;
    INSERT INTO mailqueue.template_parts AS o (project_id, name, kind, source, updated_by)
    VALUES (p_project, p_name, p_kind, p_source, p_by)
    ON CONFLICT (project_id, name)
        DO UPDATE SET kind = excluded.kind, source = excluded.source, updated_by = excluded.updated_by,
                      updated_at = now()
    RETURNING o.id INTO v_id;
    PERFORM mailqueue.note_template(p_project, p_by, 'template.part_put', p_name, jsonb_build_object('kind', p_kind));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.put_template_part(uuid, text, text, text, text) IS
    'Create or replace a layout or partial; existing versions keep the one they were made with.';

CREATE OR REPLACE FUNCTION mailqueue.remove_template_part(p_project uuid, p_name text, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    DELETE FROM mailqueue.template_parts AS o WHERE o.project_id IS NOT DISTINCT FROM p_project AND o.name = p_name;
    IF FOUND THEN
        PERFORM mailqueue.note_template(p_project, p_by, 'template.part_deleted', p_name);
    END IF;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.remove_template_part(uuid, text, text) IS
    'Delete a layout or partial; false if there is none.';
