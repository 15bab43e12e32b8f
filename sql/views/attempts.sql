-- Attempts and changes, for roles that cannot read the tables behind them.

DROP VIEW IF EXISTS mailqueue.attempts CASCADE;
CREATE VIEW mailqueue.attempts AS
SELECT l.email_id, l.attempt, l.sent_at, p.name AS project, a.name AS sender, l.status, l.recipient_email,
       l.campaign_id, l.error_code, l.enhanced_code, l.reply, l.response_ms, l.worker_id, l.message_id,
       coalesce((SELECT h.custom_data FROM mailqueue.email_history AS h
                  WHERE h.id = l.email_id ORDER BY h.finished_at DESC LIMIT 1),
                (SELECT q.custom_data FROM mailqueue.email_queue AS q WHERE q.id = l.email_id)) AS custom_data
  FROM mailqueue.send_logs AS l
  JOIN mailqueue.projects AS p ON p.id = l.project_id
  LEFT JOIN mailqueue.sender_accounts AS a ON a.id = l.sender_account_id;
COMMENT ON VIEW mailqueue.attempts IS
    'Attempts to send mail: when, by which account, and the reply of the server. Filter by email_id, or by sent_at '
    'for a short time.';

DROP VIEW IF EXISTS mailqueue.audit CASCADE;
CREATE VIEW mailqueue.audit AS
SELECT e.id, e.occurred_at, p.name AS project, e.actor, e.action, e.subject, e.detail
  FROM mailqueue.audit_events AS e
  LEFT JOIN mailqueue.projects AS p ON p.id = e.project_id
 WHERE ((SELECT mailqueue.sees_all()) OR e.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.audit IS
    'Changes: who, what, in which project (NULL: the whole installation). Newest last by id.';
