-- Schedules: paused, resumed, cancelled, run at once, skipped. Each takes the claim of a worker away: what that worker
-- was about to write for the schedule is then not written. The transaction that commits first decides.

CREATE OR REPLACE FUNCTION mailqueue.take_schedule(p_project uuid, p_id uuid) RETURNS mailqueue.schedules
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
BEGIN
    SELECT * INTO s FROM mailqueue.schedules AS o
     WHERE o.id = p_id AND o.project_id = p_project AND o.is_test = coalesce(mailqueue.mode(), o.is_test) FOR UPDATE;
    IF s.status = 'assigned' THEN
        UPDATE mailqueue.schedules AS o
           SET status = 'pending', claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL,
               attempts = greatest(o.attempts - 1, 0)
         WHERE o.id = p_id;
        s.status := 'pending';
    END IF;
    RETURN s;
END $$;
COMMENT ON FUNCTION mailqueue.take_schedule(uuid, uuid) IS
    'Lock a schedule, away from a worker that has claimed it; NULL if the project has none of that id.';

CREATE OR REPLACE FUNCTION mailqueue.pause_schedule(p_project uuid, p_id uuid, p_by text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    s := mailqueue.take_schedule(p_project, p_id);
    IF s.id IS NULL THEN
        RETURN 'missing';
    ELSIF s.status <> 'pending' THEN
        RETURN s.status;
    END IF;
    UPDATE mailqueue.schedules AS o
       SET status = 'paused', updated_at = clock_timestamp(),
           last_error = 'paused by ' || coalesce(left(p_by, 200), session_user)
     WHERE o.id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'schedule.paused', coalesce(s.name, p_id::text), '{}', p_by);
    RETURN 'paused';
END $$;
COMMENT ON FUNCTION mailqueue.pause_schedule(uuid, uuid, text) IS
    'Pause a schedule; returns its state afterwards, or missing.';

-- Occurrences of the pause are not made up for. One that runs once and was due in the pause runs now.
CREATE OR REPLACE FUNCTION mailqueue.resume_schedule(p_project uuid, p_id uuid, p_by text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    s := mailqueue.take_schedule(p_project, p_id);
    IF s.id IS NULL THEN
        RETURN 'missing';
    ELSIF s.status <> 'paused' THEN
        RETURN s.status;
    END IF;
    UPDATE mailqueue.schedules AS o
       SET status = 'pending', updated_at = clock_timestamp(), last_error = NULL, attempts = 0,
           plan_after = CASE WHEN o.cron_expression IS NOT NULL
                              AND (o.next_run_at IS NULL OR o.next_run_at <= clock_timestamp())
                             THEN clock_timestamp() ELSE o.plan_after END,
           run_at = CASE WHEN o.cron_expression IS NOT NULL
                          AND (o.next_run_at IS NULL OR o.next_run_at <= clock_timestamp())
                         THEN clock_timestamp() ELSE o.next_run_at END
     WHERE o.id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'schedule.resumed', coalesce(s.name, p_id::text), '{}', p_by);
    RETURN 'pending';
END $$;
COMMENT ON FUNCTION mailqueue.resume_schedule(uuid, uuid, text) IS
    'Resume a schedule with its first occurrence from now on; returns its state afterwards, or missing.';

-- Mail of runs that are spread over a time, or on the clocks of recipients, waits in the queue for its time.
CREATE OR REPLACE FUNCTION mailqueue.cancel_mail_ahead(p_project uuid, p_batch uuid) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    SELECT b.email_ids INTO v_ids FROM mailqueue.batches AS b WHERE b.id = p_batch AND b.project_id = p_project;
    v_ids := ARRAY(SELECT k.id FROM (SELECT q.id FROM mailqueue.email_queue AS q
                                      WHERE q.id = ANY (v_ids) AND q.project_id = p_project AND q.status = 'pending'
                                        AND q.attempts = 0 AND q.run_at > clock_timestamp() AND NOT q.is_cancelled
                                      ORDER BY q.id FOR NO KEY UPDATE) AS k);
    RETURN (SELECT count(*) FROM mailqueue.cancel_emails(p_project, v_ids, 'cancelled with its schedule') AS c);
END $$;
COMMENT ON FUNCTION mailqueue.cancel_mail_ahead(uuid, uuid) IS
    'Cancel the mail of a batch whose time has not come; returns how many.';

-- The caller has locked the runs that are being made. Of many mails, workers of schedule-runs cancel a batch at a time.
CREATE OR REPLACE FUNCTION mailqueue.stop_schedule_runs(s mailqueue.schedules, p_reason text) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_at_once CONSTANT integer := 10000;                     -- mails that are cancelled in this transaction
    -- The last time zone has a time of day 26 hours after the first.
    c_ahead CONSTANT interval := interval '26 hours' + make_interval(secs => s.spread_seconds);
    r record;
    v_count integer;
    v_cancelled integer := 0;
