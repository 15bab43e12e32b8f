-- Every mail, finished or not. A transaction that acts for one project and mode sees only theirs (isolation.sql).
-- Markers stand for the rows of MAIL_OPTIONS that are not named here.

DROP VIEW IF EXISTS mailqueue.emails CASCADE;
-- Queue and history are appended before anything is joined: so the newest mail is read by their indexes by created_at,
-- and mail of an address by those on addresses. Assigned mail, of which there is little, is in no index by created_at.
-- That the first part has none stands behind the joins: a part with a condition of its own is not flattened, and then
-- not read in the order of an index.
CREATE VIEW mailqueue.emails AS
SELECT e.id, p.name AS project, e.project_id, e.status, e.reason, e.priority, e.category,
       e.recipient_email, e.recipient_name, c.subject, e.campaign_id, e.tags, e.custom_data,
       e.created_at, CASE WHEN e.run_at < '9000-01-01' THEN e.run_at  -- beyond: it has a custom SMTP server
                          ELSE coalesce((SELECT x.run_at FROM mailqueue.custom_smtp_servers AS x
                                          WHERE x.email_id = e.id),
                                        (SELECT o.run_at FROM mailqueue.email_order AS o  -- it waits for its turn
                                          WHERE o.email_id = e.id)) END AS run_at,
       e.finished_at, e.expires_at,
       e.attempts, e.max_attempts, e.recipients, e.delivery, e.assigned_to, s.name AS sender, e.worker_id, e.last_error,
       e.message_id, e.provider_message_id, c.html_body, c.text_body, c.from_email, c.from_name,
       c.reply_to, e.is_test, e.custom_data ->> 'tracking_token' AS tracking_token, e.max_attempts - 1 AS max_retries,
       CASE WHEN e.status = 'pending' AND e.run_at < '9000-01-01' THEN e.run_at END AS next_retry_at
       [[, e.KEPT_COLUMNS BUT priority, category, campaign_id, tags, custom_data, expires_at, max_attempts, delivery,
                                idempotency_key]]
  FROM (SELECT q.id, q.project_id, q.status, q.last_error AS reason, q.recipient_email, q.recipient_name,
               q.created_at, q.run_at, NULL::timestamptz AS finished_at, q.attempts, q.recipients, q.assigned_to,
               q.worker_id, q.last_error, NULL::text AS message_id, NULL::text AS provider_message_id, q.is_test,
               q.content_id, q.content_on, true AS is_waiting [[, q.KEPT_COLUMNS BUT idempotency_key]]
          FROM mailqueue.email_queue AS q
        UNION ALL
        SELECT a.id, a.project_id, a.status, a.last_error, a.recipient_email, a.recipient_name, a.created_at,
               a.run_at, NULL, a.attempts, a.recipients, a.assigned_to, a.worker_id, a.last_error, NULL, NULL,
               a.is_test, a.content_id, a.content_on, false [[, a.KEPT_COLUMNS BUT idempotency_key]]
          FROM mailqueue.email_queue AS a WHERE a.status = 'assigned'
        UNION ALL
        SELECT h.id, h.project_id, h.status, h.reason, h.recipient_email, h.recipient_name, h.created_at, NULL,
               h.finished_at, h.attempts, h.recipients, h.assigned_to, h.worker_id, h.last_error, h.message_id,
               h.provider_message_id, h.is_test, h.content_id, h.content_on, false
               [[, h.KEPT_COLUMNS BUT idempotency_key]]
          FROM mailqueue.email_history AS h) AS e
  JOIN mailqueue.projects AS p ON p.id = e.project_id
  LEFT JOIN mailqueue.email_contents AS c ON c.id = e.content_id AND c.created_on = e.content_on
  LEFT JOIN mailqueue.sender_accounts AS s ON s.id = e.assigned_to
 WHERE (NOT e.is_waiting OR e.status <> 'assigned')
   AND ((SELECT mailqueue.sees_all()) OR e.project_id = (SELECT mailqueue.tenant()))
   -- Not by coalesce(): one row in two hundred would be expected, and all be sorted.
   AND ((SELECT mailqueue.mode()) IS NULL OR e.is_test = (SELECT mailqueue.mode()));
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
