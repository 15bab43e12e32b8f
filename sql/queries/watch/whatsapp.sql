-- Channels of WhatsApp: their persons' consent, and what Twilio reports.

-- name: add_whatsapp_channel :value
-- Whether the channel was added; false: the person has a connected one of this type.
SELECT mailqueue.add_whatsapp_channel(%(project_id)s, %(id)s, %(user_id)s, %(sealed)s, %(new)s, %(by)s);

-- name: reconnect_whatsapp_channel :value
-- Whether such a channel is connected.
SELECT mailqueue.reconnect_whatsapp_channel(%(project_id)s, %(id)s, %(sealed)s, %(template_sid)s, %(by)s);

-- name: opt_out_channel :value
-- Whether a channel was connected whose person wants no messages.
SELECT mailqueue.opt_out_channel(%(id)s, %(word)s);

-- name: close_whatsapp_window :run
-- Send templates to a person until the next reply.
SELECT mailqueue.close_whatsapp_window(%(id)s);

-- name: find_whatsapp_channels :many
-- Channels that a reply is about.
SELECT c.id, c.project_id, c.sealed
FROM mailqueue.find_whatsapp_channels(%(project_id)s, %(account)s, %(sender)s, %(number)s) AS c;

-- name: find_whatsapp_notification :many
-- The channel of a notification that is reported about.
SELECT c.id, c.project_id, c.sealed
FROM mailqueue.find_whatsapp_notification(%(project_id)s, %(id)s) AS c;

-- name: record_receipt :value
-- Whether what is reported of a message changes anything.
SELECT mailqueue.record_receipt(%(channel_id)s, %(id)s, %(message)s, %(report)s);

-- name: settle_receipts :run
-- Bring a notification to the state that its provider reported.
SELECT mailqueue.settle_receipts(%(channel_id)s, %(id)s);

-- name: record_whatsapp_reply :value
-- What a reply of a person means for a channel.
SELECT mailqueue.record_whatsapp_reply(%(channel_id)s, %(message)s, %(is_out)s, %(word)s);
