-- Schedules: added and changed. Each change writes an audit row.

CREATE OR REPLACE FUNCTION mailqueue.schedule_instant(p_field text, p_given jsonb, p_zone text) RETURNS timestamptz
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_text text := p_given #>> '{}';
BEGIN
    IF v_text IS NULL THEN
        RETURN NULL;
    ELSIF jsonb_typeof(p_given) <> 'string'
          OR v_text !~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|z|[+-](0\d|1[0-5]):?[0-5]\d)?$' THEN
        PERFORM mailqueue.refuse(p_field, format('a time such as 2030-05-01T08:00:00Z is needed, got %s',
                                                 to_json(left(v_text, 100))));
    ELSIF v_text ~ '([Zz]|[+-]\d\d:?\d\d)$' THEN
        RETURN mailqueue.check_instant(p_field, v_text::timestamptz, true);
    END IF;
    RETURN mailqueue.check_instant(p_field, mailqueue.local_to_utc(v_text::timestamp, p_zone), true);
EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN
    PERFORM mailqueue.refuse(p_field, format('%s is not a time', to_json(left(v_text, 100))));
END $$;
COMMENT ON FUNCTION mailqueue.schedule_instant(text, jsonb, text) IS
    'An instant of a definition: with an offset, or on the clock of the zone; raises 22023 naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.schedule_whole(p_field text, p_given jsonb, p_least integer, p_most integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(jsonb_typeof(p_given), 'null') = 'null' THEN
        RETURN NULL;
    ELSIF jsonb_typeof(p_given) <> 'number' OR p_given::text !~ '^[0-9]{1,9}$'
          OR p_given::text::integer NOT BETWEEN p_least AND p_most THEN
        PERFORM mailqueue.refuse(p_field, format('%s to %s, got %s', p_least, p_most, left(p_given::text, 100)));
    END IF;
    RETURN p_given::text::integer;
END $$;
COMMENT ON FUNCTION mailqueue.schedule_whole(text, jsonb, integer, integer) IS
    'A whole number of a definition; raises 22023 naming the field.';

-- What a definition says, as a row: all but who made it and what became of it.
CREATE OR REPLACE FUNCTION mailqueue.read_schedule(p_project uuid, p_name text, p_given jsonb)
RETURNS mailqueue.schedules
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
    v_key text;
    v_payload jsonb := coalesce(p_given -> 'payload', '{}');
    v_now timestamptz := clock_timestamp();
    v_text text;
