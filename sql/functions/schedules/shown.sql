-- Schedules as people see them: their words, what a run would come to, why one waits, and the check of view health.

CREATE OR REPLACE FUNCTION mailqueue.schedule_words(s mailqueue.schedules,
    OUT run_at text, OUT status text, OUT payload jsonb)
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN s.once_at IS NOT NULL THEN to_char(s.once_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                WHEN s.local_at IS NOT NULL THEN to_char(s.local_at, 'YYYY-MM-DD"T"HH24:MI:SS') END,
           CASE WHEN s.status IN ('pending', 'assigned') THEN 'active' ELSE s.status END,
           (s.message - '{template,language,is_test,html,text}'::text[])
           || jsonb_strip_nulls(jsonb_build_object('html_body', s.message -> 'html', 'text_body', s.message -> 'text'))
           || jsonb_build_object('to', (SELECT coalesce(jsonb_agg(
                  CASE WHEN r.value ? 'list' THEN r.value -> 'list'
                       WHEN r.value - 'email' = '{}' THEN r.value -> 'email' ELSE r.value END ORDER BY r.n), '[]')
                FROM jsonb_array_elements(s.recipients) WITH ORDINALITY AS r(value, n)))
$$;
COMMENT ON FUNCTION mailqueue.schedule_words(mailqueue.schedules) IS
    'Time, state and payload of a schedule in the words of the API.';

-- Lists are counted up to a bound, so that it stays short. Whether an address is suppressed costs a hash, so that the
-- first ones are checked.
CREATE OR REPLACE FUNCTION mailqueue.estimate_schedule(p_project uuid, p_id uuid, OUT recipients bigint,
    OUT is_complete boolean, OUT checked bigint, OUT suppressed bigint, OUT daily_limit integer, OUT sent_today bigint,
    OUT headroom bigint, OUT days integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_most CONSTANT integer := 100000;                       -- recipients that are counted
    c_checked CONSTANT integer := 10000;
    s mailqueue.schedules;
    l record;
    v_keys text[];
    v_emails text[];
    v_more record;
    v_category text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO s FROM mailqueue.schedules AS o
     WHERE o.id = p_id AND o.project_id = p_project AND o.is_test = coalesce(mailqueue.mode(), o.is_test);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT array_agg(mailqueue.address_key(r.value ->> 'email')), array_agg(r.value ->> 'email')
      INTO v_keys, v_emails
      FROM jsonb_array_elements(s.recipients) AS r WHERE NOT r.value ? 'list';
    FOR l IN SELECT o.id FROM jsonb_array_elements(s.recipients) AS r
               JOIN mailqueue.contact_lists AS o ON o.project_id = p_project AND o.name = r.value ->> 'list'
                                                    AND o.is_test = s.is_test
    LOOP
        EXIT WHEN cardinality(v_keys) >= c_most;
        SELECT array_agg(m.email_key) AS keys, array_agg(m.email) AS emails INTO v_more
          FROM mailqueue.list_members(p_project, l.id, NULL, c_most - coalesce(cardinality(v_keys), 0)) AS m;
        v_keys := v_keys || v_more.keys;
        v_emails := v_emails || v_more.emails;
    END LOOP;
    is_complete := coalesce(cardinality(v_keys), 0) < c_most;
    v_category := coalesce(s.message ->> 'category', (
        SELECT t.category FROM mailqueue.templates AS t
         WHERE (t.project_id = p_project OR t.project_id IS NULL) AND t.deleted_at IS NULL
           AND t.slug = split_part(s.message ->> 'template', '@', 1) ORDER BY t.project_id NULLS LAST LIMIT 1),
        'transactional');
    SELECT count(*), count(*) FILTER (WHERE r.n <= c_checked),
           count(*) FILTER (WHERE CASE WHEN r.n <= c_checked AND NOT s.is_test
                                       THEN mailqueue.suppressed(p_project, r.email, v_category) END IS NOT NULL)
      INTO recipients, checked, suppressed
      FROM (SELECT min(u.email) AS email, row_number() OVER (ORDER BY u.key) AS n
              FROM unnest(v_keys, v_emails) AS u(key, email) GROUP BY u.key) AS r;
    SELECT m.daily_limit, coalesce(c.sent, 0) + coalesce(c.reserved, 0) INTO daily_limit, sent_today
      FROM mailqueue.limits AS m
      LEFT JOIN LATERAL (SELECT k.sent, k.reserved FROM mailqueue.limit_counters AS k
                          WHERE k.limit_id = m.id
                            AND k.day = mailqueue.utc_to_local(clock_timestamp(), m.time_zone)::date
                          ORDER BY k.rev DESC LIMIT 1) AS c ON true
     WHERE m.project_id = p_project AND m.sender_account_id IS NULL LIMIT 1;
    sent_today := coalesce(sent_today, 0);
    headroom := CASE WHEN daily_limit IS NOT NULL THEN greatest(daily_limit - sent_today, 0) END;
    IF NOT s.is_test THEN
        -- Its sender accounts together: if one has no limit, they have none. Their sum may be above any integer.
        SELECT CASE WHEN bool_and(h.daily_limit IS NOT NULL) THEN least(sum(h.daily_limit), 2147483647) END AS daily,
               CASE WHEN count(*) = count(h.daily_limit) THEN sum(greatest(h.daily_limit - h.sent - h.reserved, 0))
                    END AS room INTO v_more
          FROM mailqueue.headroom(ARRAY(SELECT m.id FROM mailqueue.sender_accounts AS a
                                          JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
                                         WHERE a.project_id = p_project AND a.status = 'active'
                                           AND coalesce(s.message ->> 'sender', a.name) IN (a.name, a.id::text)),
                                  clock_timestamp()) AS h;
        daily_limit := least(daily_limit, v_more.daily);
        headroom := least(headroom, v_more.room);
    END IF;
    days := CASE WHEN daily_limit > 0
                 THEN 1 + ceil(greatest(recipients - suppressed - headroom, 0)::numeric / daily_limit)::integer END;
END $$;
COMMENT ON FUNCTION mailqueue.estimate_schedule(uuid, uuid) IS
    'Recipients of a run of a schedule, each once, how many of the first ones are suppressed, and how they compare '
    'with the daily limits of the project and of its sender accounts. Changes nothing.';

CREATE OR REPLACE FUNCTION mailqueue.why_schedule(p_id uuid) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
    r mailqueue.schedule_runs;
    v_words text;
BEGIN
    SELECT * INTO s FROM mailqueue.schedules AS o
     WHERE o.id = p_id AND o.project_id = coalesce(mailqueue.tenant(), o.project_id)
       AND o.is_test = coalesce(mailqueue.mode(), o.is_test);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO r FROM mailqueue.schedule_runs AS o WHERE o.schedule_id = p_id ORDER BY o.number DESC LIMIT 1;
    v_words := format('schedule %s, %s', coalesce(to_json(s.name)::text, s.id::text),
        CASE WHEN s.finished_at IS NOT NULL
                  THEN format('%s at %s%s', s.status, mailqueue.shown(s.finished_at),
                              coalesce(': ' || s.last_error, ''))
             WHEN s.status = 'paused' THEN format('%s: it makes no mail until it is resumed', s.last_error)
             WHEN s.status = 'assigned'
                  THEN format('worker %s runs it since %s', s.worker_id, mailqueue.shown(s.assigned_at))
             WHEN s.plan_after IS NOT NULL
                  THEN format('its next occurrence after %s is being computed', mailqueue.shown(s.plan_after))
             WHEN s.run_at > clock_timestamp() AND s.run_at > s.next_run_at
                  THEN format('due since %s, next attempt at %s: %s', mailqueue.shown(s.next_run_at),
                              mailqueue.shown(s.run_at), s.last_error)
             WHEN s.run_at > clock_timestamp()
                  THEN format('not due before %s (%s in %s)%s', mailqueue.shown(s.next_run_at),
                              to_char(s.next_local, 'YYYY-MM-DD HH24:MI'),
                              CASE s.schedule_type WHEN 'local' THEN 'the first time zone' ELSE s.time_zone END,
                              coalesce(', by ' || to_json(s.cron_expression)::text, ''))
             ELSE format('due since %s, and waits for a worker', mailqueue.shown(s.next_run_at)) END);
    IF r.id IS NOT NULL THEN
        v_words := v_words || format('; run %s for %s is %s: %s queued, %s suppressed, %s rejected%s', r.number,
            mailqueue.shown(r.occurrence),
            CASE WHEN r.status IN ('pending', 'assigned') THEN 'being made' ELSE r.status END, r.queued, r.suppressed,
            r.rejected, coalesce(' (' || r.last_error || ')', ''));
    END IF;
    RETURN v_words || mailqueue.next_step('schedule',
        CASE WHEN s.finished_at IS NULL AND s.status = 'pending' AND s.run_at <= clock_timestamp()
                  AND NOT mailqueue.is_attended('schedules') THEN 'no_worker'
             WHEN s.status = 'assigned' THEN 'pending' ELSE s.status END, s.id, s.project_id, NULL, 'schedules');
END $$;
COMMENT ON FUNCTION mailqueue.why_schedule(uuid) IS
    'When and why a schedule waits, and what its last run did; NULL if there is none of that id.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_schedules() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH late AS (
        SELECT p.name AS project, s.id, coalesce(s.name, s.id::text) AS schedule, s.last_error, s.next_run_at
          FROM mailqueue.projects AS p
         CROSS JOIN LATERAL (
                SELECT o.* FROM mailqueue.schedules AS o
                 WHERE o.project_id = p.id AND o.status = 'pending' AND o.run_at <= clock_timestamp() + interval '1 h'
                   AND o.next_run_at < clock_timestamp() - interval '5 min' ORDER BY o.run_at LIMIT 20) AS s
    ), refused AS (
        SELECT p.name AS project, r.schedule_id AS id, coalesce(s.name, s.id::text) AS schedule, r.last_error,
               r.occurrence AS next_run_at
          FROM mailqueue.projects AS p
         CROSS JOIN LATERAL (
                SELECT o.* FROM mailqueue.schedule_runs AS o WHERE o.project_id = p.id ORDER BY o.id DESC LIMIT 20) AS r
          JOIN mailqueue.schedules AS s ON s.id = r.schedule_id
         WHERE r.created_at > clock_timestamp() - interval '1 day' AND r.last_error IS NOT NULL
           AND (r.status = 'failed' OR r.status = 'done' AND r.rejected > 0 AND r.queued = 0)
    ), bad AS (
        SELECT * FROM late UNION ALL SELECT * FROM refused
    )
    SELECT 'schedules', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('late, or made no mail in the last day: '
                    || mailqueue.some_words(array_agg(format('%s of %s, due at %s (%s)', b.schedule, b.project,
                           mailqueue.shown(b.next_run_at), coalesce(left(b.last_error, 200), 'no reason is known'))
                           ORDER BY b.next_run_at)),
                    'schedules run in time'),
           CASE WHEN count(*) > 0
                THEN format('see mailqueue why %s; workers of schedules: mailqueue worker schedules schedule-runs',
                            (array_agg(b.id ORDER BY b.next_run_at))[1]) END
      FROM bad AS b
$$;
COMMENT ON FUNCTION mailqueue.health_of_schedules() IS 'The check of schedules, for the view health.';

CREATE OR REPLACE FUNCTION mailqueue.mail_of_broadcast(p_project uuid, p_broadcast uuid) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        SELECT unnest(k.email_ids)
          FROM mailqueue.broadcasts AS b
          JOIN mailqueue.schedule_runs AS r
            ON r.schedule_id = b.schedule_id AND r.project_id = b.project_id AND r.number = 1
          JOIN mailqueue.batches AS k ON k.id = ANY (r.batch_ids) AND k.project_id = b.project_id
         WHERE b.id = p_broadcast AND b.project_id = p_project;
END $$;
COMMENT ON FUNCTION mailqueue.mail_of_broadcast(uuid, uuid) IS 'Ids of the mail of a broadcast.';
