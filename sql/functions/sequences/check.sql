-- Steps of sequences: what they may be.
--
-- A step: {"name", "template", "delay", "at", "weekdays", "condition", "next"}. A delay is a number and a unit: m and h
-- are elapsed time, d and w days of the calendar. A step that is done goes on to its "next", else to the one below it;
-- a step that its condition skips goes on to the one below it.

CREATE OR REPLACE FUNCTION mailqueue.step_delay(p_step jsonb, OUT amount integer, OUT unit text)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT d.parts[1]::integer, d.parts[2]
      FROM regexp_match(coalesce(p_step ->> 'delay', '0m'), '^([0-9]{1,6})([mhdw])$') AS d(parts)
$$;
COMMENT ON FUNCTION mailqueue.step_delay(jsonb) IS
    'Amount and unit (m, h, d, w) of the delay of a step; NULL if it is malformed.';

CREATE OR REPLACE FUNCTION mailqueue.check_step(p_project uuid, p_at integer, p_step jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_fields CONSTANT text[] := '{name,template,delay,at,weekdays,condition,next}';
    c_days CONSTANT text[] := '{mon,tue,wed,thu,fri,sat,sun}';
    v_field text := 'steps.' || p_at;
    v_name text;
    v_delay record;
BEGIN
    IF jsonb_typeof(p_step) <> 'object' THEN
        PERFORM mailqueue.refuse(v_field, format('an object is needed, got %s', jsonb_typeof(p_step)));
    END IF;
    SELECT k INTO v_name FROM jsonb_object_keys(p_step) AS k WHERE k <> ALL (c_fields) LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_field || '.' || left(v_name, 100), 'a step has no such field');
    END IF;
    SELECT e.key INTO v_name FROM jsonb_each(p_step) AS e
     WHERE e.key NOT IN ('weekdays', 'condition') AND jsonb_typeof(e.value) NOT IN ('string', 'null') LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_field || '.' || v_name, 'a string is needed');
    ELSIF coalesce(p_step ->> 'name', '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse(v_field || '.name',
                                 format('%s is not a name: lower-case letters, digits, - and _',
                                        coalesce(to_json(left(p_step ->> 'name', 100))::text, 'null')));
    END IF;
    PERFORM mailqueue.check_step_template(p_project, v_field || '.template', p_step ->> 'template');
    SELECT * INTO v_delay FROM mailqueue.step_delay(p_step);
    IF v_delay.amount IS NULL THEN
        PERFORM mailqueue.refuse(v_field || '.delay', format('a number and m, h, d or w such as 3d is needed, got %s',
                                                             to_json(left(p_step ->> 'delay', 100))));
    ELSIF (v_delay.amount::bigint
           * CASE v_delay.unit WHEN 'm' THEN 1 WHEN 'h' THEN 60 WHEN 'd' THEN 1440 ELSE 10080 END) > 366 * 1440 THEN
        PERFORM mailqueue.refuse(v_field || '.delay', format('at most 366 days, got %s', p_step ->> 'delay'));
    ELSIF p_step ->> 'at' !~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' THEN
        PERFORM mailqueue.refuse(v_field || '.at', format('a time of day such as 09:00 is needed, got %s',
                                                          to_json(left(p_step ->> 'at', 100))));
    ELSIF jsonb_typeof(p_step -> 'weekdays') NOT IN ('array', 'null')
          OR p_step -> 'weekdays' = '[]'
          OR EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(p_step -> 'weekdays') WHEN 'array'
                                                           THEN p_step -> 'weekdays' ELSE '[]' END) AS d
                      WHERE jsonb_typeof(d) <> 'string' OR d #>> '{}' <> ALL (c_days)) THEN
        PERFORM mailqueue.refuse(v_field || '.weekdays',
                                 format('a list of %s is needed', array_to_string(c_days, ', ')));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_step(uuid, integer, jsonb) IS
    'Raise 22023 for a step with an invalid field, naming it; its condition and next are checked with the others.';

