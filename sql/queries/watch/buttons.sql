-- Muted senders, and buttons below notifications in Slack.

-- name: list_muted_senders :many
-- Muted senders of a project in the order they were muted, of one person or with the id.
SELECT s.id, s.user_id, s.sender_address, s.created_at
FROM mailqueue.muted_senders AS s
WHERE s.project_id = %(project_id)s
  AND (%(id)s::uuid IS NULL OR s.id = %(id)s)
  AND (%(user_id)s::uuid IS NULL OR s.user_id = %(user_id)s)
  AND (%(after)s::uuid IS NULL OR s.id > %(after)s)
ORDER BY s.id
LIMIT %(limit)s;

-- name: mute_sender :maybe
-- Id of a sender who is muted now; none where that is so already.
SELECT mailqueue.mute_sender(%(project_id)s, %(user_id)s, %(sender_address)s, %(by)s);

-- name: unmute_sender :value
-- Whether there was such a muted sender.
SELECT mailqueue.unmute_sender(%(project_id)s, %(id)s, %(by)s);

-- name: set_slack_signing :run
-- Note the signing secret of the app of a channel.
SELECT mailqueue.set_slack_signing(%(project_id)s, %(id)s, %(sealed)s);

-- name: find_slack_notification :maybe
-- The connected channel of a notification, and whose secret signs requests about it.
SELECT n.channel_id, n.project_id, n.is_of_app, n.sealed
FROM mailqueue.find_slack_notification(%(id)s) AS n;

-- name: press_slack_button :one
-- What pressing a button below a notification did.
SELECT p.done ->> 'result' AS word, p.done ->> 'sender' AS sender, (p.done ->> 'until')::bigint AS until
FROM mailqueue.press_slack_button(%(id)s, %(channel_id)s, %(press)s) AS p (done);
