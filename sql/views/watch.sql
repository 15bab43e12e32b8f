-- Watched inboxes and notifications by the states and columns of their documentation: see docs/inbox-watch.md.

DROP VIEW IF EXISTS mailqueue.email_accounts CASCADE;
CREATE VIEW mailqueue.email_accounts AS
SELECT m.id, m.project_id, m.user_id, m.provider, m.email_address,
       CASE WHEN m.status = 'failed' THEN 'error' WHEN m.paused_by IS NOT NULL THEN 'paused' ELSE 'active' END
       AS status, m.host, m.port, m.tls, m.username, m.folders, m.webmail_url, m.scan_seconds, m.last_scanned_at,
       CASE WHEN m.status IN ('pending', 'assigned') AND m.paused_by IS NULL THEN m.run_at END AS next_scan_at,
       coalesce(m.last_error, 'paused by ' || m.paused_by) AS last_error, m.created_at, m.updated_at,
       -- Where the next scan of an inbox at Gmail begins.
       CASE m.provider WHEN 'gmail' THEN (SELECT min((c.value ->> 1)::bigint)::text
                                            FROM jsonb_each(m.cursor) AS c) END AS history_id,
       -- Data keys of a project are counted in the order they were made; the sealed value names its own.
       CASE WHEN length(m.sealed_password) > 17
            THEN (SELECT count(o.id)::smallint
                    FROM mailqueue.data_keys AS k
                    JOIN mailqueue.data_keys AS o ON o.project_id = k.project_id
                                                 AND (o.created_at, o.id) <= (k.created_at, k.id)
                   WHERE k.id = encode(substring(m.sealed_password FROM 2 FOR 16), 'hex')::uuid) END AS key_version,
       EXISTS (SELECT FROM mailqueue.inbox_listeners AS l
                WHERE l.mailbox_id = m.id AND l.state = 'listening' AND l.lease_until > now()) AS is_listening
  FROM mailqueue.mailboxes AS m
 WHERE (SELECT mailqueue.sees_all()) OR m.project_id = (SELECT mailqueue.tenant());
COMMENT ON VIEW mailqueue.email_accounts IS
    'Watched inboxes: active, paused or error, with the last and the next scan, the historyId of Gmail and the number '
    'of the data key that seals the password or token.';

DROP VIEW IF EXISTS mailqueue.delivery_channels CASCADE;
CREATE VIEW mailqueue.delivery_channels AS
SELECT c.id, c.project_id, c.user_id, c.channel_type, c.status, c.slack_channel_id, c.workspace,
       n.phone_number AS whatsapp_phone_number, c.twilio_sid,
       CASE WHEN length(c.sealed_token) > 17
            THEN (SELECT count(o.id)::smallint
                    FROM mailqueue.data_keys AS k
                    JOIN mailqueue.data_keys AS o ON o.project_id = k.project_id
                                                 AND (o.created_at, o.id) <= (k.created_at, k.id)
                   WHERE k.id = encode(substring(c.sealed_token FROM 2 FOR 16), 'hex')::uuid) END AS key_version,
       n.channel_id IS NOT NULL AND n.withdrawn_at IS NULL AS consent_given, n.given_at AS consent_given_at,
       c.last_error, c.created_at, c.updated_at
  FROM mailqueue.notification_channels AS c
  LEFT JOIN mailqueue.channel_consents AS n ON n.channel_id = c.id
 WHERE (SELECT mailqueue.sees_all()) OR c.project_id = (SELECT mailqueue.tenant());
COMMENT ON VIEW mailqueue.delivery_channels IS
    'Channels of persons whose inboxes are watched: active, error, opted_out or disconnected, with the consent of '
    'WhatsApp and the number of the data key that seals the token.';

DROP VIEW IF EXISTS mailqueue.notification_log CASCADE;
CREATE VIEW mailqueue.notification_log AS
SELECT n.id, n.project_id, n.user_id, n.email_account_id, n.notification_channel_id, n.kind, n.summary_id, n.rule_id,
       n.sender_name, n.sender_address, n.subject, n.preview,
       CASE o.status WHEN 'held' THEN 'unknown'
                     WHEN 'pending' THEN CASE WHEN n.summary_id IS NOT NULL THEN 'batched'
                                              WHEN o.attempts > 0 AND o.run_at > now() THEN 'failed' ELSE 'pending' END
                     WHEN 'assigned' THEN CASE WHEN n.summary_id IS NOT NULL THEN 'batched' ELSE 'pending' END
                     ELSE o.status END AS delivery_status,
       o.external_message_id, greatest(o.attempts - 1, 0) AS retry_count, o.last_error, n.email_received_at,
       CASE WHEN o.status = 'delivered' THEN o.finished_at END AS delivered_at,
       CASE WHEN o.status = 'pending' THEN o.run_at END AS next_attempt_at, n.created_at,
       coalesce(o.finished_at, n.created_at) AS updated_at
  FROM mailqueue.notifications AS n
  -- Mail that was merged has the outcome of its summary.
  JOIN mailqueue.notifications AS o ON o.id = coalesce(n.summary_id, n.id)
 WHERE (SELECT mailqueue.sees_all()) OR n.project_id = (SELECT mailqueue.tenant());
COMMENT ON VIEW mailqueue.notification_log IS
    'Notifications: pending, batched (told of by a summary that is not sent yet), sent, delivered, failed, or unknown: '
    'the channel may have received it.';