BEGIN
    IF s.schedule_type <> 'local' AND s.spread_seconds = 0 THEN
        RETURN 0;
    ELSIF (SELECT sum(o.queued) > c_at_once FROM mailqueue.schedule_runs AS o
            WHERE o.schedule_id = s.id AND o.occurrence > clock_timestamp() - c_ahead
              AND o.stop_requested_at IS NULL) THEN
        UPDATE mailqueue.schedule_runs AS o
           SET status = CASE o.status WHEN 'assigned' THEN 'assigned' ELSE 'pending' END, finished_at = NULL,
               run_at = clock_timestamp(), attempts = 0, stop_requested_at = clock_timestamp(), place = 0,
               message = NULL, recipients = NULL, last_error = p_reason
         WHERE o.schedule_id = s.id AND o.occurrence > clock_timestamp() - c_ahead AND o.queued > 0
           AND o.stop_requested_at IS NULL;
        RETURN NULL;
    END IF;
    FOR r IN SELECT o.id, o.status, o.batch_ids FROM mailqueue.schedule_runs AS o
              WHERE o.schedule_id = s.id AND o.occurrence > clock_timestamp() - c_ahead
                AND o.stop_requested_at IS NULL
              ORDER BY o.number LOOP
        SELECT coalesce(sum(mailqueue.cancel_mail_ahead(s.project_id, b.id)), 0) INTO v_count
          FROM unnest(r.batch_ids) AS b(id);
        v_cancelled := v_cancelled + v_count;
        UPDATE mailqueue.schedule_runs AS o
           SET status = 'cancelled', stop_requested_at = clock_timestamp(), last_error = p_reason
         WHERE o.id = r.id AND v_count > 0 AND o.status = 'done';
    END LOOP;
    RETURN v_cancelled;
END $$;
COMMENT ON FUNCTION mailqueue.stop_schedule_runs(mailqueue.schedules, text) IS
    'Cancel mail of the runs of a schedule whose time has not come; returns how many, NULL where workers do it.';

