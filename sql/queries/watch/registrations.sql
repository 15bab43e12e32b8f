-- Phones that persons connect themselves.

-- name: begin_phone_registration :value
-- Time by which the code has to be sent.
SELECT mailqueue.begin_phone_registration(%(project_id)s, %(user_id)s, %(code)s, %(source)s, %(wording)s, %(by)s);

-- name: take_phone_registration :maybe
-- Whose registration a code is of, used once.
SELECT r.project_id, r.user_id, r.source, r.wording, r.begun_by, r.channel_id, r.phone_number, r.sender_number,
       r.twilio_sid, r.is_opted_out
FROM mailqueue.take_phone_registration(%(code)s) AS r;

-- name: find_phone_channels :many
-- Channels that a reply to a sender of the installation is about.
SELECT c.id
FROM mailqueue.find_phone_channels(%(account)s, %(sender)s, %(number)s) AS c;
