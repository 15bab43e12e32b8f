-- Schedules by the columns of applications that know a table scheduled_emails.

DROP VIEW IF EXISTS mailqueue.scheduled_emails;

CREATE VIEW mailqueue.scheduled_emails AS
SELECT s.id, s.project_id, s.name, s.schedule_type, s.once_at AS run_at, s.cron_expression, s.time_zone AS timezone,
       s.message ->> 'template' AS template_slug, w.payload, w.status,
       CASE WHEN s.finished_at IS NULL AND s.plan_after IS NULL THEN s.next_run_at END AS next_run_at, s.last_run_at,
       s.run_count, s.created_at
  FROM mailqueue.schedules AS s
 CROSS JOIN LATERAL mailqueue.schedule_words(s) AS w
 WHERE ((SELECT mailqueue.sees_all()) OR s.project_id = (SELECT mailqueue.tenant()))
   AND s.is_test = coalesce((SELECT mailqueue.mode()), s.is_test);
COMMENT ON VIEW mailqueue.scheduled_emails IS
    'Schedules with their state (active, paused, cancelled, completed or failed) and their next occurrence.';
