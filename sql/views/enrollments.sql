-- Contacts in sequences: what each did, and what it will do next.

DROP VIEW IF EXISTS mailqueue.enrollments CASCADE;
CREATE VIEW mailqueue.enrollments AS
SELECT e.id, e.project_id, s.name AS sequence, e.sequence_id, e.version, e.contact_id, c.email, e.is_test, e.number,
       mailqueue.enrollment_state(e.status, x.reason, s.paused_at IS NOT NULL, s.removed_at IS NOT NULL) AS state,
       CASE WHEN e.status IN ('completed', 'failed') THEN NULL
            ELSE coalesce(e.left_reason, x.reason,
                          CASE WHEN e.status <> 'left' AND s.removed_at IS NOT NULL THEN 'sequence_removed' END) END
           AS reason,
       e.step, e.due_at, e.time_zone, e.steps_done, e.variables, e.source, e.last_error, e.status, e.enrolled_at,
       coalesce(e.finished_at, x.created_at) AS finished_at
  FROM mailqueue.sequence_enrollments AS e
  JOIN mailqueue.sequences AS s ON s.id = e.sequence_id
  JOIN mailqueue.contacts AS c ON c.id = e.contact_id
  LEFT JOIN LATERAL (SELECT o.reason, o.created_at FROM mailqueue.enrollment_exits AS o WHERE o.enrollment_id = e.id
                      ORDER BY o.enrollment_id, o.id LIMIT 1) AS x ON e.finished_at IS NULL
 WHERE mailqueue.sees_all() OR e.project_id = mailqueue.tenant();
COMMENT ON VIEW mailqueue.enrollments IS
    'Contacts in sequences: state, next step and when it is due, or why the contact left. enrollment_steps has what '
    'each did.';
