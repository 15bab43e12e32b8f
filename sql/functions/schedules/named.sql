-- Schedules by the names of their project and of their own, for services that write SQL.

CREATE OR REPLACE FUNCTION mailqueue.schedule_in(p_project text, p_schedule text, OUT project_id uuid, OUT id uuid)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    project_id := mailqueue.project_named(p_project);
    id := mailqueue.schedule_named(project_id, p_schedule);
    IF id IS NULL THEN
        PERFORM mailqueue.refuse('schedule', format('the project has no schedule %s',
                                                    to_json(left(p_schedule, 100))));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.schedule_in(text, text) IS
    'Ids of a project and of its schedule of that name or id; raises 22023 if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.pause_schedule(project text, schedule text) RETURNS text
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.pause_schedule(s.project_id, s.id, session_user)
      FROM mailqueue.schedule_in(project, schedule) AS s
$$;
COMMENT ON FUNCTION mailqueue.pause_schedule(text, text) IS 'Pause a schedule; returns its state afterwards.';

CREATE OR REPLACE FUNCTION mailqueue.resume_schedule(project text, schedule text) RETURNS text
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.resume_schedule(s.project_id, s.id, session_user)
      FROM mailqueue.schedule_in(project, schedule) AS s
$$;
COMMENT ON FUNCTION mailqueue.resume_schedule(text, text) IS 'Resume a schedule; returns its state afterwards.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_schedule(project text, schedule text,
    OUT state text, OUT run_number integer, OUT queued bigint, OUT cancelled integer)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT c.state, c.run_number, c.queued, c.cancelled
      FROM mailqueue.schedule_in(project, schedule) AS s
     CROSS JOIN LATERAL mailqueue.cancel_schedule(s.project_id, s.id, session_user) AS c
$$;
COMMENT ON FUNCTION mailqueue.cancel_schedule(text, text) IS
    'Cancel what a schedule would still do, and mail of its runs whose time has not come; returns its state '
    'afterwards, its last run, what that one had queued, and how many mails are cancelled.';

CREATE OR REPLACE FUNCTION mailqueue.run_schedule(project text, schedule text) RETURNS uuid
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.run_id
      FROM mailqueue.schedule_in(project, schedule) AS s
     CROSS JOIN LATERAL mailqueue.run_schedule(s.project_id, s.id, session_user) AS r
$$;
COMMENT ON FUNCTION mailqueue.run_schedule(text, text) IS
    'Begin a run of a schedule now; returns its id, NULL where the schedule is finished.';

CREATE OR REPLACE FUNCTION mailqueue.skip_schedule(project text, schedule text) RETURNS timestamptz
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT k.skipped
      FROM mailqueue.schedule_in(project, schedule) AS s
     CROSS JOIN LATERAL mailqueue.skip_schedule(s.project_id, s.id, session_user) AS k
$$;
COMMENT ON FUNCTION mailqueue.skip_schedule(text, text) IS
    'Leave the next occurrence of a schedule out and return it; NULL where it has none that is known.';
