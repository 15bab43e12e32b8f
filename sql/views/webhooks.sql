-- State of each webhook.

DROP VIEW IF EXISTS mailqueue.webhook_status CASCADE;
CREATE VIEW mailqueue.webhook_status AS
SELECT w.id, p.name AS project, w.url, w.event_types, w.is_enabled, w.disabled_reason, w.disabled_at,
       CASE WHEN NOT w.is_enabled THEN 'disabled'
            ELSE mailqueue.circuit_of(k) END AS circuit,
       coalesce(k.failures, 0) AS failures, k.failing_since, k.blocked_until, n.oldest_due_at, n.waiting
  FROM mailqueue.webhooks AS w
  JOIN mailqueue.projects AS p ON p.id = w.project_id
  LEFT JOIN mailqueue.queue_keys AS k ON k.queue = 'webhooks' AND k.key = w.id::text
 CROSS JOIN LATERAL (SELECT count(*) AS waiting, min(d.run_at) AS oldest_due_at
                       FROM (SELECT o.run_at FROM mailqueue.webhook_deliveries AS o
                              WHERE o.webhook_id = w.id AND o.status = 'pending'
                              ORDER BY o.run_at, o.id LIMIT 10000) AS d) AS n
 WHERE w.removed_at IS NULL AND ((SELECT mailqueue.sees_all()) OR w.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.webhook_status IS
    'Webhooks: whether they are enabled, their circuit (closed: working; open: not called; half_open: one delivery '
    'probes it; resting: the endpoint asked for a pause), and the number of waiting deliveries (10,000: or more).';
