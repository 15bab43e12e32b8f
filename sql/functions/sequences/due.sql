-- When a step is due.

-- p_has_waited: the delay is over, only the local time and the weekday remain. A date that the zone skips is passed
-- over.
CREATE OR REPLACE FUNCTION mailqueue.step_due_at(p_step jsonb, p_from timestamptz, p_zone text,
    p_has_waited boolean DEFAULT false)
RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_days CONSTANT text[] := '{mon,tue,wed,thu,fri,sat,sun}';
    v_delay record;
    v_is_by_date boolean;                                    -- the delay is in days of the calendar
    v_earliest timestamptz := p_from;
    v_local timestamp;
    v_date date;
    v_time time;
    v_at timestamptz;
BEGIN
    SELECT * INTO v_delay FROM mailqueue.step_delay(p_step);
    IF p_has_waited THEN
        v_delay.amount := 0;
    END IF;
    v_is_by_date := v_delay.unit IN ('d', 'w') AND v_delay.amount > 0;
    IF v_is_by_date THEN
        v_local := mailqueue.utc_to_local(p_from, p_zone)
                   + make_interval(days => v_delay.amount * CASE v_delay.unit WHEN 'w' THEN 7 ELSE 1 END);
    ELSE
        v_earliest := p_from + make_interval(mins => v_delay.amount * CASE v_delay.unit WHEN 'h' THEN 60 ELSE 1 END);
        v_local := mailqueue.utc_to_local(v_earliest, p_zone);
    END IF;
    IF p_step ->> 'at' IS NULL AND coalesce(p_step -> 'weekdays', 'null') = 'null' THEN
        RETURN CASE WHEN v_is_by_date THEN mailqueue.local_to_utc(v_local, p_zone) ELSE v_earliest END;
    END IF;
    v_time := coalesce((p_step ->> 'at')::time, v_local::time);
    FOR v_day IN 0..14 LOOP
        v_date := v_local::date + v_day;
        CONTINUE WHEN jsonb_typeof(p_step -> 'weekdays') = 'array'
                  AND NOT p_step -> 'weekdays' ? c_days[extract(isodow FROM v_date)::integer];
        v_at := CASE WHEN p_step ->> 'at' IS NULL AND v_day = 0 AND NOT v_is_by_date THEN v_earliest
                     ELSE mailqueue.local_to_utc(v_date + v_time, p_zone) END;
        IF v_at >= v_earliest AND mailqueue.utc_to_local(v_at, p_zone)::date = v_date THEN
            RETURN v_at;
        END IF;
    END LOOP;
    RETURN v_at;
END $$;
COMMENT ON FUNCTION mailqueue.step_due_at(jsonb, timestamptz, text, boolean) IS
    'When a step is due that is waited for from a time on, in a time zone.';

CREATE OR REPLACE FUNCTION mailqueue.contact_zone(p_project uuid, p_contact uuid) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    RETURN coalesce(mailqueue.known_zone((SELECT c.time_zone FROM mailqueue.contacts AS c WHERE c.id = p_contact)),
                    mailqueue.known_zone((SELECT p.time_zone FROM mailqueue.projects AS p WHERE p.id = p_project)),
                    'UTC');
END $$;
COMMENT ON FUNCTION mailqueue.contact_zone(uuid, uuid) IS
    'Time zone of a contact, else that of the project.';

CREATE OR REPLACE FUNCTION mailqueue.step_named(p_steps jsonb, p_name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$ SELECT s.step FROM jsonb_array_elements(p_steps) AS s(step) WHERE s.step ->> 'name' = p_name LIMIT 1 $$;
COMMENT ON FUNCTION mailqueue.step_named(jsonb, text) IS 'A step of a version by its name; NULL if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.step_after(p_steps jsonb, p_name text, p_is_skipped boolean) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(CASE WHEN NOT p_is_skipped THEN s.step ->> 'next' END, p_steps -> s.n::integer ->> 'name')
      FROM jsonb_array_elements(p_steps) WITH ORDINALITY AS s(step, n) WHERE s.step ->> 'name' = p_name LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.step_after(jsonb, text, boolean) IS
    'Name of the step that follows one that was done or skipped; NULL after the last.';