CREATE OR REPLACE FUNCTION mailqueue.check_step_template(p_project uuid, p_field text, p_template text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_slug text := split_part(p_template, '@', 1);
    v_wanted text := coalesce(nullif(substr(p_template, length(v_slug) + 2), ''), 'published');
    v_template uuid;
BEGIN
    IF coalesce(p_template, '') = '' THEN
        PERFORM mailqueue.refuse(p_field, 'is needed');
    ELSIF v_wanted !~ '^([0-9]{1,9}|published|latest-published)$' THEN
        PERFORM mailqueue.refuse(p_field, format('%s is not a version: a number, or published',
                                                 to_json(left(v_wanted, 100))));
    END IF;
    SELECT t.id INTO v_template FROM mailqueue.templates AS t
     WHERE (t.project_id = p_project OR t.project_id IS NULL) AND t.slug = v_slug AND t.deleted_at IS NULL
     ORDER BY t.project_id NULLS LAST LIMIT 1;
    IF v_template IS NULL THEN
        PERFORM mailqueue.refuse(p_field, format('there is no template %s', to_json(left(v_slug, 100))));
    ELSIF NOT EXISTS (SELECT FROM mailqueue.template_versions AS v
                       WHERE v.template_id = v_template AND v.status <> 'draft'
                         AND CASE WHEN v_wanted ~ '^[0-9]' THEN v.version::text = v_wanted
                                  ELSE v.status = 'published' END) THEN
        PERFORM mailqueue.refuse(p_field, format('%s has no published version%s', to_json(v_slug),
                                                 CASE WHEN v_wanted ~ '^[0-9]' THEN ' ' || v_wanted ELSE '' END));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_step_template(uuid, text, text) IS
    'Raise 22023 unless the project can send mail from the template, named as SLUG or SLUG@VERSION.';

-- {"event", "step", "happened"}: whether an event happened since the contact was enrolled. The events of mails are
-- those of the mails of one step, or of all; any other word is the type of an event that a rule recorded.
CREATE OR REPLACE FUNCTION mailqueue.check_step_condition(p_field text, p_condition jsonb, p_names text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_fields CONSTANT text[] := '{event,step,happened}';
    v_event text;
    v_name text;
BEGIN
    IF jsonb_typeof(p_condition) <> 'object' THEN
        PERFORM mailqueue.refuse(p_field, format('an object is needed, got %s', jsonb_typeof(p_condition)));
    END IF;
    SELECT k INTO v_name FROM jsonb_object_keys(p_condition) AS k WHERE k <> ALL (c_fields) LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(p_field || '.' || left(v_name, 100), 'a condition has no such field');
    ELSIF jsonb_typeof(p_condition -> 'event') IS DISTINCT FROM 'string' OR p_condition ->> 'event' = '' THEN
        PERFORM mailqueue.refuse(p_field || '.event', 'is needed');
    ELSIF jsonb_typeof(p_condition -> 'step') NOT IN ('string', 'null') THEN
        PERFORM mailqueue.refuse(p_field || '.step', 'a string is needed');
    ELSIF jsonb_typeof(p_condition -> 'happened') NOT IN ('boolean', 'null') THEN
        PERFORM mailqueue.refuse(p_field || '.happened', 'true or false is needed');
    END IF;
    v_event := p_condition ->> 'event';
    PERFORM mailqueue.check_text(p_field || '.event', v_event, 200);
    IF p_condition ->> 'step' IS NULL THEN
        RETURN;
    ELSIF v_event NOT IN ('delivered', 'opened', 'clicked', 'bounced') THEN
        PERFORM mailqueue.refuse(p_field || '.step',
                                 'has a meaning for delivered, opened, clicked and bounced only');
    ELSIF p_condition ->> 'step' <> ALL (p_names) THEN
        PERFORM mailqueue.refuse(p_field || '.step', format('there is no step %s',
                                                            to_json(left(p_condition ->> 'step', 100))));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_step_condition(text, jsonb, text[]) IS
    'Raise 22023 for an invalid condition or goal, naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.check_sequence_steps(p_project uuid, p_steps jsonb, p_goal jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_steps CONSTANT integer := 100;
    v_names text[];
    v_at integer;
    v_step jsonb;
BEGIN
    IF jsonb_typeof(p_steps) IS DISTINCT FROM 'array' THEN
        PERFORM mailqueue.refuse('steps', 'a list of steps is needed');
    ELSIF mailqueue.json_fault(p_steps, 256) IS NOT NULL THEN
        PERFORM mailqueue.refuse('steps', mailqueue.json_fault(p_steps, 256));
    ELSIF jsonb_array_length(p_steps) NOT BETWEEN 1 AND c_max_steps THEN
        PERFORM mailqueue.refuse('steps', format('1 to %s steps, got %s', c_max_steps, jsonb_array_length(p_steps)));
    END IF;
    FOR v_step, v_at IN SELECT s.step, s.n - 1 FROM jsonb_array_elements(p_steps) WITH ORDINALITY AS s(step, n) LOOP
        PERFORM mailqueue.check_step(p_project, v_at, v_step);
        IF v_step ->> 'name' = ANY (v_names) THEN
            PERFORM mailqueue.refuse(format('steps.%s.name', v_at), format('another step is named %s',
                                                                           to_json(v_step ->> 'name')));
        END IF;
        v_names := v_names || (v_step ->> 'name');
    END LOOP;
    FOR v_step, v_at IN SELECT s.step, s.n - 1 FROM jsonb_array_elements(p_steps) WITH ORDINALITY AS s(step, n) LOOP
        IF v_step -> 'condition' <> 'null' THEN
            PERFORM mailqueue.check_step_condition(format('steps.%s.condition', v_at), v_step -> 'condition', v_names);
        END IF;
        IF v_step ->> 'next' <> ALL (v_names) THEN
            PERFORM mailqueue.refuse(format('steps.%s.next', v_at), format('there is no step %s',
                                                                           to_json(left(v_step ->> 'next', 100))));
        END IF;
    END LOOP;
    IF p_goal <> 'null' THEN
        PERFORM mailqueue.check_step_condition('goal', p_goal, v_names);
        IF p_goal ->> 'happened' IS NOT NULL THEN
            PERFORM mailqueue.refuse('goal.happened', 'has no meaning in a goal');
        END IF;
    END IF;
    -- A loop without a wait of an hour: steps that do not wait as long, from one of them back to it.
    WITH RECURSIVE steps AS (
        SELECT s.n, s.step, d.amount * CASE d.unit WHEN 'm' THEN 1 WHEN 'h' THEN 60 ELSE 1440 END >= 60 AS waits
          FROM jsonb_array_elements(p_steps) WITH ORDINALITY AS s(step, n)
         CROSS JOIN LATERAL mailqueue.step_delay(s.step) AS d
    ), edges AS (
        SELECT f.n AS source, t.n AS target
          FROM steps AS f JOIN steps AS t
            ON t.step ->> 'name' = f.step ->> 'next'
               OR t.n = f.n + 1 AND (f.step ->> 'next' IS NULL OR coalesce(f.step -> 'condition', 'null') <> 'null')
         WHERE NOT f.waits AND NOT t.waits
    ), reached AS (
        SELECT e.source, e.target FROM edges AS e
        UNION SELECT r.source, e.target FROM reached AS r JOIN edges AS e ON e.source = r.target
    )
    SELECT max(r.source) - 1 INTO v_at FROM reached AS r WHERE r.source = r.target;
    IF v_at IS NOT NULL THEN
        PERFORM mailqueue.refuse(format('steps.%s.next', v_at),
                                 'a loop of steps needs one with a delay of at least 1h');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_sequence_steps(uuid, jsonb, jsonb) IS
    'Raise 22023 for steps or a goal that a sequence cannot have, naming the field.';
