-- Events of mail after it was sent.

-- By the highest rank of the reported states, so that a late or repeated event never takes anything back. Filter by
-- email_id.
DROP VIEW IF EXISTS mailqueue.deliveries CASCADE;
CREATE VIEW mailqueue.deliveries AS
SELECT v.project_id, v.email_id, lower(v.recipient_email) AS address,
       CASE WHEN bool_or(v.type = 'delivered') THEN 'delivered' WHEN bool_or(v.type = 'deferred') THEN 'deferred'
            WHEN bool_or(v.type IN ('sent', 'opened', 'clicked', 'hard_bounce', 'soft_bounce', 'complaint',
                                    'unsubscribed'))
                 THEN 'sent' END AS delivery,
       CASE WHEN bool_or(v.type = 'hard_bounce') THEN 'hard'
            WHEN bool_or(v.type = 'soft_bounce') THEN 'soft' END AS bounced,
       bool_or(v.type = 'complaint') AS is_complaint, bool_or(v.type = 'unsubscribed') AS is_unsubscribed,
       min(v.occurred_at) FILTER (WHERE v.type = 'delivered') AS delivered_at,
       min(v.occurred_at) FILTER (WHERE v.type IN ('hard_bounce', 'soft_bounce')) AS bounced_at,
       min(v.occurred_at) FILTER (WHERE v.type = 'complaint') AS complained_at,
       min(v.occurred_at) FILTER (WHERE v.type = 'unsubscribed') AS unsubscribed_at,
       min(v.occurred_at) FILTER (WHERE v.type = 'opened'
                                  AND (v.data ->> 'is_machine') IS DISTINCT FROM 'true') AS opened_at,
       min(v.occurred_at) FILTER (WHERE v.type = 'clicked'
                                  AND (v.data ->> 'is_machine') IS DISTINCT FROM 'true') AS clicked_at,
       count(*) FILTER (WHERE v.type = 'opened' AND (v.data ->> 'is_machine') IS DISTINCT FROM 'true') AS opens,
       count(*) FILTER (WHERE v.type = 'clicked' AND (v.data ->> 'is_machine') IS DISTINCT FROM 'true') AS clicks,
       max(v.occurred_at) AS last_event_at
  FROM mailqueue.email_events AS v
 WHERE ((SELECT mailqueue.sees_all()) OR v.project_id = (SELECT mailqueue.tenant()))
 GROUP BY v.project_id, v.email_id, lower(v.recipient_email);
COMMENT ON VIEW mailqueue.deliveries IS
    'Events of a mail and recipient after it was sent: delivery (sent, deferred, delivered: the furthest state), and '
    'states that are never taken back: bounced, complaint, unsubscribed. Opens and clicks by people, not by software.'
    ' Filter by email_id.';

DROP VIEW IF EXISTS mailqueue.open_events CASCADE;
CREATE VIEW mailqueue.open_events AS
SELECT v.id, p.name AS project, v.email_id, m.campaign_id, v.recipient_email, v.occurred_at AS opened_at,
       mailqueue.parse_network(v.data ->> 'ip') AS ip_address, v.data ->> 'user_agent' AS user_agent,
       v.data ->> 'country' AS country, v.data ->> 'city' AS city,
       coalesce((v.data ->> 'is_machine') = 'true', false) AS is_machine, v.source,
       v.data ->> 'proxy' AS proxy
  FROM mailqueue.email_events AS v
  JOIN mailqueue.projects AS p ON p.id = v.project_id
  LEFT JOIN LATERAL (SELECT h.campaign_id FROM mailqueue.email_history AS h WHERE h.id = v.email_id LIMIT 1) AS m
       ON true
 WHERE v.type = 'opened' AND ((SELECT mailqueue.sees_all()) OR v.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.open_events IS
    'Opens of mail, with the network (never the whole address) and the program; is_machine: by a crawler or scanner, '
    'not by a person; proxy (gmail, yahoo): by a person, through the proxy of the mailbox provider, whose network and '
    'program these are. Filter by email_id, or by opened_at for a short time.';

DROP VIEW IF EXISTS mailqueue.click_events CASCADE;
CREATE VIEW mailqueue.click_events AS
SELECT v.id, p.name AS project, v.email_id, m.campaign_id, v.recipient_email, v.data ->> 'url' AS link_url,
       v.occurred_at AS clicked_at, mailqueue.parse_network(v.data ->> 'ip') AS ip_address,
       v.data ->> 'user_agent' AS user_agent, v.data ->> 'country' AS country, v.data ->> 'city' AS city,
       coalesce((v.data ->> 'is_machine') = 'true', false) AS is_machine, v.source
  FROM mailqueue.email_events AS v
  JOIN mailqueue.projects AS p ON p.id = v.project_id
  LEFT JOIN LATERAL (SELECT h.campaign_id FROM mailqueue.email_history AS h WHERE h.id = v.email_id LIMIT 1) AS m
       ON true
 WHERE v.type = 'clicked' AND ((SELECT mailqueue.sees_all()) OR v.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.click_events IS
    'Clicks on links of mail, with the network (never the whole address) and the program; is_machine: by a scanner, '
    'not by a person. Filter by email_id, or by clicked_at for a short time.';

DROP VIEW IF EXISTS mailqueue.sender_rates CASCADE;
CREATE VIEW mailqueue.sender_rates AS
SELECT p.name AS project, a.id AS sender_account_id, a.name AS sender, a.status, r.since, r.sent, r.hard_bounces,
       r.soft_bounces, r.about_us, r.complaints, r.bounce_rate, r.complaint_rate, a.bounce_warn, a.bounce_pause,
       a.complaint_warn, a.complaint_pause, j.state, j.words AS found
  FROM mailqueue.sender_accounts AS a
  JOIN mailqueue.projects AS p ON p.id = a.project_id
 CROSS JOIN LATERAL mailqueue.rates_of_sender(a.id) AS r
 CROSS JOIN LATERAL mailqueue.rate_words(a.bounce_warn, a.bounce_pause, a.complaint_warn, a.complaint_pause,
                                         r.sent, r.hard_bounces, r.complaints, r.bounce_rate, r.complaint_rate) AS j
 WHERE ((SELECT mailqueue.sees_all()) OR a.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.sender_rates IS
    'Mail that each sender account sent within the last days, its hard bounces and complaints in percent, and the '
    'thresholds that warn and pause; about_us: bounces that concern our reputation.';
