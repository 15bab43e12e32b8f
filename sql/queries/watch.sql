-- Watched inboxes, the channels and rules of their persons, and notifications.

-- name: list_inbox_users :many
-- Persons of a project in the order they were added, or the one with the id.
SELECT u.id, u.email, u.notifications_paused,
       CASE WHEN u.paused_until > clock_timestamp() THEN u.paused_until END AS paused_until, u.created_at, u.updated_at
FROM mailqueue.inbox_users AS u
WHERE u.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR u.id = %(id)s)
  AND (%(after)s::uuid IS NULL OR u.id > %(after)s)
ORDER BY u.id
LIMIT %(limit)s;

-- name: add_inbox_user :maybe
-- Id of a person who was added; none where the project has one with this address.
SELECT mailqueue.add_inbox_user(%(project_id)s, %(email)s, %(by)s);

-- name: pause_inbox_user :value
-- Whether there is such a person.
SELECT mailqueue.pause_inbox_user(%(project_id)s, %(id)s, %(is_paused)s, %(by)s);

-- name: remove_inbox_user :value
-- Whether there was such a person.
SELECT mailqueue.remove_inbox_user(%(project_id)s, %(id)s, %(by)s);

-- name: list_filter_rules :many
-- Rules of a project in the order they were added, of one person or with the id.
SELECT r.id, r.user_id, r.rule_type, r.pattern, r.is_active, r.priority, r.created_at, r.updated_at
FROM mailqueue.filter_rules AS r
WHERE r.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR r.id = %(id)s)
  AND (%(user_id)s::uuid IS NULL OR r.user_id = %(user_id)s)
  AND (%(after)s::uuid IS NULL OR r.id > %(after)s)
ORDER BY r.id
LIMIT %(limit)s;

-- name: put_filter_rule :maybe
-- Id of a rule that was added or changed; none where there is no such rule.
SELECT mailqueue.put_filter_rule(%(project_id)s, %(user_id)s, %(id)s, %(rule_type)s, %(pattern)s, %(is_active)s,
                                 %(priority)s, %(by)s);

-- name: remove_filter_rule :value
-- Whether there was such a rule.
SELECT mailqueue.remove_filter_rule(%(project_id)s, %(id)s, %(by)s);

-- name: list_inboxes :many
-- Inboxes of a project in the order they were added, of one person or with the id.
SELECT a.id, a.user_id, a.provider, a.email_address, a.status, a.host, a.port, a.tls, a.username, a.folders,
       a.webmail_url, a.scan_seconds, a.last_scanned_at, a.next_scan_at, a.is_listening, a.last_error,
       a.created_at, a.updated_at
FROM mailqueue.email_accounts AS a
WHERE a.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR a.id = %(id)s)
  AND (%(user_id)s::uuid IS NULL OR a.user_id = %(user_id)s)
  AND (%(after)s::uuid IS NULL OR a.id > %(after)s)
ORDER BY a.id
LIMIT %(limit)s;

-- name: add_mailbox :value
-- Whether the inbox was added; false: the person has it already.
SELECT mailqueue.add_mailbox(%(project_id)s, %(id)s, %(user_id)s, %(email_address)s, %(host)s, %(port)s, %(tls)s,
                             %(username)s, %(sealed)s, %(folders)s::text[], %(webmail_url)s, %(scan_seconds)s,
                             %(by)s);

-- name: switch_mailbox :value
-- What became of an inbox that was paused, resumed or is to be scanned now.
SELECT mailqueue.switch_mailbox(%(project_id)s, %(id)s, %(action)s, %(by)s);

-- name: reconnect_mailbox :value
-- Whether there is such an inbox.
SELECT mailqueue.reconnect_mailbox(%(project_id)s, %(id)s, %(username)s, %(sealed)s, %(by)s);

-- name: remove_mailbox :value
-- Whether there was such an inbox.
SELECT mailqueue.remove_mailbox(%(project_id)s, %(id)s, %(by)s);

-- name: begin_inbox_consent :value
-- When the state ends with which the owner of an inbox is sent to Google.
SELECT mailqueue.begin_inbox_consent(%(project_id)s, %(user_id)s, %(email_address)s, %(state_hash)s,
                                     %(folders)s::text[], %(webmail_url)s, %(scan_seconds)s, %(by)s);

-- name: take_inbox_consent :maybe
-- What a state was begun for, which is used up by this.
SELECT c.project_id, c.user_id, c.email_address, c.folders, c.webmail_url, c.scan_seconds
FROM mailqueue.take_inbox_consent(%(state_hash)s) AS c;

-- name: find_inbox_of_address :maybe
-- Id of a person's inbox of an address.
SELECT a.id FROM mailqueue.email_accounts AS a
WHERE a.project_id = %(project_id)s
  AND a.user_id = %(user_id)s
  AND a.email_address = %(email_address)s;

