-- Canaries: small emails at an interval, whose absence is noticed.

-- name: put_canary :run
-- Send an email by a sender account at an interval, or change that.
SELECT mailqueue.put_canary(%(project)s, %(sender)s, %(recipient)s, %(every)s, %(by)s);

-- name: remove_canary :value
-- Send no more by a sender account; false if none were sent.
SELECT mailqueue.remove_canary(%(project)s, %(sender)s, %(by)s);

-- name: list_canaries :many
-- Canaries, and when their last email was sent and delivered.
SELECT b.project, b.sender, b.provider, b.recipient, b.every, b.emails_per_day, b.newest_email, b.last_sent_at,
       b.last_delivered_at, b.tells_deliveries, b.is_late, b.is_delivery_late, b.last_error
FROM mailqueue.canary_board() AS b;

-- name: send_canaries :many
-- Queue an email of each canary; when the next one is due, and why there is none now.
SELECT s.id, s.next_at, s.reason FROM mailqueue.send_canaries(%(ids)s::uuid[]) AS s;
