-- Blocked lanes, pauses, and attempts of the last hour.

DROP VIEW IF EXISTS mailqueue.paused CASCADE;
CREATE VIEW mailqueue.paused AS
SELECT p.name AS project, 'project' AS kind, p.name, p.status_reason AS reason, p.status_until AS until,
       p.paused_by AS actor, p.paused_at AS since
  FROM mailqueue.projects AS p
 WHERE p.status = 'paused' AND (p.status_until IS NULL OR p.status_until > clock_timestamp())
UNION ALL
SELECT p.name, 'sender', a.name, a.status_reason, a.status_until, a.paused_by, a.paused_at
  FROM mailqueue.sender_accounts AS a JOIN mailqueue.projects AS p ON p.id = a.project_id
 WHERE a.status = 'paused' AND (a.status_until IS NULL OR a.status_until > clock_timestamp())
UNION ALL
SELECT p.name, z.kind, z.value, z.reason, nullif(z.until, 'infinity'), z.actor, z.created_at
  FROM mailqueue.pauses AS z JOIN mailqueue.projects AS p ON p.id = z.project_id WHERE z.until > clock_timestamp()
UNION ALL
SELECT NULL, 'platform', 'platform', z.reason, z.until, z.actor, z.since
  FROM mailqueue.platform_pause() AS z WHERE z.since IS NOT NULL;
COMMENT ON VIEW mailqueue.paused IS
    'What is paused now, with the reason and the end (NULL: until resumed): projects, sender accounts, campaigns, '
    'recipient domains, and the platform, which is all sending.';

DROP VIEW IF EXISTS mailqueue.queue_blocked CASCADE;
CREATE VIEW mailqueue.queue_blocked AS
WITH workers AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM mailqueue.workers AS w
                    WHERE w.kind = 'send' AND w.stopped_at IS NULL AND w.lost_at IS NULL AND w.drained_at IS NULL
                    AND w.beat_at > clock_timestamp() - interval '30 s') AS are_there
), restored AS MATERIALIZED (
    SELECT mailqueue.sending_refusal() AS refusal
), platform AS MATERIALIZED (
    SELECT mailqueue.platform_pause_words() AS words, z.until FROM mailqueue.platform_pause() AS z
), brake AS MATERIALIZED (
    SELECT max(h.until) AS until FROM mailqueue.headroom_now(0) AS h WHERE h.why IS NOT NULL
)
SELECT p.name AS project, l.priority, coalesce(nullif(coalesce(l.home_route, l.route), ''), 'default') AS route,
       CASE WHEN restored.refusal IS NOT NULL THEN 'no mail is sent: ' || restored.refusal
            WHEN platform.words IS NOT NULL THEN platform.words
            WHEN NOT workers.are_there AND l.blocked_reason IS DISTINCT FROM 'set_aside' THEN 'no worker is running'
            ELSE CASE coalesce(l.blocked_reason, 'brake')
                WHEN 'no_sender' THEN 'there is no sender account for it'
                WHEN 'daily_limit' THEN 'the daily limit is used up'
                WHEN 'hourly_limit' THEN 'the hourly limit is used up'
                WHEN 'minute_limit' THEN 'the minute limit is used up'
                WHEN 'rate' THEN 'it is sent as fast as the rate allows'
                WHEN 'brake' THEN 'all mail is sent as fast as MAILQUEUE_MAX_SEND_RATE allows'
                WHEN 'domain_rate' THEN format('mail to %s is sent as fast as its rate allows', l.pause_value)
                WHEN 'paused'
                     THEN 'the project or its sender account is paused'
                     || coalesce(': ' || coalesce(p.status_reason, s.status_reason), '')
                WHEN 'suspended'
                     THEN 'the project or its sender account is suspended'
                     || coalesce(': ' || coalesce(p.status_reason, s.status_reason), '')
                WHEN 'unreachable' THEN 'the mail server cannot be reached, or asks us to wait'
                WHEN 'limited' THEN 'the provider limits the sender account'
                WHEN 'circuit' THEN 'too many mails failed for reasons of the sender account: its circuit is open'
                WHEN 'half_open' THEN 'one mail tries whether the sender account works again'
                WHEN 'locked' THEN 'the project''s secrets are locked by its own key'
                WHEN 'outside_window'
                     THEN format('mail of low priority is sent at %s', p.low_priority_window)
                WHEN 'set_aside'
                     THEN format('%s %s is paused%s', l.pause_kind, l.pause_value, ': ' || z.reason) END END AS reason,
       CASE WHEN platform.words IS NOT NULL THEN platform.until WHEN l.blocked_reason IS NULL THEN brake.until
            WHEN l.blocked_reason NOT IN ('empty', 'not_due', 'recheck')
                 THEN nullif(l.blocked_until, 'infinity') END AS until,
       d.due, d.oldest_due_at, l.id AS lane_id
  FROM workers CROSS JOIN brake CROSS JOIN restored CROSS JOIN platform
  JOIN mailqueue.lanes AS l
    ON l.blocked_reason IN ('no_sender', 'daily_limit', 'hourly_limit', 'minute_limit', 'rate', 'domain_rate', 'paused',
                            'suspended', 'unreachable', 'circuit', 'limited', 'half_open', 'set_aside', 'locked',
                            'outside_window')
       OR NOT workers.are_there OR restored.refusal IS NOT NULL OR platform.words IS NOT NULL
    OR (l.blocked_reason IS NULL AND brake.until IS NOT NULL)
  JOIN mailqueue.projects AS p ON p.id = l.project_id
  LEFT JOIN mailqueue.pauses AS z ON z.project_id = l.project_id AND z.kind = l.pause_kind AND z.value = l.pause_value
  LEFT JOIN mailqueue.limits AS m ON m.id = l.account_limits[1]
  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = m.sender_account_id
  CROSS JOIN LATERAL (
      SELECT count(*) AS due, min(o.run_at) AS oldest_due_at
        FROM (SELECT q.run_at FROM mailqueue.email_queue AS q
               WHERE q.lane_id = l.id AND q.status = 'pending' AND q.run_at <= clock_timestamp()
               ORDER BY q.run_at LIMIT 100000) AS o) AS d
 WHERE d.due > 0;
