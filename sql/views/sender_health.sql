-- State of sender accounts: the circuit, failures and the fix.

DROP VIEW IF EXISTS mailqueue.sender_health CASCADE;
CREATE VIEW mailqueue.sender_health AS
SELECT p.name AS project, a.id AS sender_account_id, a.name AS sender, a.provider, a.status, a.status_reason,
       s.circuit, coalesce(m.circuit_opened_at, m.circuit_closed_at) AS circuit_since,
       CASE s.circuit WHEN 'open' THEN m.blocked_until END AS next_probe_at, m.failures AS openings,
       w.failures AS recent_failures, w.domains AS recent_domains, w.sent AS recent_sent,
       coalesce(f.counts, '{}') AS failures, coalesce(f.last_errors, '{}') AS last_errors, f.last_failed_at,
       CASE WHEN a.status = 'suspended'
                 THEN format('its server refuses it: fix what the reason names, try it with mailqueue sender test %s, '
                             'then mailqueue sender resume %s',
                             a.name, a.name)
            WHEN a.status = 'paused' AND coalesce(a.status_until, 'infinity') > clock_timestamp()
                 THEN format('paused: mailqueue sender resume %s', a.name)
            WHEN s.circuit <> 'closed' AND m.blocked_reason = 'circuit'
                 THEN 'look at the last errors: mail waits, or takes the next account, until one mail goes through'
            WHEN s.circuit <> 'closed' AND (m.blocked_reason = 'limited' OR f.last_errors[1] LIKE 'rate\_limited: %')
                 THEN 'it asks us to wait: the last errors say why; it is tried again by itself, and a lower rate or '
                      'daily limit keeps it from asking'
            WHEN s.circuit <> 'closed'
                 THEN 'its server does not answer: look at its host, port and the network; it is tried again by itself'
            WHEN w.failures > 0 AND w.failures >= w.sent
                 THEN 'most mails fail for reasons of its own: look at the last errors'
            ELSE 'nothing to do' END AS recommendation
  FROM mailqueue.sender_accounts AS a
  JOIN mailqueue.projects AS p ON p.id = a.project_id
  JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
  CROSS JOIN LATERAL (SELECT CASE WHEN m.circuit_opened_at IS NULL THEN 'closed'
                                  WHEN m.blocked_reason IN ('unreachable', 'circuit', 'limited')
                                       AND m.blocked_until > clock_timestamp()
                                       THEN 'open'
                                  ELSE 'half_open' END AS circuit) AS s
  CROSS JOIN LATERAL mailqueue.failure_window(a.id) AS w
  CROSS JOIN LATERAL (
      SELECT (SELECT jsonb_object_agg(k.kind, k.count) FROM (
                  SELECT x.kind, count(*) FROM mailqueue.sender_failures AS x
                   WHERE x.sender_account_id = a.id AND x.failed_at > clock_timestamp() - interval '1 hour'
                   GROUP BY x.kind) AS k) AS counts,
             (SELECT array_agg(e.kind || ': ' || e.detail ORDER BY e.id DESC) FROM (
                  SELECT x.id, x.kind, x.detail FROM mailqueue.sender_failures AS x
                   WHERE x.sender_account_id = a.id ORDER BY x.id DESC LIMIT 5) AS e) AS last_errors,
             (SELECT max(x.failed_at) FROM mailqueue.sender_failures AS x
               WHERE x.sender_account_id = a.id) AS last_failed_at) AS f
 WHERE ((SELECT mailqueue.sees_all()) OR a.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.sender_health IS
    'The circuit of each sender account (closed, open, half_open) and since when; recent_ columns count the last five'
    ' minutes, which may open it; failures counts the last hour by class; last_errors has the newest first.';
