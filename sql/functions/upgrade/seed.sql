-- Rows that must exist before the first mail: limits and lanes of projects that are older than their triggers.

SELECT mailqueue.keep_limit(p.id, NULL, p.daily_limit, p.rate_per_second, p.burst, 2147483647, p.time_zone,
           CASE WHEN p.status <> 'active' THEN p.status END, p.status_until)
  FROM mailqueue.projects AS p
 WHERE NOT EXISTS (SELECT FROM mailqueue.limits AS m WHERE m.project_id = p.id AND m.sender_account_id IS NULL);
SELECT mailqueue.make_lanes(p.id) FROM mailqueue.projects AS p;
SELECT mailqueue.ensure_partitions(3);