-- A run that is being made ends too. Mail whose time has come stays: the answer has its number.
CREATE OR REPLACE FUNCTION mailqueue.cancel_schedule(p_project uuid, p_id uuid, p_by text DEFAULT NULL,
    OUT state text, OUT run_number integer, OUT queued bigint, OUT cancelled integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
    v_run uuid;
    v_reason text := 'cancelled by ' || coalesce(left(p_by, 200), session_user);
    v_is_being_made boolean;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    cancelled := 0;
    s := mailqueue.take_schedule(p_project, p_id);
    IF s.id IS NULL THEN
        state := 'missing';
        RETURN;
    END IF;
    PERFORM FROM mailqueue.schedule_runs AS r
      WHERE r.schedule_id = p_id AND r.status IN ('pending', 'assigned') ORDER BY r.number FOR UPDATE;
    v_is_being_made := FOUND;
    cancelled := mailqueue.stop_schedule_runs(s, v_reason);
    UPDATE mailqueue.schedule_runs AS r
       SET status = CASE r.status WHEN 'pending' THEN 'cancelled' ELSE r.status END,
           finished_at = CASE r.status WHEN 'pending' THEN clock_timestamp() ELSE r.finished_at END,
           stop_requested_at = clock_timestamp(), message = NULL, recipients = NULL, place = 0, last_error = v_reason
     WHERE r.schedule_id = p_id AND r.status IN ('pending', 'assigned') AND r.stop_requested_at IS NULL;
    SELECT r.id, r.number, r.queued INTO v_run, run_number, queued FROM mailqueue.schedule_runs AS r
     WHERE r.schedule_id = p_id ORDER BY r.number DESC LIMIT 1;
    IF s.finished_at IS NOT NULL AND NOT v_is_being_made AND cancelled = 0 THEN
        state := s.status;
        RETURN;
    END IF;
    state := 'cancelled';
    UPDATE mailqueue.schedules AS o
       SET status = 'cancelled', finished_at = coalesce(o.finished_at, clock_timestamp()),
           updated_at = clock_timestamp(), next_run_at = NULL, next_local = NULL, plan_after = NULL,
           last_error = v_reason
     WHERE o.id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'schedule.cancelled', coalesce(s.name, p_id::text),
        jsonb_strip_nulls(jsonb_build_object('runs', s.run_count, 'queued_by_last_run', queued,
                                             'cancelled_emails', cancelled)), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.cancel_schedule(uuid, uuid, text) IS
    'Cancel what a schedule would still do, and mail of its runs whose time has not come. Returns its state afterwards '
    '(completed: it had run already; missing), its last run, how many mails that one had queued, and how many are '
    'cancelled; NULL: so many that workers cancel them.';

CREATE OR REPLACE FUNCTION mailqueue.schedule_mail_ahead(p_project uuid, p_id uuid) RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    c_most CONSTANT integer := 10001;
    s mailqueue.schedules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO s FROM mailqueue.schedules AS o
     WHERE o.id = p_id AND o.project_id = p_project AND o.is_test = coalesce(mailqueue.mode(), o.is_test);
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF s.schedule_type <> 'local' AND s.spread_seconds = 0 THEN
        RETURN 0;
    END IF;
    RETURN (SELECT count(*) FROM (
        SELECT FROM mailqueue.schedule_runs AS r
          CROSS JOIN LATERAL unnest(r.batch_ids) AS b(id)
          JOIN mailqueue.batches AS t ON t.id = b.id AND t.project_id = p_project
          CROSS JOIN LATERAL unnest(t.email_ids) AS e(id)
          JOIN mailqueue.email_queue AS q ON q.id = e.id
         WHERE r.schedule_id = p_id AND r.stop_requested_at IS NULL
           AND r.occurrence > clock_timestamp() - interval '26 hours' - make_interval(secs => s.spread_seconds)
           AND q.project_id = p_project AND q.status = 'pending' AND q.attempts = 0
           AND q.run_at > clock_timestamp() AND NOT q.is_cancelled
         LIMIT c_most) AS found);
END $$;
COMMENT ON FUNCTION mailqueue.schedule_mail_ahead(uuid, uuid) IS
    'Count the mail of a schedule whose time has not come, which cancel_schedule would cancel; 10,001: more than '
    '10,000. NULL without such a schedule.';

CREATE OR REPLACE FUNCTION mailqueue.run_schedule(p_project uuid, p_id uuid, p_by text DEFAULT NULL)
RETURNS TABLE (state text, run_id uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
    v_now timestamptz;                                       -- after the lock: each run has an instant of its own
    v_run uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    s := mailqueue.take_schedule(p_project, p_id);
    IF s.id IS NULL OR s.status NOT IN ('pending', 'paused') THEN
        RETURN QUERY SELECT coalesce(s.status, 'missing'), NULL::uuid;
        RETURN;
    END IF;
    v_now := clock_timestamp();
    INSERT INTO mailqueue.schedule_runs (id, project_id, schedule_id, number, occurrence, local_time, started_by,
                                         message, recipients, is_test)
    VALUES (v_run, p_project, p_id, s.run_count + 1, v_now, mailqueue.utc_to_local(v_now, s.time_zone), 'request',
            s.message, s.recipients, s.is_test);
    UPDATE mailqueue.schedules AS o SET run_count = o.run_count + 1, last_run_at = v_now WHERE o.id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'schedule.run', coalesce(s.name, p_id::text),
                                       jsonb_build_object('run', v_run, 'number', s.run_count + 1), p_by);
    RETURN QUERY SELECT s.status, v_run;
END $$;
COMMENT ON FUNCTION mailqueue.run_schedule(uuid, uuid, text) IS
    'Begin a run of a schedule now, beside its occurrences; returns its state and the id of the run.';

CREATE OR REPLACE FUNCTION mailqueue.skip_schedule(p_project uuid, p_id uuid, p_by text DEFAULT NULL,
    OUT state text, OUT skipped timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.schedules;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    s := mailqueue.take_schedule(p_project, p_id);
    state := CASE WHEN s.id IS NULL THEN 'missing' WHEN s.cron_expression IS NULL THEN 'once'
                  WHEN s.next_run_at IS NULL OR s.plan_after IS NOT NULL THEN 'unplanned' ELSE s.status END;
    IF state NOT IN ('pending', 'paused') THEN
        RETURN;
    END IF;
    skipped := s.next_run_at;
    UPDATE mailqueue.schedules AS o
       SET plan_after = o.next_run_at, run_at = clock_timestamp(), updated_at = clock_timestamp() WHERE o.id = p_id;
    PERFORM mailqueue.record_operation(p_project, 'schedule.skipped', coalesce(s.name, p_id::text),
                                       jsonb_build_object('occurrence', s.next_run_at), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.skip_schedule(uuid, uuid, text) IS
    'Leave the next occurrence of a schedule out; returns its state (once: it has no other occurrence; unplanned: the '
    'next one is not computed yet; missing) and the occurrence.';

CREATE OR REPLACE FUNCTION mailqueue.schedule_named(p_project uuid, p_name text) RETURNS uuid
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.id FROM mailqueue.schedules AS s
     WHERE s.project_id = p_project AND s.is_test = coalesce(mailqueue.mode(), s.is_test)
       AND (s.name = p_name OR s.id::text = p_name)
     ORDER BY s.finished_at DESC NULLS FIRST, s.id DESC LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.schedule_named(uuid, text) IS
    'Id of the schedule of that id or name, unfinished ones first; NULL if the project has none.';
