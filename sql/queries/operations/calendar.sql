-- What a project will send by itself.

-- name: list_planned_schedules :many
-- Active schedules that run before a time, the soonest first.
SELECT s.id, s.name, s.message ->> 'subject' AS subject, s.message ->> 'template' AS template, s.schedule_type,
       s.cron_expression, s.time_zone, s.next_run_at, s.ends_at
FROM mailqueue.schedules AS s
WHERE s.project_id = %(project_id)s AND s.is_test = coalesce(mailqueue.mode(), s.is_test)
  AND s.status = 'pending' AND s.run_at < %(until)s AND s.next_run_at < %(until)s AND s.plan_after IS NULL
ORDER BY s.run_at, s.id
LIMIT %(limit)s;

-- name: list_planned_mail :many
-- Timed events and steps of sequences by day.
SELECT p.kind, p.name, p.step, p.first_at, p.entries
FROM mailqueue.planned_mail(%(project_id)s, %(until)s, %(most)s) AS p
ORDER BY p.first_at, p.kind, p.name, p.step;
