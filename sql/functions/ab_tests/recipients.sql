-- Recipients of an A/B test: each has its place by a keyed hash of test and address, whatever the order of calls.

-- The first 16 bytes are the place, the next decide about the sample and the variant.
CREATE OR REPLACE FUNCTION mailqueue.ab_test_place(t mailqueue.ab_tests, p_address text, OUT place uuid,
    OUT is_sample boolean, OUT variant smallint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT encode(substr(h.hash, 1, 16), 'hex')::uuid,
           ('x' || encode(substr(h.hash, 17, 4), 'hex'))::bit(32)::bigint::numeric * 100 / 4294967296
               < t.sample_percent,
           (SELECT v.number
              FROM (SELECT o.number, sum(o.share) OVER (ORDER BY o.number) AS upto
                      FROM mailqueue.ab_test_variants AS o WHERE o.ab_test_id = t.id) AS v
             WHERE ('x' || encode(substr(h.hash, 21, 4), 'hex'))::bit(32)::bigint::numeric * 100 / 4294967296
                       < v.upto
             ORDER BY v.number LIMIT 1)
      FROM (SELECT sha256(uuid_send(t.assignment_key) || uuid_send(t.id)
                          || convert_to(mailqueue.address_key(p_address), 'UTF8')) AS hash) AS h
$$;
COMMENT ON FUNCTION mailqueue.ab_test_place(mailqueue.ab_tests, text) IS
    'Keyed hash of test and address, whether the recipient is in the sample, and the number of its variant.';

-- Any variant may be the winner: variables have to suit all of them.
CREATE OR REPLACE FUNCTION mailqueue.check_ab_test_recipient(t mailqueue.ab_tests, p_recipient jsonb) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text;
    v_variables jsonb := coalesce(nullif(p_recipient -> 'variables', 'null'), '{}');
    v record;
BEGIN
    IF jsonb_typeof(p_recipient) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('recipients', 'an object for each recipient is needed');
    END IF;
    SELECT k INTO v_key FROM jsonb_object_keys(p_recipient) AS k
     WHERE k <> ALL ('{recipient,name,variables,language,custom_data}') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse('recipients', format('there is no field %s', to_json(left(v_key, 100))));
    END IF;
    FOREACH v_key IN ARRAY ARRAY['recipient', 'name', 'language'] LOOP
        IF jsonb_typeof(p_recipient -> v_key) NOT IN ('string', 'null') THEN
            PERFORM mailqueue.refuse(v_key, 'a string is needed');
        END IF;
    END LOOP;
    PERFORM mailqueue.check_text('recipient_name', p_recipient ->> 'name', 320);
    PERFORM mailqueue.check_address('recipient', coalesce(p_recipient ->> 'recipient', ''));
    IF jsonb_typeof(v_variables) <> 'object' THEN
        PERFORM mailqueue.refuse('variables', 'an object of names and values is needed');
    ELSIF mailqueue.json_fault(v_variables, 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', mailqueue.json_fault(v_variables, 64));
    ELSIF jsonb_typeof(p_recipient -> 'custom_data') NOT IN ('object', 'null')
          OR p_recipient -> 'custom_data' ? 'variables' THEN
        PERFORM mailqueue.refuse('custom_data', 'an object without variables is needed');
    ELSIF mailqueue.json_fault(p_recipient -> 'custom_data', 64) IS NOT NULL THEN
        PERFORM mailqueue.refuse('custom_data', mailqueue.json_fault(p_recipient -> 'custom_data', 64));
    END IF;
    FOR v IN SELECT s.variables_schema, x.needs, o.languages
               FROM mailqueue.ab_test_variants AS o
               LEFT JOIN mailqueue.template_versions AS s
                      ON s.id = (o.contents -> 0 ->> 'template_version_id')::uuid
               LEFT JOIN mailqueue.template_texts AS x
                      ON x.version_id = s.id
                     AND x.language = o.languages[1 + mailqueue.ab_test_language(o, p_recipient ->> 'language')]
              WHERE o.ab_test_id = t.id LOOP
        IF v.languages <> '{}' THEN
            PERFORM mailqueue.check_variables(v_variables, v.variables_schema, coalesce(v.needs, '{}'));
        ELSIF v_variables <> '{}' THEN
            PERFORM mailqueue.refuse('variables', 'are of templates alone');
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_ab_test_recipient(mailqueue.ab_tests, jsonb) IS
    'Raise an error (22023) for a recipient of a test that one of its variants cannot be sent to.';

CREATE OR REPLACE FUNCTION mailqueue.ab_test_language(v mailqueue.ab_test_variants, p_language text) RETURNS integer
LANGUAGE sql STABLE
AS $$
    SELECT greatest(0, coalesce(array_position(v.languages, lower(replace(p_language, '_', '-'))),
                                array_position(v.languages,
                                               split_part(lower(replace(p_language, '_', '-')), '-', 1)), 1) - 1)
$$;
COMMENT ON FUNCTION mailqueue.ab_test_language(mailqueue.ab_test_variants, text) IS
    'Index from 0 of the content of a variant in a language; 0: the variant lacks it.';

-- p_rows: {"n", "variant", "recipient"}. One call of accept_shared() for each variant: equal contents of one call are
-- stored once, and contents name the variant that their emails are counted by.
CREATE OR REPLACE FUNCTION mailqueue.accept_ab_test(t mailqueue.ab_tests, p_rows jsonb)
RETURNS TABLE (n integer, id uuid, status text, reason text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v mailqueue.ab_test_variants;
    v_recipients jsonb; v_numbers integer[];
    v_ids uuid[]; v_statuses text[]; v_reasons text[];
BEGIN
    FOR v IN SELECT o.* FROM mailqueue.ab_test_variants AS o WHERE o.ab_test_id = t.id ORDER BY o.number LOOP
        SELECT array_agg((r.value ->> 'n')::integer ORDER BY r.ordinality),
               jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                   'recipient', r.value -> 'recipient' ->> 'recipient', 'name', r.value -> 'recipient' ->> 'name'))
               || jsonb_build_object('content',
                                     mailqueue.ab_test_language(v, r.value -> 'recipient' ->> 'language'))
               || CASE WHEN v.languages <> '{}'
                            THEN jsonb_build_object('custom_data',
                                     coalesce(nullif(r.value -> 'recipient' -> 'custom_data', 'null'), '{}')
                                     || jsonb_build_object('variables',
                                         coalesce(nullif(r.value -> 'recipient' -> 'variables', 'null'), '{}')))
                       WHEN r.value -> 'recipient' -> 'custom_data' <> 'null'
                            THEN jsonb_build_object('custom_data', r.value -> 'recipient' -> 'custom_data')
                       ELSE '{}' END ORDER BY r.ordinality)
          INTO v_numbers, v_recipients
          FROM jsonb_array_elements(p_rows) WITH ORDINALITY AS r WHERE (r.value ->> 'variant')::smallint = v.number;
        CONTINUE WHEN v_recipients IS NULL;
        SELECT array_agg(a.id ORDER BY a.index), array_agg(a.status ORDER BY a.index),
               array_agg(a.reason ORDER BY a.index)
          INTO v_ids, v_statuses, v_reasons
          FROM mailqueue.accept_shared(t.project_id, v.contents, t.options, v_recipients, false, t.requested_by,
                                       t.id) AS a;
        UPDATE mailqueue.email_contents AS c SET variant = t.id || '/' || v.name
          FROM (SELECT q.content_id, q.content_on FROM mailqueue.email_queue AS q WHERE q.id = ANY (v_ids)
                UNION
                SELECT h.content_id, h.content_on FROM mailqueue.email_history AS h
                 WHERE h.id = ANY (v_ids) AND h.finished_at = now()) AS m
         WHERE c.id = m.content_id AND c.created_on = m.content_on;
        RETURN QUERY
            SELECT x.n, x.id, CASE x.status WHEN 'queued' THEN 'accepted' ELSE x.status END, x.reason
              FROM unnest(v_numbers, v_ids, v_statuses, v_reasons) AS x(n, id, status, reason);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.accept_ab_test(mailqueue.ab_tests, jsonb) IS
    'Accept mail of a test to recipients with the numbers of their variants.';

