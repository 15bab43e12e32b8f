-- Bounce mail that a project received, and the source of a bounce.

-- name: list_bounce_mail :many
-- Bounce mail, newest first.
SELECT e.id, e.received_at, e.headers, e.query, e.body, e.state, e.error
FROM mailqueue.bounce_mail(%(project_id)s, %(id)s::uuid, %(state)s::text, %(since)s::timestamptz,
                           %(until)s::timestamptz, %(rule)s) AS e
ORDER BY e.id DESC
LIMIT %(limit)s OFFSET %(offset)s;

-- name: list_bounce_mail_beside :many
-- Bounce mail older than a mail, newest first, or newer than one, oldest first.
SELECT e.id, e.received_at, e.headers, e.query, e.body, e.state, e.error
FROM mailqueue.bounce_mail(%(project_id)s, NULL, %(state)s::text, %(since)s::timestamptz, %(until)s::timestamptz,
                           %(rule)s) AS e
WHERE (%(after)s::uuid IS NULL OR e.id < %(after)s) AND (%(before)s::uuid IS NULL OR e.id > %(before)s)
ORDER BY CASE WHEN %(before)s::uuid IS NOT NULL THEN e.id END, e.id DESC
LIMIT %(limit)s;

-- name: count_bounce_mail :value
-- The number of bounce mails, at most 10,000.
SELECT count(*)
FROM mailqueue.bounce_mail(%(project_id)s, NULL, %(state)s::text, %(since)s::timestamptz, %(until)s::timestamptz,
                           %(rule)s) AS e;

-- name: read_bounce_mail_again :value
-- Process failed or ignored bounce mail again; false if it is in another state.
SELECT mailqueue.read_bounce_mail_again(%(project_id)s, %(id)s, %(state)s, %(rule)s, %(by)s);

-- name: find_bounce_dump :maybe
-- The mail or the conversation that reported a bounce.
SELECT d.headers, d.query, d.body, d.conversation
FROM mailqueue.bounce_dump(%(project_id)s, %(id)s, %(occurred_at)s) AS d;