-- name: connect_gmail :value
-- Whether the inbox is watched; false: the person has another of this address.
SELECT mailqueue.connect_gmail(%(project_id)s, %(id)s, %(user_id)s, %(email_address)s, %(sealed)s,
                               %(folders)s::text[], %(webmail_url)s, %(scan_seconds)s, %(by)s);

-- name: list_gmail_tokens :many
-- Sealed refresh tokens of an inbox, or of all inboxes of a person, whose address is not watched for another.
SELECT t.id, t.host, t.port, t.sealed
FROM mailqueue.list_gmail_tokens(%(project_id)s, %(user_id)s, %(inbox_id)s) AS t;

-- name: is_gmail_watched :value
-- Whether an inbox at Gmail is watched for some person of some project.
SELECT mailqueue.is_gmail_watched(%(address)s);

-- name: note_inbox_consent :run
-- Write to the audit log what became of a consent.
SELECT mailqueue.note_inbox_consent(%(project_id)s, %(subject)s, %(result)s, %(by)s);

-- name: list_notification_channels :many
-- Channels of a project in the order they were added, of one person or with the id.
SELECT c.id, c.user_id, c.channel_type, c.status, c.slack_channel_id, c.workspace, s.phone_number, c.twilio_sid,
       c.sender_number, c.template_sid, s.given_at AS consent_given_at, s.source AS consent_source,
       s.withdrawn_at AS consent_withdrawn_at, s.window_until, c.last_error, c.created_at, c.updated_at
FROM mailqueue.notification_channels AS c
LEFT JOIN mailqueue.channel_consents AS s ON s.channel_id = c.id
WHERE c.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR c.id = %(id)s)
  AND (%(user_id)s::uuid IS NULL OR c.user_id = %(user_id)s)
  AND (%(after)s::uuid IS NULL OR c.id > %(after)s)
ORDER BY c.id
LIMIT %(limit)s;

-- name: add_notification_channel :value
-- Whether the channel was added; false: the person has a connected one of this type.
SELECT mailqueue.add_notification_channel(%(project_id)s, %(id)s, %(user_id)s, %(sealed)s, %(slack_channel_id)s,
                                          %(workspace)s, %(by)s);

-- name: reconnect_channel :value
-- Whether such a channel is connected.
SELECT mailqueue.reconnect_channel(%(project_id)s, %(id)s, %(sealed)s, %(slack_channel_id)s, %(by)s);

-- name: disconnect_channel :value
-- Whether such a channel was connected.
SELECT mailqueue.disconnect_channel(%(project_id)s, %(id)s, %(by)s);

-- name: list_notifications :many
-- Notifications of a project, newest first.
SELECT n.id, n.user_id, n.email_account_id, n.notification_channel_id, n.kind, n.summary_id, n.rule_id, n.sender_name,
       n.sender_address, n.subject, n.preview, n.delivery_status, n.external_message_id, n.retry_count, n.last_error,
       n.email_received_at, n.delivered_at, n.next_attempt_at, n.created_at, n.updated_at
FROM mailqueue.notification_log AS n
WHERE n.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR n.id = %(id)s)
  AND (%(user_id)s::uuid IS NULL OR n.user_id = %(user_id)s)
  AND (%(status)s::text IS NULL OR n.delivery_status = %(status)s)
  AND (%(before)s::uuid IS NULL OR n.id < %(before)s)
ORDER BY n.id DESC
LIMIT %(limit)s;

-- name: retry_notifications :value
-- How many notifications are delivered again.
SELECT mailqueue.retry_notifications(%(project_id)s, %(ids)s::uuid[], %(by)s);

-- name: read_scanned_mailboxes :many
-- Where claimed inboxes are, and their sealed passwords.
SELECT m.id, m.project_id, m.user_id, m.provider, m.host, m.port, m.tls, m.username, m.sealed_password, m.folders,
       m.cursor, m.scan_seconds, m.refusals, m.last_scanned_at, m.push_asked_at, m.created_at,
       m.updated_at,
       coalesce(m.caught_up_at, m.last_scanned_at) AS caught_up_at, m.paused_by IS NOT NULL AS is_paused,
       clock_timestamp() AS now
FROM mailqueue.mailboxes AS m
WHERE m.id = ANY (%(ids)s::uuid[]);

-- name: read_active_rules :many
-- Active rules of persons in the order of evaluation.
SELECT r.id, r.user_id, r.rule_type, r.pattern
FROM mailqueue.filter_rules AS r
WHERE r.user_id = ANY (%(users)s::uuid[])
  AND r.is_active
ORDER BY r.priority, r.id;

-- name: record_scan :value
-- Write how far an inbox was scanned, and notify of its new mail; how many messages were not known.
SELECT mailqueue.record_scan(%(id)s, %(claim_no)s, %(cursor)s, %(mails)s, %(caught_up)s);