CREATE OR REPLACE FUNCTION mailqueue.add_ab_test_recipients(p_project text, p_id uuid, p_recipients jsonb)
RETURNS TABLE (index integer, id uuid, status text, reason text, variant text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    c_max_recipients CONSTANT integer := 1000;               -- of one call
    c_max_waiting CONSTANT integer := 200000;                -- of one test
    t mailqueue.ab_tests;
    r record;
    p record;
    v_rows jsonb[] := '{}';
    v_new jsonb;
    v_fresh integer[];                                       -- indexes of those that were not in the test before
    v_project uuid := mailqueue.project_taking(p_project);
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    IF jsonb_typeof(p_recipients) IS DISTINCT FROM 'array'
       OR jsonb_array_length(p_recipients) NOT BETWEEN 1 AND c_max_recipients THEN
        PERFORM mailqueue.refuse('recipients', format('a list of 1 to %s is needed', c_max_recipients));
    END IF;
    -- The time begins with the first recipient. The evaluation waits for those that are being added.
    UPDATE mailqueue.ab_tests AS x SET started_at = now(), run_at = now() + x.evaluate_after
     WHERE x.id = p_id AND x.project_id = v_project AND x.started_at IS NULL AND x.status = 'pending'
       AND x.run_at > now() AND x.cancelled_by IS NULL AND x.decided_at IS NULL
       AND coalesce(mailqueue.mode(), x.is_test) = x.is_test;
    SELECT x.* INTO t FROM mailqueue.ab_tests AS x
     WHERE x.id = p_id AND x.project_id = v_project AND coalesce(mailqueue.mode(), x.is_test) = x.is_test FOR SHARE;
    IF t.id IS NULL THEN
        PERFORM mailqueue.refuse('ab_test', 'there is no such test');
    ELSIF t.status NOT IN ('pending', 'assigned') OR t.cancelled_by IS NOT NULL OR t.decided_at IS NOT NULL
          OR t.started_at IS NULL OR now() >= t.started_at + t.evaluate_after THEN
        RAISE object_in_use USING MESSAGE = 'the test takes no more recipients: its time is over';
    ELSIF (SELECT count(*) FROM (SELECT FROM mailqueue.ab_test_recipients AS w
                                  WHERE w.ab_test_id = p_id AND w.outcome IS NULL LIMIT c_max_waiting) AS o)
          >= c_max_waiting THEN
        RAISE object_in_use USING MESSAGE = format('%s recipients of the test wait already', c_max_waiting);
    END IF;
    FOR r IN SELECT x.value, x.ordinality::integer - 1 AS n
               FROM jsonb_array_elements(p_recipients) WITH ORDINALITY AS x LOOP
        BEGIN
            PERFORM mailqueue.check_ab_test_recipient(t, r.value);
            SELECT * INTO p FROM mailqueue.ab_test_place(t, r.value ->> 'recipient');
            v_rows := array_append(v_rows, jsonb_build_object('n', r.n, 'place', p.place, 'is_sample', p.is_sample,
                                                              'variant', p.variant, 'recipient', r.value));
        EXCEPTION WHEN invalid_parameter_value THEN
            v_rows := array_append(v_rows, jsonb_build_object('n', r.n, 'reason', SQLERRM));
        END;
    END LOOP;
    -- In the order of places: two calls with the same recipients do not wait for each other in a circle.
    WITH fresh AS (
        INSERT INTO mailqueue.ab_test_recipients AS x (ab_test_id, place, project_id, is_sample, variant, recipient)
        SELECT DISTINCT ON (i.place) p_id, i.place, v_project, i.is_sample, i.variant, i.recipient
          FROM jsonb_to_recordset(to_jsonb(v_rows))
            AS i(n integer, place uuid, is_sample boolean, variant smallint, recipient jsonb)
         WHERE i.place IS NOT NULL ORDER BY i.place, i.n
        ON CONFLICT DO NOTHING RETURNING x.place
    )
    SELECT jsonb_agg(o.value) INTO v_new
      FROM (SELECT DISTINCT ON (y.value ->> 'place') y.value
              FROM unnest(v_rows) AS y(value) JOIN fresh AS f ON f.place = (y.value ->> 'place')::uuid
             ORDER BY y.value ->> 'place', (y.value ->> 'n')::integer) AS o;
    v_fresh := ARRAY(SELECT (e.value ->> 'n')::integer FROM jsonb_array_elements(coalesce(v_new, '[]')) AS e);
    IF jsonb_path_exists(v_new, '$[*] ? (@.is_sample == true)') THEN
        UPDATE mailqueue.ab_test_recipients AS x
           SET outcome = a.status, email_id = a.id, reason = left(a.reason, 500), recipient = NULL
          FROM mailqueue.accept_ab_test(t, jsonb_path_query_array(v_new, '$[*] ? (@.is_sample == true)')) AS a
         WHERE x.ab_test_id = p_id AND x.place = (v_rows[a.n + 1] ->> 'place')::uuid;
    END IF;
    RETURN QUERY
        SELECT y.n::integer - 1, x.email_id,
               CASE WHEN x.place IS NULL THEN 'rejected'
                    WHEN y.n - 1 <> ALL (v_fresh) THEN 'duplicate'
                    WHEN x.outcome IS NULL THEN 'waiting'
                    WHEN x.outcome = 'accepted' THEN 'queued' ELSE x.outcome END,
               coalesce(y.value ->> 'reason', x.reason), CASE WHEN x.is_sample THEN v.name END
          FROM unnest(v_rows) WITH ORDINALITY AS y(value, n)
          LEFT JOIN mailqueue.ab_test_recipients AS x ON x.ab_test_id = p_id AND x.place = (y.value ->> 'place')::uuid
          LEFT JOIN mailqueue.ab_test_variants AS v ON v.ab_test_id = p_id AND v.number = x.variant
         ORDER BY y.n;
END $$;
COMMENT ON FUNCTION mailqueue.add_ab_test_recipients(text, uuid, jsonb) IS
    'Send a test to recipients: {"recipient", "name", "variables", "language", "custom_data"}. Returns a row for each '
    'in order: queued with its variant, waiting for the decision, duplicate, suppressed, or rejected with the reason.';
