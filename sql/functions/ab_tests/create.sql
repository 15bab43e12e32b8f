-- An A/B test, checked and stored: everything that decides it is fixed before its first mail.

CREATE OR REPLACE FUNCTION mailqueue.ab_test_number(p_value jsonb, p_name text, p_default numeric, p_least numeric,
    p_most numeric, p_is_whole boolean DEFAULT true) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_value jsonb := nullif(p_value -> p_name, 'null');
BEGIN
    IF v_value IS NULL THEN
        RETURN p_default;
    ELSIF jsonb_typeof(v_value) <> 'number' OR v_value::numeric NOT BETWEEN p_least AND p_most
          OR p_is_whole AND v_value::numeric <> trunc(v_value::numeric) THEN
        PERFORM mailqueue.refuse(p_name, format('%s from %s to %s is needed, got %s',
                                                CASE WHEN p_is_whole THEN 'a whole number' ELSE 'a number' END,
                                                p_least, p_most, left(v_value::text, 100)));
    END IF;
    RETURN v_value::numeric;
END $$;
COMMENT ON FUNCTION mailqueue.ab_test_number(jsonb, text, numeric, numeric, numeric, boolean) IS
    'A number of a test by its name, or what it is if it is not given; raises 22023 for one out of its bounds.';

CREATE OR REPLACE FUNCTION mailqueue.ab_test_word(p_value jsonb, p_name text, p_words text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_value jsonb := nullif(p_value -> p_name, 'null');
BEGIN
    IF v_value IS NOT NULL AND (jsonb_typeof(v_value) <> 'string' OR NOT v_value #>> '{}' = ANY (p_words)) THEN
        PERFORM mailqueue.refuse(p_name, format('%s is needed, got %s', array_to_string(p_words, ' or '),
                                                left(v_value::text, 100)));
    END IF;
    RETURN coalesce(v_value #>> '{}', p_words[1]);
END $$;
COMMENT ON FUNCTION mailqueue.ab_test_word(jsonb, text, text[]) IS
    'A word of a test by its name, the first if it is not given; raises 22023 for another word.';

-- Variables are those of each recipient, and not known yet.
CREATE OR REPLACE FUNCTION mailqueue.ab_test_template(p_project uuid, p_template text, p_language text,
    OUT version_id uuid, OUT language text, OUT category text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_slug text := split_part(p_template, '@', 1);
    v_wanted text := coalesce(nullif(substr(p_template, length(v_slug) + 2), ''), 'published');
    v_language text := lower(replace(p_language, '_', '-'));
    t record;
BEGIN
    IF v_wanted !~ '^[0-9]{1,9}$' AND v_wanted <> 'published' THEN
        PERFORM mailqueue.refuse('template', format('%s is not a version: a number, or published',
                                                    to_json(left(v_wanted, 100))));
    END IF;
    SELECT v.id, o.category, o.language INTO t
      FROM (SELECT m.id, m.category, m.language FROM mailqueue.templates AS m
             WHERE (m.project_id = p_project OR m.project_id IS NULL) AND m.slug = v_slug AND m.deleted_at IS NULL
             ORDER BY m.project_id NULLS LAST LIMIT 1) AS o
      JOIN mailqueue.template_versions AS v ON v.template_id = o.id AND v.status <> 'draft'
           AND CASE v_wanted WHEN 'published' THEN v.status = 'published' ELSE v.version::text = v_wanted END;
    IF t.id IS NULL THEN
        PERFORM mailqueue.refuse('template', format('there is no published template or version %s',
                                                    to_json(left(p_template, 100))));
    END IF;
    version_id := t.id;
    category := t.category;
    SELECT x.language INTO language FROM mailqueue.template_texts AS x
     WHERE x.version_id = t.id AND x.language = ANY (ARRAY[v_language, split_part(v_language, '-', 1), t.language])
     ORDER BY x.language = v_language DESC NULLS LAST, x.language = split_part(v_language, '-', 1) DESC NULLS LAST
     LIMIT 1;
END $$;
COMMENT ON FUNCTION mailqueue.ab_test_template(uuid, text, text) IS
    'Version and language of a template named as "slug@version"; raises 22023 if there is none that may be sent.';

-- What a variant does not say is that of the test. The version of a template is chosen now.
CREATE OR REPLACE FUNCTION mailqueue.ab_test_variant(t mailqueue.ab_tests, p_common jsonb, p_variant jsonb,
    OUT variant mailqueue.ab_test_variants, OUT category text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text;
    v_content jsonb;
    c record;
BEGIN
    IF jsonb_typeof(p_variant) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('variants', 'an object for each variant is needed');
    END IF;
    SELECT k INTO v_key FROM jsonb_object_keys(p_variant) AS k
     WHERE k <> ALL ('{name,share,subject,html,text,template}') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse('variants', format('there is no field %s', to_json(left(v_key, 100))));
    END IF;
    FOREACH v_key IN ARRAY ARRAY['name', 'subject', 'html', 'text', 'template'] LOOP
        IF jsonb_typeof(p_variant -> v_key) NOT IN ('string', 'null') THEN
            PERFORM mailqueue.refuse(v_key, 'a string is needed');
        END IF;
    END LOOP;
    variant.name := coalesce(p_variant ->> 'name', '');
    IF variant.name !~ '^[A-Za-z0-9_-]{1,40}$' THEN
        PERFORM mailqueue.refuse('variants', 'a name of 1 to 40 letters, digits, - and _ is needed for each');
    END IF;
    variant.share := mailqueue.ab_test_number(p_variant, 'share', NULL, 1, 99);
    v_content := jsonb_strip_nulls(p_common || (p_variant - '{name,share}'::text[]));
    IF v_content ? 'template' THEN
        SELECT k INTO v_key FROM jsonb_object_keys(v_content) AS k WHERE k IN ('subject', 'html', 'text') LIMIT 1;
        IF v_key IS NOT NULL THEN
            PERFORM mailqueue.refuse(v_key, 'it is set by the template: leave it out');
        END IF;
        c := mailqueue.ab_test_template(t.project_id, v_content ->> 'template', v_content ->> 'language');
        category := c.category;
        v_content := jsonb_build_object('template_version_id', c.version_id, 'template_language', c.language);
    ELSE
        v_content := v_content - 'language';
    END IF;
    SELECT o.contents, o.languages INTO variant.contents, variant.languages
      FROM mailqueue.list_contents(t.project_id, v_content, '{}') AS o;
END $$;
COMMENT ON FUNCTION mailqueue.ab_test_variant(mailqueue.ab_tests, jsonb, jsonb) IS
    'A variant of a test with its contents, and the category of its template.';

CREATE OR REPLACE FUNCTION mailqueue.check_ab_test_fields(p_test jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text;
BEGIN
    IF jsonb_typeof(p_test) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('test', 'an object is needed');
    END IF;
    SELECT k INTO v_key FROM jsonb_object_keys(p_test) AS k
     WHERE k <> ALL ('{name,variants,subject,html,text,template,language,metric,alpha,evaluate_after_hours,min_sample,'
                     'sample_percent,if_none,options}') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse(left(v_key, 100), 'there is no such field');
    END IF;
    FOREACH v_key IN ARRAY ARRAY['name', 'subject', 'html', 'text', 'template', 'language'] LOOP
        IF jsonb_typeof(p_test -> v_key) NOT IN ('string', 'null') THEN
            PERFORM mailqueue.refuse(v_key, 'a string is needed');
        END IF;
    END LOOP;
    PERFORM mailqueue.check_text('name', coalesce(p_test ->> 'name', ''), 200);
    IF coalesce(p_test ->> 'name', '') = '' THEN
        PERFORM mailqueue.refuse('name', 'is needed');
    ELSIF jsonb_typeof(coalesce(p_test -> 'options', '{}')) <> 'object' THEN
        PERFORM mailqueue.refuse('options', 'an object is needed');
    ELSIF jsonb_typeof(p_test -> 'variants') IS DISTINCT FROM 'array'
          OR jsonb_array_length(p_test -> 'variants') NOT BETWEEN 2 AND 4 THEN
        PERFORM mailqueue.refuse('variants', 'a list of 2 to 4 is needed');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_ab_test_fields(jsonb) IS
    'Raise an error (22023) for unknown fields of a test and those of a wrong type, and without a name or variants.';

-- The metric needs its tracking: mail of the test has it switched on.
CREATE OR REPLACE FUNCTION mailqueue.ab_test_options(p_options jsonb, p_metric text, p_is_test boolean) RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text;
BEGIN
    FOREACH v_key IN ARRAY ARRAY['cc', 'bcc', 'also_to', 'idempotency_key', 'variables', 'language', 'template',
                                 'recipient', 'subject', 'html', 'text'] LOOP
        IF p_options ? v_key THEN
            PERFORM mailqueue.refuse(v_key, 'is not an option of the mail of a test');
        END IF;
    END LOOP;
    v_key := CASE p_metric WHEN 'open_rate' THEN 'track_opens' ELSE 'track_clicks' END;
    IF p_options -> v_key = 'false' THEN
        PERFORM mailqueue.refuse(v_key, format('is needed for the metric %s', p_metric));
    END IF;
    RETURN p_options || jsonb_build_object(v_key, true)
        || CASE WHEN p_is_test THEN '{"is_test": true}' ELSE '{}' END::jsonb;
END $$;
COMMENT ON FUNCTION mailqueue.ab_test_options(jsonb, text, boolean) IS
    'Options of the mail of a test, with the tracking that its metric needs. Raises 22023 for those it may not have.';

CREATE OR REPLACE FUNCTION mailqueue.read_ab_test(p_project uuid, p_test jsonb) RETURNS mailqueue.ab_tests
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.ab_tests;
BEGIN
    PERFORM mailqueue.check_ab_test_fields(p_test);
    t.project_id := p_project;
    t.name := p_test ->> 'name';
    t.metric := mailqueue.ab_test_word(p_test, 'metric', '{open_rate,click_rate}');
    t.if_none := mailqueue.ab_test_word(p_test, 'if_none', '{first,shares}');
    t.alpha := mailqueue.ab_test_number(p_test, 'alpha', 0.05, 0.0001, 0.5, false);
    t.min_sample := mailqueue.ab_test_number(p_test, 'min_sample', 100, 1, 1000000);
    t.sample_percent := mailqueue.ab_test_number(p_test, 'sample_percent', 100, 1, 100);
    t.evaluate_after := make_interval(mins => round(60 * mailqueue.ab_test_number(
                            p_test, 'evaluate_after_hours', 24, 0.02, 720, false))::integer);
    t.options := jsonb_strip_nulls(coalesce(p_test -> 'options', '{}'));
    t.is_test := coalesce(t.options -> 'is_test' = 'true', mailqueue.mode(), false);
    PERFORM mailqueue.check_mode(t.is_test);
    t.options := mailqueue.ab_test_options(t.options, t.metric, t.is_test);
    RETURN t;
END $$;
COMMENT ON FUNCTION mailqueue.read_ab_test(uuid, jsonb) IS
    'The test that a caller describes, without its variants. Raises 22023 naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.create_ab_test(p_project text, p_test jsonb, p_by text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_unfinished CONSTANT integer := 100;                -- tests of a project
    t mailqueue.ab_tests;
    v record;
    v_variants mailqueue.ab_test_variants[] := '{}';
    v_common jsonb;
    v_one jsonb;
    q mailqueue.email_queue;
BEGIN
    t.project_id := mailqueue.project_taking(p_project);
    PERFORM mailqueue.check_tenant(t.project_id);
    t := mailqueue.read_ab_test(t.project_id, p_test);
    v_common := jsonb_build_object('subject', p_test -> 'subject', 'html', p_test -> 'html', 'text', p_test -> 'text',
                                   'template', p_test -> 'template', 'language', p_test -> 'language');
    FOR v_one IN SELECT x.value FROM jsonb_array_elements(p_test -> 'variants') AS x LOOP
        v := mailqueue.ab_test_variant(t, v_common, v_one);
        IF (v.variant).share IS NULL THEN
            PERFORM mailqueue.refuse('share', 'is needed for each variant');
        END IF;
        v_variants := array_append(v_variants, (v.variant));
        -- Errors of content and options are the caller's.
        IF v.category IS NOT NULL AND NOT t.options ? 'category' THEN
            t.options := t.options || jsonb_build_object('category', v.category);
        END IF;
    END LOOP;
    FOR v IN SELECT * FROM unnest(v_variants) AS x LOOP
        q := mailqueue.shared_content(t.project_id, v.contents -> 0, t.options);
        IF v.languages = '{}' AND v.contents -> 0 ->> 'html' IS NULL THEN
            PERFORM mailqueue.refuse('html', 'is needed: opens and clicks are counted in HTML alone');
        END IF;
    END LOOP;
    IF (SELECT sum(x.share) FROM unnest(v_variants) AS x) <> 100 THEN
        PERFORM mailqueue.refuse('share', 'the shares of the variants must have the sum 100');
    ELSIF (SELECT count(DISTINCT x.name) FROM unnest(v_variants) AS x) < cardinality(v_variants) THEN
        PERFORM mailqueue.refuse('variants', 'each needs a name of its own');
    ELSIF q.category = 'marketing' AND EXISTS (SELECT FROM mailqueue.projects AS p
            WHERE p.id = t.project_id AND p.require_postal_address AND p.postal_address IS NULL) THEN
        PERFORM mailqueue.refuse_addressless();
    ELSIF (SELECT count(*) FROM mailqueue.ab_tests AS x
            WHERE x.project_id = t.project_id AND x.status IN ('pending', 'assigned')) >= c_max_unfinished THEN
        RAISE object_in_use USING MESSAGE = format('the project has %s tests that are not finished', c_max_unfinished);
    END IF;
    INSERT INTO mailqueue.ab_tests AS x (project_id, name, is_test, metric, alpha, evaluate_after, min_sample,
        sample_percent, if_none, options, assignment_key, requested_by, run_at)
    VALUES (t.project_id, t.name, t.is_test, t.metric, t.alpha, t.evaluate_after, t.min_sample, t.sample_percent,
        t.if_none, t.options, gen_random_uuid(), left(p_by, 200), now() + t.evaluate_after)
    RETURNING x.id INTO t.id;
    INSERT INTO mailqueue.ab_test_variants (ab_test_id, number, project_id, name, share, contents, languages)
    SELECT t.id, x.n, t.project_id, x.name, x.share, x.contents, x.languages
      FROM unnest(v_variants) WITH ORDINALITY AS x(ab_test_id, number, project_id, name, share, contents, languages,
                                                   sent, opened, clicked, p_value, n);
    PERFORM mailqueue.record_operation(t.project_id, 'ab_test.created', 'ab_test ' || t.id,
                jsonb_build_object('name', t.name, 'metric', t.metric, 'alpha', t.alpha, 'min_sample', t.min_sample,
                                   'sample_percent', t.sample_percent, 'if_none', t.if_none), p_by);
    RETURN t.id;
END $$;
COMMENT ON FUNCTION mailqueue.create_ab_test(text, jsonb, text) IS
    'Create an A/B test and return its id. p_test: {"name", "variants": 2 to 4 of {"name", "share", and "subject", '
    '"template" or bodies}, what all have in common ("subject", "html", "text", or "template" with "language"), '
    '"metric": open_rate or click_rate, "alpha", "evaluate_after_hours", "min_sample", "sample_percent", "if_none": '
    'first or shares, "options": those of enqueue()}. Raises 22023 naming the field.';
