-- Every mail, finished or not. A transaction that acts for one project and mode sees only theirs (isolation.sql).
-- Markers stand for the rows of MAIL_OPTIONS that are not named here.

DROP VIEW IF EXISTS mailqueue.emails CASCADE;
CREATE VIEW mailqueue.emails AS
SELECT q.id, p.name AS project, q.project_id, q.status, q.last_error AS reason, q.priority, q.category,
       q.recipient_email, q.recipient_name, c.subject, q.campaign_id, q.tags, q.custom_data,
       q.created_at, CASE WHEN q.run_at < '9000-01-01' THEN q.run_at  -- beyond: it has a custom SMTP server
                          ELSE (SELECT coalesce(x.run_at, x.look_at) FROM mailqueue.inline_servers AS x
                                 WHERE x.email_id = q.id) END AS run_at,
       NULL::timestamptz AS finished_at, q.expires_at,
       q.attempts, q.max_attempts, q.recipients, q.delivery, q.assigned_to, s.name AS sender, q.worker_id, q.last_error,
       NULL::text AS message_id, NULL::text AS provider_message_id, c.html_body, c.text_body, c.from_email, c.from_name,
       c.reply_to, q.is_test, q.custom_data ->> 'tracking_token' AS tracking_token, q.max_attempts - 1 AS max_retries,
       CASE WHEN q.status = 'pending' AND q.run_at < '9000-01-01' THEN q.run_at END AS next_retry_at
       [[, q.KEPT_COLUMNS BUT priority, category, campaign_id, tags, custom_data, expires_at, max_attempts, delivery,
                                idempotency_key]]
  FROM mailqueue.email_queue AS q
  JOIN mailqueue.projects AS p ON p.id = q.project_id
  LEFT JOIN mailqueue.email_contents AS c ON c.id = q.content_id AND c.created_on = q.content_on
  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = q.assigned_to
 WHERE ((SELECT mailqueue.sees_all()) OR q.project_id = (SELECT mailqueue.tenant()))
   AND coalesce((SELECT mailqueue.mode()), q.is_test) = q.is_test
UNION ALL
SELECT h.id, p.name, h.project_id, h.status, h.reason, h.priority, h.category,
       h.recipient_email, h.recipient_name, c.subject, h.campaign_id, h.tags, h.custom_data,
       h.created_at, NULL, h.finished_at, h.expires_at,
       h.attempts, h.max_attempts, h.recipients, h.delivery, h.assigned_to, s.name, h.worker_id, h.last_error,
       h.message_id, h.provider_message_id, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, h.is_test,
       h.custom_data ->> 'tracking_token', h.max_attempts - 1, NULL
       [[, h.KEPT_COLUMNS BUT priority, category, campaign_id, tags, custom_data, expires_at, max_attempts, delivery,
                                idempotency_key]]
  FROM mailqueue.email_history AS h
  JOIN mailqueue.projects AS p ON p.id = h.project_id
  LEFT JOIN mailqueue.email_contents AS c ON c.id = h.content_id AND c.created_on = h.content_on
  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = h.assigned_to
 WHERE ((SELECT mailqueue.sees_all()) OR h.project_id = (SELECT mailqueue.tenant()))
   AND coalesce((SELECT mailqueue.mode()), h.is_test) = h.is_test;
COMMENT ON VIEW mailqueue.emails IS
    'All mail: pending, assigned and held from the queue; sent, failed, suppressed, expired and cancelled from '
    'history.';

DROP VIEW IF EXISTS mailqueue.recipient_history CASCADE;
CREATE VIEW mailqueue.recipient_history AS
SELECT x.*,
       CASE WHEN x.status = 'sent' THEN coalesce(d.delivery, 'sent')
            WHEN x.status IN ('pending', 'assigned', 'held') THEN coalesce(d.delivery, 'queued') END AS delivery,
       d.bounced, coalesce(d.is_complaint, false) AS is_complaint, d.delivered_at, d.bounced_at, d.opened_at,
       d.clicked_at
  FROM (
SELECT e.project, lower(e.recipient_email) AS address, e.id AS email_id, e.status, e.reason, e.subject, e.campaign_id,
       e.created_at, e.finished_at, e.sender, e.attempts
  FROM mailqueue.emails AS e
UNION ALL
SELECT p.name, lower(r.address), r.email_id, r.status, r.reason, c.subject, q.campaign_id, q.created_at, r.settled_at,
    s.name, q.attempts
  FROM mailqueue.email_recipients AS r
  JOIN mailqueue.email_queue AS q ON q.id = r.email_id
  JOIN mailqueue.projects AS p ON p.id = r.project_id
  LEFT JOIN mailqueue.email_contents AS c ON c.id = q.content_id AND c.created_on = q.content_on
  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = q.assigned_to
 WHERE r.position > 0 AND ((SELECT mailqueue.sees_all()) OR r.project_id = (SELECT mailqueue.tenant()))
   AND coalesce((SELECT mailqueue.mode()), q.is_test) = q.is_test
UNION ALL
-- Not by view emails: a join is not pushed into a UNION, and all mail would be read for one address.
SELECT p.name, lower(r.address), r.email_id, r.status, r.reason, c.subject, h.campaign_id, h.created_at, r.settled_at,
    s.name, h.attempts
  FROM mailqueue.email_recipients AS r
  JOIN mailqueue.email_history AS h ON h.id = r.email_id
  JOIN mailqueue.projects AS p ON p.id = r.project_id
  LEFT JOIN mailqueue.email_contents AS c ON c.id = h.content_id AND c.created_on = h.content_on
  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = h.assigned_to
 WHERE r.position > 0 AND ((SELECT mailqueue.sees_all()) OR r.project_id = (SELECT mailqueue.tenant()))
   AND coalesce((SELECT mailqueue.mode()), h.is_test) = h.is_test
) AS x
  -- By the mail and its recipient: one look-up in the index of its events.
  LEFT JOIN LATERAL (
      SELECT CASE WHEN bool_or(v.type = 'delivered') THEN 'delivered'
                  WHEN bool_or(v.type = 'deferred') THEN 'deferred' END AS delivery,
             CASE WHEN bool_or(v.type = 'hard_bounce') THEN 'hard'
                  WHEN bool_or(v.type = 'soft_bounce') THEN 'soft' END AS bounced,
             bool_or(v.type = 'complaint') AS is_complaint,
             min(v.occurred_at) FILTER (WHERE v.type = 'delivered') AS delivered_at,
             min(v.occurred_at) FILTER (WHERE v.type IN ('hard_bounce', 'soft_bounce')) AS bounced_at,
             min(v.occurred_at) FILTER (WHERE v.type = 'opened'
                                        AND (v.data ->> 'is_machine') IS DISTINCT FROM 'true') AS opened_at,
             min(v.occurred_at) FILTER (WHERE v.type = 'clicked'
                                        AND (v.data ->> 'is_machine') IS DISTINCT FROM 'true') AS clicked_at
        FROM mailqueue.email_events AS v WHERE v.email_id = x.email_id AND lower(v.recipient_email) = x.address) AS d
       ON true;
COMMENT ON VIEW mailqueue.recipient_history IS
    'All mail to an address with its events. Filter by address = ''ann@example.com'', in lower case.';
