-- Key figures: of finished mail by day, of the queue now, and the sizes of tables.

-- A condition on the day is applied before mail is read: one day reads the history and the log of that day.
DROP VIEW IF EXISTS mailqueue.daily_kpis CASCADE;
CREATE VIEW mailqueue.daily_kpis AS
SELECT p.name AS project, d.day, f.accepted, f.sent, f.failed,
       round(100.0 * f.sent / nullif(f.sent + f.failed, 0), 2) AS success_rate,
       round(100.0 * f.with_trouble / nullif(f.sent + f.failed, 0), 2) AS failure_rate,
       round(f.latency, 3) AS avg_send_seconds,
       f.retried_0, f.retried_1, f.retried_2, f.retried_3_or_more,
       f.attempts, f.bounces, round(100.0 * f.bounces / nullif(f.attempts, 0), 2) AS bounce_rate,
       round(f.response_ms, 1) AS avg_response_ms, f.p95_response_ms
  FROM (SELECT g.day, g.day::timestamp AT TIME ZONE 'UTC' AS since, (g.day + 1)::timestamp AT TIME ZONE 'UTC' AS until
          FROM (SELECT (now() AT TIME ZONE 'UTC')::date - n AS day FROM generate_series(0, 29) AS n) AS g) AS d
 CROSS JOIN LATERAL (
      SELECT u.project_id, sum(u.accepted)::bigint AS accepted, sum(u.sent)::bigint AS sent,
             sum(u.failed)::bigint AS failed, sum(u.with_trouble)::bigint AS with_trouble, max(u.latency) AS latency,
             sum(u.retried_0)::bigint AS retried_0, sum(u.retried_1)::bigint AS retried_1,
             sum(u.retried_2)::bigint AS retried_2, sum(u.retried_3_or_more)::bigint AS retried_3_or_more,
             sum(u.attempts)::bigint AS attempts, sum(u.bounces)::bigint AS bounces,
             max(u.response_ms) AS response_ms, max(u.p95_response_ms) AS p95_response_ms
        FROM (SELECT h.project_id, 0 AS accepted, count(*) FILTER (WHERE h.status = 'sent') AS sent,
                     count(*) FILTER (WHERE h.status <> 'sent') AS failed,
                     count(*) FILTER (WHERE h.status <> 'sent' OR h.attempts > 1) AS with_trouble,
                     avg(extract(epoch FROM h.finished_at - h.created_at))
                         FILTER (WHERE h.status = 'sent') AS latency,
                     count(*) FILTER (WHERE h.attempts <= 1) AS retried_0,
                     count(*) FILTER (WHERE h.attempts = 2) AS retried_1,
                     count(*) FILTER (WHERE h.attempts = 3) AS retried_2,
                     count(*) FILTER (WHERE h.attempts > 3) AS retried_3_or_more,
                     0 AS attempts, 0 AS bounces, NULL::numeric AS response_ms, NULL::integer AS p95_response_ms
                FROM mailqueue.email_history AS h
               WHERE h.finished_at >= d.since AND h.finished_at < d.until
                 AND h.status IN ('sent', 'failed', 'expired')
               GROUP BY h.project_id
              UNION ALL
              SELECT l.project_id, 0, 0, 0, 0, NULL, 0, 0, 0, 0, count(*),
                     count(*) FILTER (WHERE l.status = 'bounced'), avg(l.response_ms),
                     percentile_disc(0.95) WITHIN GROUP (ORDER BY l.response_ms)
                FROM mailqueue.send_logs AS l WHERE l.sent_at >= d.since AND l.sent_at < d.until
               GROUP BY l.project_id
              UNION ALL
              SELECT a.project_id, least(a.emails, 1000000000000000), 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL
                FROM mailqueue.accepted_days AS a WHERE a.day = d.day
              UNION ALL
              SELECT l.project_id, s.emails, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL
                FROM mailqueue.lane_signals AS s JOIN mailqueue.lanes AS l ON l.id = s.lane_id
               WHERE s.emails > 0 AND s.accepted_on = d.day) AS u
       GROUP BY u.project_id) AS f
  JOIN mailqueue.projects AS p ON p.id = f.project_id
 WHERE ((SELECT mailqueue.sees_all()) OR p.id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.daily_kpis IS
    'Key figures of a project on one of the last 30 days (UTC), today included: volume, rates in percent, times, '
    'retries. Days without mail have no row. Mail that retention or the archive took is missing in all but accepted.';

-- statement_timestamp(), unlike clock_timestamp(), is compared within the index: mail that is not due is not read.
-- Unfinished mail is counted by its project's usage, due and held mail along the index of its lane or project.
DROP VIEW IF EXISTS mailqueue.queue_kpis CASCADE;
CREATE VIEW mailqueue.queue_kpis AS
SELECT p.name AS project, greatest(coalesce(u.emails, 0), 0)::bigint AS unfinished, coalesce(w.due, 0)::bigint AS due,
       h.held, w.oldest_due_at, statement_timestamp() - w.oldest_due_at AS oldest_wait
  FROM mailqueue.projects AS p
  LEFT JOIN (SELECT o.project_id, sum(o.queued_emails) AS emails
               FROM (SELECT c.project_id, c.queued_emails FROM mailqueue.project_usage AS c
                     UNION ALL
                     SELECT c.project_id, c.queued_emails FROM mailqueue.project_usage_changes AS c
                     UNION ALL
                     SELECT l.project_id, s.emails FROM mailqueue.lane_signals AS s
                       JOIN mailqueue.lanes AS l ON l.id = s.lane_id) AS o
              GROUP BY o.project_id) AS u ON u.project_id = p.id
  LEFT JOIN LATERAL (
      SELECT sum(o.due) AS due, min(o.oldest_due_at) AS oldest_due_at
        FROM mailqueue.lanes AS l CROSS JOIN LATERAL (
             SELECT count(*) AS due, min(r.run_at) AS oldest_due_at
               FROM (SELECT q.run_at FROM mailqueue.email_queue AS q
                      WHERE q.lane_id = l.id AND q.status = 'pending' AND q.run_at <= statement_timestamp()
                      ORDER BY q.run_at LIMIT 100000) AS r) AS o
       WHERE l.project_id = p.id) AS w ON true
 CROSS JOIN LATERAL (
      SELECT count(*) AS held
        FROM (SELECT FROM mailqueue.email_queue AS q WHERE q.project_id = p.id AND q.status = 'held'
               LIMIT 100000) AS r) AS h
 WHERE ((SELECT mailqueue.sees_all()) OR p.id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.queue_kpis IS
    'Unfinished mail of a project now, what of it is due, what waits for a person, and how long the oldest has waited. '
    'Due mail is counted up to 100,000 in a lane, held mail up to 100,000 in a project.';

DROP VIEW IF EXISTS mailqueue.table_sizes CASCADE;
CREATE VIEW mailqueue.table_sizes AS
SELECT t.relname::text AS table_name, sum(greatest(c.reltuples, 0))::bigint AS estimated_rows,
       sum(pg_table_size(c.oid))::bigint AS table_bytes, sum(pg_indexes_size(c.oid))::bigint AS index_bytes,
       sum(pg_total_relation_size(c.oid))::bigint AS total_bytes
  FROM pg_class AS t
 CROSS JOIN LATERAL (SELECT t.oid AS root WHERE t.relkind = 'r'
                     UNION ALL
                     SELECT r.relid FROM pg_partition_tree(t.oid) AS r WHERE t.relkind = 'p' AND r.isleaf) AS m
  JOIN pg_class AS c ON c.oid = m.root
 WHERE t.relnamespace = 'mailqueue'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
 GROUP BY t.relname;
COMMENT ON VIEW mailqueue.table_sizes IS
    'Size of each table with all its partitions, indexes and values stored apart; rows as estimated by the '
    'statistics.';
