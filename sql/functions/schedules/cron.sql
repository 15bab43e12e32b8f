-- Cron expressions: which ones a schedule may have. mailqueue/schedules/recurrence.py computes their times.

CREATE OR REPLACE FUNCTION mailqueue.cron_number(p_word text, p_field text) RETURNS integer
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_word ~ '^[0-9]{1,2}$' THEN p_word::integer
                WHEN p_field = 'month'
                     THEN array_position('{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'::text[], p_word)
                WHEN p_field = 'day of week'
                     THEN array_position('{sun,mon,tue,wed,thu,fri,sat}'::text[], p_word) - 1 END
$$;
COMMENT ON FUNCTION mailqueue.cron_number(text, text) IS
    'The number of a word in a field of a cron expression, such as 1 for mon; NULL if it is none.';

-- The last day of a month, L, stands as 28: every month has it.
CREATE OR REPLACE FUNCTION mailqueue.cron_values(p_text text, p_field text, p_least integer, p_most integer)
RETURNS integer[]
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_found integer[] := '{}';
    v_part text;
    v_words text[];
    v_first integer;
    v_last integer;
    v_step integer;
BEGIN
    FOREACH v_part IN ARRAY string_to_array(p_text, ',') LOOP
        IF p_field = 'day of month' AND v_part = 'l' THEN
            v_found := v_found || 28;
            CONTINUE;
        ELSIF p_field = 'day of week' AND v_part ~ '^(l[0-7]|[0-7]l)$' THEN
            v_found := v_found || translate(v_part, 'l', '')::integer;
            CONTINUE;
        ELSIF p_field = 'day of week' AND v_part ~ '#' THEN
            v_words := regexp_match(v_part, '^([0-9a-z]{1,3})#([1-5])$');
            v_first := mailqueue.cron_number(v_words[1], p_field);
            IF v_first IS NULL OR v_first > p_most THEN
                PERFORM mailqueue.refuse('cron_expression',
                            format('%s: %s is not a day of the week and 1 to 5, such as mon#2', p_field,
                                   to_json(left(v_part, 50))));
            END IF;
            v_found := v_found || v_first;
            CONTINUE;
        END IF;
        v_words := regexp_match(v_part, '^(\*|\?|[0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?(?:/([0-9]{1,2}))?$');
        IF v_words IS NULL OR v_words[1] = '?' AND p_field NOT IN ('day of month', 'day of week')
           OR v_words[1] IN ('*', '?') AND v_words[2] IS NOT NULL
           OR v_words[1] NOT IN ('*', '?') AND v_words[2] IS NULL AND v_words[3] IS NOT NULL THEN
            PERFORM mailqueue.refuse('cron_expression',
                        format('%s: %s is not a number, a range such as 1-5, * or */n', p_field,
                               to_json(left(v_part, 50))));
        END IF;
        v_step := coalesce(v_words[3]::integer, 1);
        IF v_words[1] IN ('*', '?') THEN
            v_first := p_least;
            v_last := CASE WHEN p_field = 'day of week' THEN 6 ELSE p_most END;
        ELSE
            v_first := mailqueue.cron_number(v_words[1], p_field);
            v_last := CASE WHEN v_words[2] IS NULL THEN v_first ELSE mailqueue.cron_number(v_words[2], p_field) END;
            IF p_field = 'day of week' AND v_words[2] = 'sun' AND v_first > 0 THEN
                v_last := 7;
            END IF;
        END IF;
        IF v_first IS NULL OR v_last IS NULL OR v_first < p_least OR v_last > p_most THEN
            PERFORM mailqueue.refuse('cron_expression', format('%s: %s to %s, got %s', p_field, p_least, p_most,
                                                               to_json(left(v_part, 50))));
        ELSIF v_first > v_last THEN
            PERFORM mailqueue.refuse('cron_expression', format('%s: the range %s ends before it begins', p_field,
                                                               to_json(left(v_part, 50))));
        ELSIF v_step NOT BETWEEN 1 AND p_most - p_least + 1 THEN
            PERFORM mailqueue.refuse('cron_expression', format('%s: a step of 1 to %s, got %s', p_field,
                                                               p_most - p_least + 1, v_step));
        END IF;
        v_found := v_found || ARRAY(SELECT generate_series(v_first, v_last, v_step));
    END LOOP;
    RETURN v_found;
END $$;
COMMENT ON FUNCTION mailqueue.cron_values(text, text, integer, integer) IS
    'The values of a field of a cron expression; raises 22023 naming cron_expression.';

CREATE OR REPLACE FUNCTION mailqueue.check_cron(p_cron text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_words CONSTANT text[] := '{@yearly,@annually,@monthly,@weekly,@daily,@midnight,@hourly}';
    v_fields text[];
    v_days integer[];
    v_months integer[];
BEGIN
    IF coalesce(p_cron, '') = '' THEN
        PERFORM mailqueue.refuse('cron_expression', 'is needed');
    ELSIF length(p_cron) > 200 THEN
        PERFORM mailqueue.refuse('cron_expression', format('at most 200 characters, got %s', length(p_cron)));
    ELSIF lower(p_cron) = ANY (c_words) THEN
        RETURN;
    ELSIF p_cron LIKE '@%' THEN
        PERFORM mailqueue.refuse('cron_expression', format('one of %s, got %s', array_to_string(c_words, ', '),
                                                           to_json(left(p_cron, 50))));
    END IF;
    v_fields := regexp_split_to_array(lower(btrim(p_cron, ' ')), ' +');
    IF cardinality(v_fields) <> 5 THEN
        PERFORM mailqueue.refuse('cron_expression',
                    format('five fields are needed (minute, hour, day of month, month, day of week), got %s',
                           cardinality(v_fields)));
    END IF;
    PERFORM mailqueue.cron_values(v_fields[1], 'minute', 0, 59);
    PERFORM mailqueue.cron_values(v_fields[2], 'hour', 0, 23);
    v_days := mailqueue.cron_values(v_fields[3], 'day of month', 1, 31);
    v_months := mailqueue.cron_values(v_fields[4], 'month', 1, 12);
    PERFORM mailqueue.cron_values(v_fields[5], 'day of week', 0, 7);
    IF v_fields[3] NOT IN ('*', '?') AND v_fields[5] ~ '[#l]' THEN
        PERFORM mailqueue.refuse('cron_expression', 'day of week: with # or L the day of month must be *');
    ELSIF v_fields[5] IN ('*', '?') AND NOT EXISTS (
           SELECT FROM unnest(v_months) AS m
            WHERE (SELECT min(d) FROM unnest(v_days) AS d) <= CASE WHEN m = 2 THEN 29 WHEN m IN (4, 6, 9, 11) THEN 30
                                                                   ELSE 31 END) THEN
        PERFORM mailqueue.refuse('cron_expression', format('%s never comes: no such month has that day',
                                                           to_json(p_cron)));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_cron(text) IS
    'Raise 22023 naming cron_expression unless a schedule may have it: five fields, or a word such as @daily, that '
    'some day satisfies.';
