-- Timed events by the columns and states that other programs know.

DROP VIEW IF EXISTS mailqueue.timed_event_status CASCADE;
CREATE VIEW mailqueue.timed_event_status AS
SELECT t.id, t.contact_id AS user_id, upper(t.kind) AS event_type,
       CASE t.status WHEN 'pending' THEN 'PENDING' WHEN 'completed' THEN 'COMPLETED'
                     WHEN 'assigned' THEN 'PROCESSING' WHEN 'delivering' THEN 'PROCESSING' ELSE 'FAILED' END AS status,
       t.due_at AS target_timestamp_utc, t.local_at AS target_timestamp_local, t.time_zone AS target_timezone,
       CASE t.status WHEN 'completed' THEN t.finished_at END AS executed_at,
       CASE WHEN t.status IN ('failed', 'cancelled') OR t.attempts > 0 AND t.status = 'pending' THEN t.last_error
            WHEN t.status = 'delivering' THEN d.last_error END AS failure_reason,
       greatest(0, least(3, CASE t.status WHEN 'delivering' THEN coalesce(d.attempts, 1) ELSE t.attempts END
                            - CASE WHEN t.status = 'pending' THEN 0 ELSE 1 END))::integer AS retry_count,
       t.version, t.idempotency_key, t.payload AS delivery_payload, t.created_at,
       greatest(t.updated_at, d.assigned_at, a.tried_at) AS updated_at,
       t.project_id, p.name AS project, t.kind, t.status AS queue_status, t.template, t.recipient, t.webhook_id,
       t.email_id, t.delivery_id, t.is_test, t.is_birthday
  FROM mailqueue.timed_events AS t
  JOIN mailqueue.projects AS p ON p.id = t.project_id
  LEFT JOIN mailqueue.webhook_deliveries AS d ON d.id = t.delivery_id AND t.status = 'delivering'
  LEFT JOIN LATERAL (SELECT max(c.tried_at) AS tried_at FROM mailqueue.webhook_attempts AS c
                      WHERE c.delivery_id = d.id) AS a ON true
 WHERE ((SELECT mailqueue.sees_all()) OR t.project_id = (SELECT mailqueue.tenant()))
   AND coalesce((SELECT mailqueue.mode()) = t.is_test, true);
COMMENT ON VIEW mailqueue.timed_event_status IS
    'Timed events: PENDING, PROCESSING, COMPLETED or FAILED, the time at which each is due, and why it failed.';
