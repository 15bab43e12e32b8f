-- Conditions and values of event rules: jsonpath of PostgreSQL, without what takes more than a step for each of its
-- characters and each value of the payload.

-- A statement cannot be given a time of its own, so the path is bounded by its form: the steps it takes are at most its
-- length times the values of the payload, which apply_event_rules() bounds for all rules of an event. Refused are
-- like_regex, ** and keyvalue(), lists of subscripts, which select the same value again, paths in subscripts, which are
-- read for each value, comparisons of one path with another, which compare every pair, arithmetic of one path with
-- another, whose numbers grow, and long numbers: 1e99999 has 100,000 digits, and each sum with it too.
--
-- Read from the canonical form of the path, with keys and strings replaced by s.
CREATE OR REPLACE FUNCTION mailqueue.check_event_path(p_field text, p_path text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_characters CONSTANT integer := 500;
    v_form text;
    v_why text;
    v_depth integer := 0;
    v_filter integer;                                        -- depth of the parenthesis of the filter that is open
    v_is_subscript boolean := false;
    v_before text := '';
    v_char text;
BEGIN
    PERFORM mailqueue.check_text(p_field, p_path, c_max_characters);
    BEGIN
        v_form := p_path::jsonpath::text;
    EXCEPTION WHEN syntax_error OR data_exception OR feature_not_supported OR program_limit_exceeded THEN
        PERFORM mailqueue.refuse(p_field, format('%s is not a jsonpath of PostgreSQL: %s',
                                                 to_json(left(p_path, 100)), SQLERRM));
    END;
    v_form := regexp_replace(v_form, '"(\\.|[^"\\])*"', 's', 'g');
    v_why := CASE
        WHEN v_form ~ 'like_regex' THEN 'like_regex is not allowed: use == or starts with'
        WHEN v_form ~ '\*\*' THEN '** is not allowed: name the keys'
        WHEN v_form ~ 'keyvalue' THEN 'keyvalue() is not allowed'
        -- Their errors end the whole statement, even where those of a path are ignored.
        WHEN v_form ~ '\.(date|time|time_tz|timestamp|timestamp_tz)\('
             THEN 'date(), time() and timestamp() are not allowed: compare with a string, as in >= "2026-05-31"'
        WHEN v_form ~ '\.(datetime|decimal)\((?!\))' THEN 'datetime() and decimal() take no argument'
        WHEN v_form ~ ',' THEN 'lists of subscripts and arguments are not allowed'
        WHEN v_form ~ '\$s' THEN 'variables are not allowed'
        WHEN v_form ~ ('(==|!=|<>|<=|>=|<|>) '
                       '(?!\(?(s|-?[0-9][0-9.eE+-]*|true|false|null)\)?( &&| \|\||\)|$))')
             THEN 'a path is compared with a string, a number, true, false or null, on its right'
        WHEN v_form ~ ' [-+*/%] (?!\(?-?[0-9])' THEN 'arithmetic has a number on its right'
        WHEN v_form ~ '[0-9.]{51}' THEN 'a number has at most 50 digits' END;
    IF v_why IS NOT NULL THEN
        PERFORM mailqueue.refuse(p_field, v_why);
    END IF;
    FOREACH v_char IN ARRAY regexp_split_to_array(v_form, '') LOOP
        IF v_char = '(' THEN
            v_depth := v_depth + 1;
            IF v_before = '?' AND v_filter IS NULL THEN
                v_filter := v_depth;
            END IF;
        ELSIF v_char = ')' THEN
            IF v_filter = v_depth THEN
                v_filter := NULL;
            END IF;
            v_depth := v_depth - 1;
        ELSIF v_char IN ('[', ']') THEN
            v_is_subscript := v_char = '[';
        ELSIF v_char IN ('$', '@') AND v_is_subscript THEN
            PERFORM mailqueue.refuse(p_field, 'a subscript is a number, last or *');
        ELSIF v_char = '$' AND v_filter IS NOT NULL THEN
            PERFORM mailqueue.refuse(p_field, 'inside of a filter, a path begins with @');
        END IF;
        v_before := v_char;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_event_path(text, text) IS
    'Raise 22023 for a text that is no jsonpath, or one whose evaluation could take more than linear time.';

CREATE OR REPLACE FUNCTION mailqueue.path_characters(r mailqueue.event_rules) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(length(r.condition), 0) + coalesce(sum(length(p.value)), 0)
      FROM (SELECT unnest(ARRAY[r.recipient, r.recipient_name, r.language, r.key]) AS value
            UNION ALL
            SELECT v.value #>> '{}' FROM jsonb_each(r.variables) AS v WHERE jsonb_typeof(v.value) = 'string') AS p
     WHERE p.value LIKE '$%'
$$;
COMMENT ON FUNCTION mailqueue.path_characters(mailqueue.event_rules) IS
    'Number of characters of all paths of a rule.';

-- A predicate is true or not; a path is true where it selects a value besides false and null.
CREATE OR REPLACE FUNCTION mailqueue.is_event_selected(p_payload jsonb, p_condition text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT p_condition IS NULL
           OR coalesce(jsonb_path_query_first(p_payload, p_condition::jsonpath), 'null') NOT IN ('null', 'false')
$$;
COMMENT ON FUNCTION mailqueue.is_event_selected(jsonb, text) IS 'Whether a payload satisfies the condition of a rule.';

CREATE OR REPLACE FUNCTION mailqueue.event_value(p_payload jsonb, p_value jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN jsonb_typeof(p_value) = 'string' AND p_value #>> '{}' LIKE '$%'
                THEN jsonb_path_query_first(p_payload, (p_value #>> '{}')::jsonpath)
                ELSE p_value END
$$;
COMMENT ON FUNCTION mailqueue.event_value(jsonb, jsonb) IS
    'The first value that a jsonpath selects, NULL if there is none; a value that does not begin with $ itself.';

CREATE OR REPLACE FUNCTION mailqueue.event_text(p_field text, p_payload jsonb, p_value text, p_is_needed boolean)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_found jsonb := nullif(mailqueue.event_value(p_payload, to_jsonb(p_value)), 'null');
BEGIN
    IF jsonb_typeof(v_found) IN ('object', 'array', 'boolean') OR v_found IS NULL AND p_is_needed THEN
        PERFORM mailqueue.refuse(p_field, format('%s selects %s, a string is needed', to_json(p_value),
                                                 coalesce('one of type ' || jsonb_typeof(v_found), 'nothing')));
    END IF;
    RETURN nullif(v_found #>> '{}', '');
END $$;
COMMENT ON FUNCTION mailqueue.event_text(text, jsonb, text, boolean) IS
    'The string or number that a path selects, as text; raises 22023 for other types, and for none where one is '
    'needed.';