COMMENT ON VIEW mailqueue.queue_blocked IS
    'Lanes with due mail that are blocked: why, until when (NULL: until an operator acts), the number of mails '
    '(counted up to 100,000 a lane) and since when.';

DROP VIEW IF EXISTS mailqueue.throughput CASCADE;
CREATE VIEW mailqueue.throughput AS
SELECT t.minute, p.name AS project, a.name AS sender, t.sent, t.deferred, t.bounced, t.failed, t.unknown, t.p50_ms,
       t.p95_ms
  FROM (SELECT date_trunc('minute', l.sent_at) AS minute, l.project_id, l.sender_account_id,
               count(*) FILTER (WHERE l.status = 'sent') AS sent,
    count(*) FILTER (WHERE l.status = 'deferred') AS deferred,
               count(*) FILTER (WHERE l.status = 'bounced') AS bounced,
    count(*) FILTER (WHERE l.status IN ('failed', 'rejected')) AS failed,
               count(*) FILTER (WHERE l.status = 'unknown') AS unknown,
               percentile_disc(0.5) WITHIN GROUP (ORDER BY l.response_ms) AS p50_ms,
               percentile_disc(0.95) WITHIN GROUP (ORDER BY l.response_ms) AS p95_ms
          FROM mailqueue.send_logs AS l WHERE l.sent_at > date_trunc('minute', now()) - interval '59 min'
         GROUP BY 1, 2, 3) AS t
  JOIN mailqueue.projects AS p ON p.id = t.project_id
  LEFT JOIN mailqueue.sender_accounts AS a ON a.id = t.sender_account_id;
COMMENT ON VIEW mailqueue.throughput IS
    'Attempts of the last hour, the current minute included, by minute, project and sender account: number by '
    'outcome, and median and 95th percentile of the server''s response time in milliseconds.';
