-- Schedules by the columns of applications that know a table scheduled_emails.

DROP VIEW IF EXISTS mailqueue.scheduled_emails;

CREATE VIEW mailqueue.scheduled_emails AS
SELECT s.id, s.project_id, s.name, s.schedule_type, s.once_at AS run_at, s.cron_expression, s.time_zone AS timezone,
       s.message ->> 'template' AS template_slug, v.id AS template_version_id, s.message ->> 'language' AS language,
       w.payload, w.status,
       CASE WHEN s.finished_at IS NULL AND s.plan_after IS NULL THEN s.next_run_at END AS next_run_at, s.last_run_at,
       s.run_count, s.created_at
  FROM mailqueue.schedules AS s
 CROSS JOIN LATERAL mailqueue.schedule_words(s) AS w
  LEFT JOIN LATERAL (SELECT o.id FROM mailqueue.templates AS o
                      WHERE (o.project_id = s.project_id OR o.project_id IS NULL) AND o.deleted_at IS NULL
                        AND o.slug = split_part(s.message ->> 'template', '@', 1)
                      ORDER BY o.project_id NULLS LAST LIMIT 1) AS t ON true
  LEFT JOIN mailqueue.template_versions AS v ON v.template_id = t.id
       AND CASE WHEN split_part(s.message ->> 'template', '@', 2) IN ('', 'published') THEN v.status = 'published'
                ELSE v.version::text = split_part(s.message ->> 'template', '@', 2) END
 WHERE ((SELECT mailqueue.sees_all()) OR s.project_id = (SELECT mailqueue.tenant()))
   AND s.is_test = coalesce((SELECT mailqueue.mode()), s.is_test);
COMMENT ON VIEW mailqueue.scheduled_emails IS
    'Schedules with their state (active, paused, cancelled, completed or failed) and their next occurrence. '
    'template_version_id: the version that it names, or that is published now.';