BEGIN
    IF jsonb_typeof(p_given) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('definition', 'an object of fields is needed');
    END IF;
    SELECT k INTO v_key FROM jsonb_object_keys(p_given) AS k
     WHERE k NOT IN ('name', 'schedule_type', 'run_at', 'cron_expression', 'timezone', 'template_slug',
                     'template_version', 'language', 'payload', 'missed', 'overlap', 'ends_at', 'max_runs',
                     'spread_seconds', 'is_test') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse(left(v_key, 100), 'a schedule has no such field');
    END IF;
    SELECT k INTO v_key FROM unnest('{name,schedule_type,run_at,cron_expression,timezone,template_slug,language,missed,'
                                    'overlap,ends_at}'::text[]) AS k
     WHERE jsonb_typeof(p_given -> k) NOT IN ('string', 'null') LIMIT 1;
    IF v_key IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_key, format('a string is needed, got %s', jsonb_typeof(p_given -> v_key)));
    ELSIF jsonb_typeof(p_given -> 'is_test') NOT IN ('boolean', 'null') THEN
        PERFORM mailqueue.refuse('is_test', format('true or false, got %s', left(p_given ->> 'is_test', 100)));
    ELSIF jsonb_typeof(p_given -> 'template_version') NOT IN ('string', 'number', 'null') THEN
        PERFORM mailqueue.refuse('template_version', format('a number or published is needed, got %s',
                                                            jsonb_typeof(p_given -> 'template_version')));
    ELSIF p_given ->> 'template_version' IS NOT NULL AND p_given ->> 'template_slug' IS NULL THEN
        PERFORM mailqueue.refuse('template_version', 'has a meaning only with template_slug');
    ELSIF jsonb_typeof(v_payload) <> 'object' THEN
        PERFORM mailqueue.refuse('payload', 'an object with to is needed');
    END IF;
    s.project_id := p_project;
    s.name := nullif(coalesce(p_name, p_given ->> 'name'), '');
    PERFORM mailqueue.check_text('name', s.name, 200);
    s.schedule_type := p_given ->> 'schedule_type';
    IF s.schedule_type IS NULL OR s.schedule_type NOT IN ('once', 'cron', 'local') THEN
        PERFORM mailqueue.refuse('schedule_type', format('once, cron or local, got %s',
                                                         coalesce(to_json(left(s.schedule_type, 100))::text, 'null')));
    END IF;
    v_text := coalesce(p_given ->> 'timezone',
                       (SELECT p.time_zone FROM mailqueue.projects AS p WHERE p.id = p_project), 'UTC');
    s.time_zone := mailqueue.known_zone(v_text);
    IF s.time_zone IS NULL THEN
        PERFORM mailqueue.refuse('timezone', format('%s is not a time zone such as Europe/Berlin',
                                                    to_json(left(v_text, 100))));
    END IF;
    s.cron_expression := p_given ->> 'cron_expression';
    v_text := p_given ->> 'run_at';
    IF s.schedule_type = 'once' AND s.cron_expression IS NOT NULL THEN
        PERFORM mailqueue.refuse('cron_expression', 'a schedule that runs once has run_at');
    ELSIF s.schedule_type = 'cron' AND v_text IS NOT NULL THEN
        PERFORM mailqueue.refuse('run_at', 'a schedule of type cron has cron_expression');
    ELSIF s.schedule_type = 'local' AND num_nonnulls(v_text, s.cron_expression) <> 1 THEN
        PERFORM mailqueue.refuse('run_at', 'a schedule of type local has either run_at or cron_expression');
    ELSIF s.schedule_type = 'once' AND v_text IS NULL THEN
        PERFORM mailqueue.refuse('run_at', 'is needed');
    ELSIF s.schedule_type = 'cron' OR s.cron_expression IS NOT NULL THEN
        PERFORM mailqueue.check_cron(s.cron_expression);
        s.plan_after := v_now;
        s.run_at := v_now;
    ELSIF s.schedule_type = 'local' THEN
        IF v_text ~ '([Zz]|:\d\d[+-]\d\d:?\d\d)$' THEN
            PERFORM mailqueue.refuse('run_at', 'a time on the clock of each recipient has no offset, such as '
                                               '2030-05-01T09:00:00');
        END IF;
        PERFORM mailqueue.schedule_instant('run_at', p_given -> 'run_at', 'UTC');
        s.local_at := v_text::timestamp;
        IF s.local_at AT TIME ZONE 'UTC' + interval '12 hours' <= v_now THEN
            PERFORM mailqueue.refuse('run_at', format('must be in the future, got %s', v_text));
        END IF;
        s.next_local := s.local_at;
        s.next_run_at := mailqueue.local_run_start(s.local_at);
        s.run_at := s.next_run_at;
    ELSE
        s.once_at := mailqueue.check_instant('run_at', mailqueue.schedule_instant('run_at', p_given -> 'run_at',
                                                                                  s.time_zone));
        s.is_wall_clock := v_text !~ '([Zz]|[+-]\d\d:?\d\d)$';
        s.next_run_at := s.once_at;
        -- A time that clocks leave out stays as it was given, for rules that have it.
        s.next_local := CASE WHEN s.is_wall_clock THEN v_text::timestamp
                             ELSE mailqueue.utc_to_local(s.once_at, s.time_zone) END;
        s.run_at := s.once_at;
    END IF;
    s.missed := coalesce(p_given ->> 'missed', 'latest');
    s.overlap := coalesce(p_given ->> 'overlap', 'queue');
    IF s.missed NOT IN ('skip', 'latest', 'all') THEN
        PERFORM mailqueue.refuse('missed', format('skip, latest or all, got %s', to_json(left(s.missed, 100))));
    ELSIF s.overlap NOT IN ('skip', 'queue') THEN
        PERFORM mailqueue.refuse('overlap', format('skip or queue, got %s', to_json(left(s.overlap, 100))));
    END IF;
    s.ends_at := mailqueue.schedule_instant('ends_at', p_given -> 'ends_at', s.time_zone);
    IF s.ends_at <= v_now THEN
        PERFORM mailqueue.check_instant('ends_at', s.ends_at);
    ELSIF s.ends_at < s.next_run_at THEN
        PERFORM mailqueue.refuse('ends_at', 'must be after run_at');
    END IF;
    s.max_runs := mailqueue.schedule_whole('max_runs', p_given -> 'max_runs', 1, 1000000);
    s.spread_seconds := coalesce(mailqueue.schedule_whole('spread_seconds', p_given -> 'spread_seconds', 0, 604800),
                                 0);
    s.is_test := coalesce((p_given ->> 'is_test')::boolean, false);
    s.recipients := mailqueue.schedule_recipients_of(p_project, v_payload -> 'to', s.is_test);
    s.message := jsonb_strip_nulls((v_payload - '{to,html_body,text_body}'::text[]) || jsonb_build_object(
        'html', coalesce(v_payload -> 'html_body', v_payload -> 'html'),
        'text', coalesce(v_payload -> 'text_body', v_payload -> 'text'),
        'language', coalesce(p_given -> 'language', v_payload -> 'language'),
        'template', CASE WHEN p_given ->> 'template_slug' IS NULL THEN v_payload -> 'template'
                         ELSE to_jsonb((p_given ->> 'template_slug')
                                       || coalesce('@' || (p_given ->> 'template_version'), '')) END));
    IF s.is_test THEN
        s.message := s.message || '{"is_test": true}';
    END IF;
    IF octet_length(s.message::text) > 1048576 THEN
        PERFORM mailqueue.refuse('payload', 'at most 1 MiB without its recipients');
    ELSIF octet_length(s.recipients::text) > 16777216 THEN
        PERFORM mailqueue.refuse('to', 'recipients with their variables have at most 16 MiB');
    ELSIF coalesce(jsonb_typeof(s.message -> 'variables'), 'object') <> 'object' THEN
        PERFORM mailqueue.refuse('variables', 'an object of names and values is needed');
    END IF;
    PERFORM mailqueue.check_schedule_message(p_project, s.message, s.recipients);
    RETURN s;
