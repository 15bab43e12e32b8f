-- The window of a project: the time of day at which its mail of low priority is sent.

-- p_zone is the time zone of a window that names none.
CREATE OR REPLACE FUNCTION mailqueue.low_priority_window(p_window text, p_zone text, OUT low_from time,
    OUT low_until time, OUT low_zone text, OUT shown text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_parts text[];
BEGIN
    IF p_window IS NULL THEN
        RETURN;
    END IF;
    v_parts := regexp_match(p_window, '^\s*([0-9]{1,2}:[0-5][0-9])\s*-\s*([0-9]{1,2}:[0-5][0-9])(?:\s+(\S+))?\s*$');
    IF v_parts IS NULL OR v_parts[1]::interval >= '24:00' OR v_parts[2]::interval > '24:00' THEN
        PERFORM mailqueue.refuse('low_priority_window',
                                 format('a begin, an end and a time zone such as 22:00-06:00 Europe/Berlin are needed, '
                                        'got %s', to_json(left(p_window, 100))));
    END IF;
    low_from := v_parts[1]::time;
    low_until := CASE WHEN v_parts[2] = '24:00' THEN '00:00' ELSE v_parts[2]::time END;
    low_zone := CASE WHEN v_parts[3] IS NULL THEN p_zone
                     ELSE mailqueue.project_time_zone('low_priority_window', v_parts[3]) END;
    IF low_from = low_until THEN
        PERFORM mailqueue.refuse('low_priority_window',
                                 format('begin and end must differ, got %s; null is any time of day',
                                        to_json(left(p_window, 100))));
    END IF;
    shown := to_char(low_from, 'HH24:MI') || '-' || to_char(low_until, 'HH24:MI') || coalesce(' ' || v_parts[3], '');
END $$;
COMMENT ON FUNCTION mailqueue.low_priority_window(text, text) IS
    'Begin, end and time zone of a window such as 22:00-06:00 Europe/Berlin, and its form in projects; raises an error '
    'if it is none.';

-- Begin and end are local times. Of a time that occurs twice the second counts, and one that is skipped is an hour
-- later, so that every day has its window.
CREATE OR REPLACE FUNCTION mailqueue.low_opens_at(p_from time, p_until time, p_zone text, p_now timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    v_today date := (p_now AT TIME ZONE p_zone)::date;
    v_from timestamp;
    v_until timestamp;
    v_opens timestamptz;
    v_closes timestamptz;
BEGIN
    FOR v_day IN -1..2 LOOP
        v_from := v_today + v_day + p_from;
        v_until := v_today + v_day + (p_until < p_from)::integer + p_until;
        v_opens := v_from AT TIME ZONE p_zone;
        v_closes := v_until AT TIME ZONE p_zone;
        IF v_closes <= v_opens THEN                          -- all of it is skipped but its end
            v_closes := v_opens + (v_until - v_from);
        END IF;
        IF p_now < v_opens THEN
            RETURN v_opens;
        ELSIF p_now < v_closes THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN v_opens;
END $$;
COMMENT ON FUNCTION mailqueue.low_opens_at(time, time, text, timestamptz) IS
    'When a window opens for mail of low priority; NULL: it is open.';
