-- Bounce mail that a project received, and the source of a bounce.

-- name: list_bounce_mail :many
-- A page of bounce mail, newest first.
SELECT e.id, e.received_at, e.headers, e.query, e.body, e.state, e.error
FROM mailqueue.bounce_mail(%(project_id)s, %(id)s::uuid, %(state)s::text, %(since)s::timestamptz,
                           %(until)s::timestamptz, %(rule)s, NULL, NULL, %(limit)s::integer, %(offset)s::integer) AS e;

-- name: list_bounce_mail_beside :many
-- Bounce mail older than a mail, newest first, or newer than one, oldest first.
SELECT e.id, e.received_at, e.headers, e.query, e.body, e.state, e.error
FROM mailqueue.bounce_mail(%(project_id)s, NULL, %(state)s::text, %(since)s::timestamptz, %(until)s::timestamptz,
                           %(rule)s, %(after)s::uuid, %(before)s::uuid, %(limit)s::integer, 0) AS e;

-- name: count_bounce_mail :value
-- The number of bounce mails, at most 10,000.
SELECT mailqueue.count_bounce_mail(%(project_id)s, %(state)s::text, %(since)s::timestamptz, %(until)s::timestamptz,
                                   %(rule)s);

-- name: read_bounce_mail_again :value
-- Process failed or ignored bounce mail again; false if it is in another state.
SELECT mailqueue.read_bounce_mail_again(%(project_id)s, %(id)s, %(state)s, %(rule)s, %(by)s);

-- name: find_bounce_dump :maybe
-- The mail or the conversation that reported a bounce.
SELECT d.headers, d.query, d.body, d.conversation
FROM mailqueue.bounce_dump(%(project_id)s, %(id)s, %(occurred_at)s) AS d;