END $$;
COMMENT ON FUNCTION mailqueue.read_schedule(uuid, text, jsonb) IS
    'A definition of a schedule as a row; raises 22023 naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.add_schedule(p_project uuid, p_name text, p_given jsonb, p_by text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most_recurring CONSTANT integer := 10000;              -- unfinished schedules of a project
    c_most_once CONSTANT integer := 100000;
    s mailqueue.schedules;
    v_most integer;
    v_id uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    s := mailqueue.read_schedule(p_project, p_name, p_given);
    PERFORM mailqueue.check_mode(s.is_test);
    v_most := CASE s.schedule_type WHEN 'once' THEN c_most_once ELSE c_most_recurring END;
    IF EXISTS (SELECT FROM mailqueue.schedules AS o
                WHERE o.project_id = p_project AND o.is_test = s.is_test AND o.finished_at IS NULL
                  AND (o.schedule_type = 'once') = (s.schedule_type = 'once') OFFSET v_most - 1) THEN
        PERFORM mailqueue.refuse('schedule_type', format('a project has at most %s unfinished schedules %s', v_most,
                    CASE s.schedule_type WHEN 'once' THEN 'that run once' ELSE 'of types cron and local' END));
    END IF;
    INSERT INTO mailqueue.schedules (id, project_id, name, schedule_type, once_at, local_at, cron_expression, time_zone,
        message, recipients, missed, overlap, ends_at, max_runs, spread_seconds, is_test, created_by, next_run_at,
        next_local, is_wall_clock, plan_after, zone_release, run_at)
    VALUES (v_id, p_project, s.name, s.schedule_type, s.once_at, s.local_at, s.cron_expression, s.time_zone,
            s.message, s.recipients, s.missed, s.overlap, s.ends_at, s.max_runs, s.spread_seconds, s.is_test,
            coalesce(left(p_by, 200), session_user), s.next_run_at, s.next_local,
            coalesce(s.is_wall_clock, false), s.plan_after, mailqueue.time_zone_release(), s.run_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'schedule.added', coalesce(s.name, v_id::text),
                                       mailqueue.schedule_facts(s), p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_schedule(uuid, text, jsonb, text) IS
    'Add a schedule and return its id; NULL if the project has an unfinished one of that name.';

-- Addresses stay out of the audit log.
CREATE OR REPLACE FUNCTION mailqueue.schedule_facts(s mailqueue.schedules) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'schedule_type', s.schedule_type, 'run_at', coalesce(s.once_at::text, s.local_at::text),
        'cron_expression', s.cron_expression, 'timezone', s.time_zone, 'template', s.message -> 'template',
        'recipients', jsonb_array_length(s.recipients), 'missed', s.missed, 'overlap', s.overlap,
        'ends_at', s.ends_at, 'max_runs', s.max_runs, 'spread_seconds', s.spread_seconds))