-- name: note_inbox_push :run
-- Write when Gmail was asked to push what changes in a claimed inbox.
SELECT mailqueue.note_inbox_push(%(id)s, %(claim_no)s, %(asked_at)s);

-- name: wake_gmail_inboxes :value
-- How many inboxes at Gmail of an address are scanned at once.
SELECT mailqueue.wake_gmail_inboxes(%(address)s);

-- name: notify_of_lost_inbox :run
-- Tell a person that an inbox is given up.
SELECT mailqueue.notify_of_lost_inbox(%(id)s, %(claim_no)s, %(reason)s);

-- name: read_notifications :many
-- What claimed notifications say, and where they go.
SELECT n.id, n.project_id, n.kind, n.sender_name, n.sender_address, n.subject, n.preview, n.email_received_at,
       n.message_id, n.notification_channel_id AS channel_id, c.channel_type, c.slack_channel_id, c.sealed_token,
       c.revision, m.email_address, m.webmail_url, s.phone_number, c.twilio_sid, c.sender_number, c.template_sid,
       coalesce(s.window_until > clock_timestamp(), false) AS is_open, c.is_of_app,
       c.sealed_signing_secret IS NOT NULL AS has_signing_secret
FROM mailqueue.notifications AS n
JOIN mailqueue.notification_channels AS c ON c.id = n.notification_channel_id
LEFT JOIN mailqueue.channel_consents AS s ON s.channel_id = c.id
JOIN mailqueue.mailboxes AS m ON m.id = n.email_account_id
WHERE n.id = ANY (%(ids)s::uuid[]);

-- name: read_summarized :many
-- The first mails that each summary is about, and how many there are.
SELECT s.id AS summary_id, x.mails, l.sender_name, l.sender_address, l.subject
FROM unnest(%(ids)s::uuid[]) AS s (id)
CROSS JOIN LATERAL (SELECT count(*) AS mails FROM mailqueue.notifications AS o WHERE o.summary_id = s.id) AS x
CROSS JOIN LATERAL (
    SELECT o.sender_name, o.sender_address, o.subject
    FROM mailqueue.notifications AS o
    WHERE o.summary_id = s.id
    ORDER BY o.summary_id, o.id
    LIMIT %(limit)s
) AS l;

-- name: begin_notifications :many
-- Mark claimed notifications, in the order given, before they are posted.
SELECT b.id, b.claim_no, mailqueue.begin_notification(b.id, b.claim_no) AS state
FROM unnest(%(ids)s::uuid[], %(claims)s::bigint[]) AS b (id, claim_no);

-- name: lock_channels :run
-- Lock channels before rows of their notifications.
SELECT mailqueue.lock_channels(%(ids)s::uuid[]);

-- name: note_channel_answers :run
-- Write what answers mean for channels and providers.
SELECT mailqueue.note_channel_answers(%(channels)s::uuid[], %(revisions)s::integer[], %(faults)s::text[],
                                      %(waits)s::interval[], %(failed)s::boolean[]);

-- name: tell_of_errors :value
-- Mail persons whose channels or inboxes have ended in error; returns the number of mails.
SELECT mailqueue.tell_of_errors(%(pages)s::text);

-- name: list_sealed_mailbox_passwords :many
-- Some passwords of watched inboxes that are sealed with a data key.
SELECT id::text AS row_id, sealed_password AS sealed, concat(host, ':', port) AS server
FROM mailqueue.mailboxes
WHERE project_id = %(project_id)s
  AND substring(sealed_password FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_mailbox_password :run
-- Replace a sealed password, unless it was replaced meanwhile.
UPDATE mailqueue.mailboxes
SET sealed_password = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed_password = %(old)s;

-- name: list_sealed_channel_tokens :many
-- Some tokens of notification channels that are sealed with a data key.
SELECT id::text AS row_id, sealed_token AS sealed
FROM mailqueue.notification_channels
WHERE project_id = %(project_id)s
  AND substring(sealed_token FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_channel_token :run
-- Replace a sealed token, unless it was replaced meanwhile.
UPDATE mailqueue.notification_channels
SET sealed_token = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed_token = %(old)s;

-- name: list_sealed_signing_secrets :many
-- Some signing secrets of Slack apps that are sealed with a data key.
SELECT id::text AS row_id, sealed_signing_secret AS sealed
FROM mailqueue.notification_channels
WHERE project_id = %(project_id)s
  AND substring(sealed_signing_secret FROM 2 FOR 16) = uuid_send(%(data_key_id)s::uuid)
  AND (%(after)s::text IS NULL OR id > %(after)s::uuid)
ORDER BY id
LIMIT 100;

-- name: replace_sealed_signing_secret :run
-- Replace a sealed signing secret, unless it was replaced meanwhile.
UPDATE mailqueue.notification_channels
SET sealed_signing_secret = %(sealed)s
WHERE id = %(row_id)s::uuid
  AND sealed_signing_secret = %(old)s;
