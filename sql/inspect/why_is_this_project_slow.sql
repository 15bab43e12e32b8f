-- What holds a project's mail up, lane by lane, and how long do its servers take? Put the project in.
SELECT d.priority, d.route, d.kept_apart, d.due, date_trunc('second', now() - d.oldest_due_at) AS oldest,
       d.blocked_reason, d.blocked_until, t.sent AS sent_in_10_min, t.p50_ms, t.p95_ms
FROM mailqueue.queue_depth AS d
LEFT JOIN (SELECT p.project, sum(p.sent) AS sent, max(p.p50_ms) AS p50_ms, max(p.p95_ms) AS p95_ms
           FROM mailqueue.throughput AS p
           WHERE p.minute > now() - interval '10 min'
           GROUP BY p.project) AS t ON t.project = d.project
WHERE d.project = 'default'
ORDER BY d.priority, d.route;