$$;
COMMENT ON FUNCTION mailqueue.schedule_facts(mailqueue.schedules) IS
    'What a schedule does, without its recipients, for the audit log.';

CREATE OR REPLACE FUNCTION mailqueue.change_schedule(p_project uuid, p_id uuid, p_given jsonb, p_by text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    o mailqueue.schedules;
    s mailqueue.schedules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    o := mailqueue.take_schedule(p_project, p_id);
    IF o.id IS NULL THEN
        RETURN 'missing';
    ELSIF o.finished_at IS NOT NULL OR o.cron_expression IS NULL AND o.run_count > 0 THEN
        RETURN CASE WHEN o.status IN ('cancelled', 'failed') THEN o.status ELSE 'completed' END;
    END IF;
    s := mailqueue.read_schedule(p_project, NULL, p_given || jsonb_build_object('is_test', o.is_test));
    UPDATE mailqueue.schedules AS x
       SET name = s.name, schedule_type = s.schedule_type, once_at = s.once_at, local_at = s.local_at,
           cron_expression = s.cron_expression, time_zone = s.time_zone, message = s.message,
           recipients = s.recipients, missed = s.missed, overlap = s.overlap, ends_at = s.ends_at,
           max_runs = s.max_runs, spread_seconds = s.spread_seconds, next_run_at = s.next_run_at,
           next_local = s.next_local, is_wall_clock = coalesce(s.is_wall_clock, false), plan_after = s.plan_after,
           zone_release = mailqueue.time_zone_release(),
           run_at = s.run_at, updated_at = clock_timestamp(), attempts = 0, last_error = NULL
     WHERE x.id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'schedule.changed', coalesce(s.name, p_id::text),
        jsonb_build_object('from', mailqueue.schedule_facts(o), 'to', mailqueue.schedule_facts(s)), p_by);
    RETURN 'changed';
EXCEPTION WHEN unique_violation THEN
    PERFORM mailqueue.refuse('name', format('the project has another schedule of the name %s',
                                            to_json(left(s.name, 100))));
END $$;
COMMENT ON FUNCTION mailqueue.change_schedule(uuid, uuid, jsonb, text) IS
    'Replace what a schedule does from now on. Returns changed, missing, or the state that does not allow it.';

CREATE OR REPLACE FUNCTION mailqueue.put_schedule(project text, name text, definition jsonb,
    changed_by text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_taking(put_schedule.project);
    v_id uuid;
    v_state text;
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    IF put_schedule.name IS NOT NULL THEN
        SELECT s.id INTO v_id FROM mailqueue.schedules AS s
         WHERE s.project_id = v_project AND s.name = put_schedule.name AND s.finished_at IS NULL
           AND s.is_test = coalesce(mailqueue.mode(), false);
    END IF;
    IF v_id IS NULL THEN
        v_id := mailqueue.add_schedule(v_project, put_schedule.name, put_schedule.definition, changed_by);
        IF v_id IS NULL THEN
            RAISE unique_violation USING
                MESSAGE = format('another transaction has added schedule %s', to_json(left(put_schedule.name, 100)));
        END IF;
        RETURN v_id;
    END IF;
    v_state := mailqueue.change_schedule(v_project, v_id,
                   put_schedule.definition || jsonb_build_object('name', put_schedule.name), changed_by);
    IF v_state <> 'changed' THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('schedule %s is %s', v_id, v_state);
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.put_schedule(text, text, jsonb, text) IS
    'Add a schedule to a project, or change the unfinished one of that name (name NULL: always add); returns its id.';
