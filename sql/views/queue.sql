-- The state of the queue: depth, age, and what blocks it.

DROP VIEW IF EXISTS mailqueue.queue_depth CASCADE;
CREATE VIEW mailqueue.queue_depth AS
SELECT p.name AS project, l.priority, coalesce(nullif(coalesce(l.home_route, l.route), ''), 'default') AS route,
       d.pending, d.due, d.assigned, d.held, d.oldest_due_at,
       CASE WHEN d.due > 0 THEN coalesce(l.blocked_reason, b.why) END AS blocked_reason,
       CASE WHEN d.due > 0 THEN nullif(coalesce(l.blocked_until, b.until), 'infinity') END AS blocked_until,
       l.id AS lane_id, CASE WHEN l.pause_kind = 'next' THEN 'refused by ' || n.name
                         WHEN l.home_route IS NOT NULL THEN l.pause_kind || ' ' || l.pause_value END AS kept_apart
  FROM mailqueue.lanes AS l
  JOIN mailqueue.projects AS p ON p.id = l.project_id
  JOIN (SELECT q.lane_id,
               count(*) FILTER (WHERE q.status = 'pending') AS pending,
               count(*) FILTER (WHERE q.status = 'pending' AND q.run_at <= clock_timestamp()) AS due,
               count(*) FILTER (WHERE q.status = 'assigned') AS assigned,
               count(*) FILTER (WHERE q.status = 'held') AS held,
               min(q.run_at) FILTER (WHERE q.status = 'pending' AND q.run_at <= clock_timestamp()) AS oldest_due_at
          FROM mailqueue.email_queue AS q GROUP BY q.lane_id) AS d ON d.lane_id = l.id
  LEFT JOIN mailqueue.limits AS m ON l.pause_kind = 'next' AND m.id::text = l.pause_value
  LEFT JOIN mailqueue.sender_accounts AS n ON n.id = m.sender_account_id
  LEFT JOIN LATERAL mailqueue.headroom_now(0) AS b ON true
 WHERE ((SELECT mailqueue.sees_all()) OR l.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.queue_depth IS
    'Unfinished mail of each lane, and what blocks it; kept_apart names the paused campaign or domain, the domain '
    'with a rate, or the account that refused it temporarily. Counts every queued row: with millions of them it takes'
    ' a second.';

DROP VIEW IF EXISTS mailqueue.sender_headroom CASCADE;
CREATE VIEW mailqueue.sender_headroom AS
SELECT p.name AS project, a.id AS sender_account_id, a.name AS sender, a.provider,
       CASE WHEN a.status = 'active' AND r.why = 'daily_limit' THEN 'paused_limit_reached'
            WHEN a.status = 'active' AND r.stage IS NOT NULL THEN 'warming_up' ELSE a.status END AS status,
       a.status_reason, r.daily_limit, r.sent AS daily_sent, r.reserved AS daily_reserved,
       CASE WHEN n.day = r.today THEN n.bounces ELSE 0 END AS daily_bounces,
       CASE WHEN n.day = r.today THEN n.errors ELSE 0 END AS daily_errors,
       CASE WHEN r.daily_limit IS NOT NULL THEN greatest(0, r.daily_limit - r.sent - r.reserved) END AS headroom,
       r.today AS day, ((r.today)::timestamp AT TIME ZONE a.time_zone) AS last_reset_at,
       ((r.today + 1)::timestamp AT TIME ZONE a.time_zone) AS next_reset_at,
       r.why AS blocked_reason, nullif(r.until, 'infinity') AS blocked_until,
       r.stage AS warm_up_stage, cardinality(a.warm_up) AS warm_up_stages,
       a.hourly_limit, r.hour_left AS hourly_headroom, a.minute_limit, r.minute_left AS minute_headroom,
       greatest(a.last_used_at, CASE WHEN n.rev > 0 THEN n.tokens_at END) AS last_used_at  -- the column is a minute old
  FROM mailqueue.sender_accounts AS a
  JOIN mailqueue.projects AS p ON p.id = a.project_id
  JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
  CROSS JOIN LATERAL mailqueue.headroom_now(m.id) AS r
  CROSS JOIN LATERAL (SELECT c.* FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id ORDER BY c.rev DESC
                       LIMIT 1) AS n
 WHERE ((SELECT mailqueue.sees_all()) OR a.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.sender_headroom IS
    'Mail that each sender account sent today and may still send; daily_limit is that of today, in warm-up that of '
    'its stage. Days are in the account''s time zone; counters roll over by themselves.';

DROP VIEW IF EXISTS mailqueue.rates CASCADE;
CREATE VIEW mailqueue.rates AS
SELECT coalesce(m.domain, 'all mail') AS holds_for, coalesce(d.rate_per_second, m.rate_per_second) AS rate_per_second,
       m.burst, d.note, r.until AS used_up_until
  FROM mailqueue.limits AS m
  LEFT JOIN mailqueue.domain_rates AS d ON d.domain = m.domain
  CROSS JOIN LATERAL mailqueue.headroom_now(m.id) AS r
 WHERE m.project_id IS NULL AND m.rate_per_second IS NOT NULL;
COMMENT ON VIEW mailqueue.rates IS
    'Rates across all projects: of the installation (all mail) and of recipient domains; used_up_until is NULL while '
    'there is headroom.';

DROP VIEW IF EXISTS mailqueue.sender_account_days CASCADE;
CREATE VIEW mailqueue.sender_account_days AS
SELECT a.id AS sender_account_id, a.name AS sender, d.day, d.sent, d.reserved, d.bounces, d.errors
  FROM mailqueue.sender_accounts AS a
  JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
  CROSS JOIN LATERAL (
      SELECT x.day, x.sent, x.reserved, x.bounces, x.errors FROM mailqueue.limit_days AS x WHERE x.limit_id = m.id
      UNION ALL
      (SELECT c.day, c.sent, c.reserved, c.bounces, c.errors FROM mailqueue.limit_counters AS c
        WHERE c.limit_id = m.id ORDER BY c.rev DESC LIMIT 1)) AS d;
COMMENT ON VIEW mailqueue.sender_account_days IS 'Mail that each sender account sent on each day, today included.';

DROP VIEW IF EXISTS mailqueue.worker_status CASCADE;
CREATE VIEW mailqueue.worker_status AS
SELECT w.id, w.kind, w.host, w.pid, w.version,
       CASE WHEN w.lost_at IS NOT NULL THEN 'lost' WHEN w.stopped_at IS NOT NULL THEN 'stopped'
            WHEN w.beat_at < clock_timestamp() - interval '30 s' THEN 'silent'
            WHEN w.is_stopping THEN 'stopping'
            WHEN w.drained_at IS NOT NULL THEN 'draining' ELSE 'running' END AS status,
       w.started_at, w.beat_at, clock_timestamp() - w.beat_at AS silence,
       (SELECT count(*) FROM mailqueue.email_queue AS q WHERE q.status = 'assigned' AND q.worker_id = w.id) AS assigned,
       (SELECT count(*) FROM mailqueue.waiters AS x WHERE x.worker_id = w.id) > 0 AS is_parked,
       coalesce(w.stopped_at, w.lost_at) AS ended_at,
       CASE WHEN w.kind = 'send' THEN ARRAY['send'] ELSE w.queues END AS queues,
       CASE WHEN w.queues <> '{}' THEN mailqueue.rows_held_by(w.id) ELSE 0 END AS assigned_rows
  FROM mailqueue.workers AS w;
COMMENT ON VIEW mailqueue.worker_status IS
    'Worker processes: whether they are alive, the queues they work on, the mail (assigned) and the rows of other '
    'queues (assigned_rows) they hold.';

DROP VIEW IF EXISTS mailqueue.held CASCADE;
CREATE VIEW mailqueue.held AS
SELECT e.id, e.project, e.recipient_email, e.subject, e.last_error AS reason, e.created_at, e.attempts, e.sender,
       e.category, e.campaign_id,
       coalesce((SELECT max(v.occurred_at) FROM mailqueue.email_events AS v
                  WHERE v.email_id = e.id AND v.type = 'held'),
    e.created_at) AS held_at,
       CASE WHEN e.last_error LIKE 'outcome\_unknown%' OR e.last_error LIKE 'restored: %'
            THEN 'mailqueue resolve, once you know whether it was sent; what comes back about it decides by itself'
            ELSE 'mailqueue email release, or mailqueue email cancel' END AS fix
  FROM mailqueue.emails AS e WHERE e.status = 'held';
COMMENT ON VIEW mailqueue.held IS
    'Mail that waits for a person''s decision: since when, why, and the available actions.';
