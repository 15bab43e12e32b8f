-- Counts of mail and events, for people who query.

DROP VIEW IF EXISTS mailqueue.stats_hourly CASCADE;
CREATE VIEW mailqueue.stats_hourly AS
SELECT p.name AS project, s.is_test, s.dimension, s.value, s.value2, date_trunc('hour', s.started_at, 'UTC') AS hour,
       sum(s.accepted)::bigint AS accepted, sum(s.sent)::bigint AS sent, sum(s.failed)::bigint AS failed,
       sum(s.expired)::bigint AS expired, sum(s.suppressed)::bigint AS suppressed,
       sum(s.cancelled)::bigint AS cancelled, sum(s.delivered)::bigint AS delivered,
       sum(s.soft_bounces)::bigint AS soft_bounces, sum(s.hard_bounces)::bigint AS hard_bounces,
       sum(s.complaints)::bigint AS complaints, sum(s.unsubscribes)::bigint AS unsubscribes,
       sum(s.opens)::bigint AS opens, sum(s.unique_opens)::bigint AS unique_opens,
       sum(s.machine_opens)::bigint AS machine_opens, sum(s.unique_machine_opens)::bigint AS unique_machine_opens,
       sum(s.clicks)::bigint AS clicks, sum(s.unique_clicks)::bigint AS unique_clicks,
       sum(s.machine_clicks)::bigint AS machine_clicks, sum(s.unique_machine_clicks)::bigint AS unique_machine_clicks
  FROM mailqueue.stats_quarters AS s LEFT JOIN mailqueue.projects AS p ON p.id = s.project_id
 WHERE ((SELECT mailqueue.sees_all()) OR s.project_id = (SELECT mailqueue.tenant()))
   AND (mailqueue.mode() IS NULL OR s.is_test = mailqueue.mode())
 GROUP BY p.name, s.is_test, s.dimension, s.value, s.value2, date_trunc('hour', s.started_at, 'UTC');
COMMENT ON VIEW mailqueue.stats_hourly IS
    'Counts by hour (UTC), project and dimension. project NULL: all projects together; dimension total: all of it; '
    'value empty in another dimension: all values without a row of their own.';

DROP VIEW IF EXISTS mailqueue.stats_daily CASCADE;
CREATE VIEW mailqueue.stats_daily AS
SELECT h.project, h.is_test, h.dimension, h.value, h.value2, (h.hour AT TIME ZONE 'UTC')::date AS day,
       sum(h.accepted)::bigint AS accepted, sum(h.sent)::bigint AS sent, sum(h.failed)::bigint AS failed,
       sum(h.expired)::bigint AS expired, sum(h.suppressed)::bigint AS suppressed,
       sum(h.cancelled)::bigint AS cancelled, sum(h.delivered)::bigint AS delivered,
       sum(h.soft_bounces)::bigint AS soft_bounces, sum(h.hard_bounces)::bigint AS hard_bounces,
       sum(h.complaints)::bigint AS complaints, sum(h.unsubscribes)::bigint AS unsubscribes,
       sum(h.opens)::bigint AS opens, sum(h.unique_opens)::bigint AS unique_opens,
       sum(h.machine_opens)::bigint AS machine_opens, sum(h.unique_machine_opens)::bigint AS unique_machine_opens,
       sum(h.clicks)::bigint AS clicks, sum(h.unique_clicks)::bigint AS unique_clicks,
       sum(h.machine_clicks)::bigint AS machine_clicks, sum(h.unique_machine_clicks)::bigint AS unique_machine_clicks
  FROM mailqueue.stats_hourly AS h
 GROUP BY h.project, h.is_test, h.dimension, h.value, h.value2, (h.hour AT TIME ZONE 'UTC')::date;
COMMENT ON VIEW mailqueue.stats_daily IS 'The counts of stats_hourly by day (UTC).';
