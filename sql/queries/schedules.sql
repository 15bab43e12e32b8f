-- Schedules and their runs.

-- name: claim_schedules :many
-- Take due schedules for a worker.
SELECT c.id, c.claim_no, c.project_id, c.schedule_type, c.cron_expression, c.time_zone, c.next_run_at, c.next_local,
       c.plan_after, c.missed, c.ends_at, c.max_runs, c.run_count, c.last_run_at,
       jsonb_array_length(c.recipients) AS recipients
FROM mailqueue.claim_schedules(%(worker)s, %(limit)s, %(lease)s, %(alone)s, %(first)s, %(keys)s::text[],
                               %(rooms)s::integer[]) AS c;

-- name: schedule_time :value
-- The time of the database.
SELECT clock_timestamp();

-- name: schedule_zone_release :value
-- The version of the rules of time zones.
SELECT mailqueue.time_zone_release();

-- name: schedule_clocks :many
-- What clocks show at instants.
SELECT c.place, c.local, c.fold
FROM mailqueue.schedule_clocks(%(afters)s::timestamptz[], %(zones)s::text[], %(kinds)s::text[]) AS c;

-- name: first_occurrences :many
-- The first occurrence of each recurrence after its instant.
SELECT o.place, o.local, o.at
FROM mailqueue.first_occurrences(%(places)s::integer[], %(locals)s::timestamp[], %(afters)s::timestamptz[],
                                 %(zones)s::text[], %(kinds)s::text[]) AS o;

-- name: occurrences_until :many
-- Occurrences up to an instant, in order.
SELECT o.local, o.at
FROM mailqueue.occurrences_between(%(locals)s::timestamp[], %(zone)s, %(kind)s, NULL, %(until)s) AS o;

-- name: fire_schedules :many
-- Begin the runs of schedules.
SELECT f.id, f.outcome, f.reason
FROM mailqueue.fire_schedules(%(ids)s::uuid[], %(occurrences)s::timestamptz[], %(locals)s::timestamp[]) AS f;

-- name: find_unplanned_schedule :maybe
-- A schedule whose next occurrence is to be computed.
SELECT s.id, s.schedule_type, s.cron_expression, s.time_zone, s.plan_after
FROM mailqueue.schedules AS s
WHERE s.id = %(id)s
  AND s.plan_after IS NOT NULL
  AND s.cron_expression IS NOT NULL;

-- name: plan_schedule :run
-- Write the next occurrence of a schedule.
SELECT mailqueue.plan_schedule(%(id)s, %(after)s, %(next)s, %(local)s);

-- name: replan_schedules :value
-- Have occurrences computed again that other rules of time zones gave.
SELECT mailqueue.replan_schedules(%(limit)s);

-- name: add_schedule :maybe
-- Id of the schedule that was added; none: there is one of that name.
SELECT a.id
FROM mailqueue.add_schedule(%(project_id)s, %(name)s, %(given)s, %(by)s) AS a(id)
WHERE a.id IS NOT NULL;

-- name: change_schedule :value
-- What became of a change.
SELECT mailqueue.change_schedule(%(project_id)s, %(id)s, %(given)s, %(by)s);

-- name: pause_schedule :value
-- State of the schedule afterwards.
SELECT mailqueue.pause_schedule(%(project_id)s, %(id)s, %(by)s);

-- name: resume_schedule :value
-- State of the schedule afterwards.
SELECT mailqueue.resume_schedule(%(project_id)s, %(id)s, %(by)s);

-- name: cancel_schedule :one
-- State of the schedule afterwards, its last run, and the emails that are cancelled.
SELECT c.state, c.run_number, c.queued, c.cancelled
FROM mailqueue.cancel_schedule(%(project_id)s, %(id)s, %(by)s) AS c;

-- name: count_schedule_mail_ahead :maybe
-- Emails of a schedule whose time has not come.
SELECT a.count
FROM mailqueue.schedule_mail_ahead(%(project_id)s, %(id)s) AS a(count)
WHERE a.count IS NOT NULL;

-- name: run_schedule :one
-- The run that was begun.
SELECT r.state, r.run_id
FROM mailqueue.run_schedule(%(project_id)s, %(id)s, %(by)s) AS r;

-- name: skip_schedule :one
-- The occurrence that is left out.
SELECT s.state, s.skipped
FROM mailqueue.skip_schedule(%(project_id)s, %(id)s, %(by)s) AS s;

-- name: schedule_named :maybe
-- Id of the schedule of that id or name.
SELECT n.id
FROM mailqueue.schedule_named(%(project_id)s, %(name)s) AS n(id)
WHERE n.id IS NOT NULL;

-- name: list_schedules :many
-- Schedules of a project, newest first, or the one of an id.
SELECT s.id, s.name, s.schedule_type, v.run_at, s.cron_expression, s.time_zone AS timezone,
       s.message ->> 'template' AS template_slug, s.message ->> 'language' AS language, v.payload, v.status,
       s.last_error AS reason,
       CASE WHEN s.plan_after IS NULL AND s.finished_at IS NULL THEN s.next_run_at END AS next_run_at, s.last_run_at,
       s.last_missed_at, s.run_count, s.missed, s.overlap, s.ends_at, s.max_runs, s.spread_seconds, s.zone_release,
       s.is_test, s.created_by, s.created_at, s.updated_at
FROM mailqueue.schedules AS s
CROSS JOIN LATERAL mailqueue.schedule_words(s) AS v
WHERE s.project_id = %(project_id)s
  AND s.is_test = coalesce(mailqueue.mode(), s.is_test)
  AND (%(id)s::uuid IS NULL OR s.id = %(id)s)
  AND (%(before)s::uuid IS NULL OR s.id < %(before)s)
  AND (%(status)s::text IS NULL OR v.status = %(status)s)
ORDER BY s.id DESC
LIMIT %(limit)s;

-- name: list_schedule_runs :many
-- Runs of a schedule, newest first, or the one of a number or an id.
SELECT r.id, r.schedule_id, r.number, r.occurrence AS scheduled_at, r.created_at AS started_at, r.finished_at,
       CASE WHEN r.status IN ('pending', 'assigned') THEN 'running' ELSE r.status END AS status, r.started_by,
       r.queued, r.suppressed, r.rejected, r.last_error AS reason, r.batch_ids, r.by_zone_source AS zone_sources
FROM mailqueue.schedule_runs AS r
WHERE r.project_id = %(project_id)s
  AND r.schedule_id = %(schedule_id)s
  AND r.is_test = coalesce(mailqueue.mode(), r.is_test)
  AND (%(number)s::integer IS NULL OR r.number = %(number)s)
  AND (%(run_id)s::uuid IS NULL OR r.id = %(run_id)s)
  AND (%(before)s::integer IS NULL OR r.number < %(before)s)
ORDER BY r.number DESC
LIMIT %(limit)s;

-- name: list_schedule_recipients :many
-- Recipients of a run that was made in parts, by address.
SELECT o.email_key AS email, o.email_id, o.status, o.reason, o.send_at, o.time_zone AS timezone, o.zone_source
FROM mailqueue.schedule_recipients AS o
WHERE o.project_id = %(project_id)s
  AND o.run_id = %(run_id)s
  AND (%(after)s::text IS NULL OR o.email_key > %(after)s)
ORDER BY o.email_key
LIMIT %(limit)s;

-- name: estimate_schedule :maybe
-- What a run of a schedule would come to now.
SELECT e.recipients, e.is_complete, e.checked, e.suppressed, e.daily_limit, e.sent_today, e.headroom, e.days
FROM mailqueue.estimate_schedule(%(project_id)s, %(id)s) AS e
WHERE e.recipients IS NOT NULL;

-- name: networks_of_run :many
-- Networks of the next recipients of a run whose time zone is not known.
SELECT n.email_key, host(n.network) AS network
FROM mailqueue.networks_of_run(%(id)s, %(claim_no)s, %(limit)s) AS n;

-- name: continue_schedule_run :value
-- Make the next mails of a run.
SELECT mailqueue.continue_schedule_run(%(id)s, %(claim_no)s, %(limit)s, %(keys)s::text[], %(zones)s::text[]);

-- name: end_schedule_run :run
-- Forget what a finished run was made from.
SELECT mailqueue.end_schedule_run(%(id)s);
