-- Mail caught by the built-in trap.

-- name: add_trap_messages :run
-- Store a batch of messages, in the given order; recipients of one message are joined by line feeds.
INSERT INTO mailqueue.trap_messages (
    mail_from, rcpt_to, subject, from_header, to_header, preview, size_bytes, raw)
SELECT m.mail_from, string_to_array(m.rcpt_to, E'\n'), m.subject, m.from_header, m.to_header,
       m.preview, octet_length(m.raw), m.raw
FROM unnest(%(mail_from)s::text[], %(rcpt_to)s::text[], %(subject)s::text[], %(from_header)s::text[],
            %(to_header)s::text[], %(preview)s::text[], %(raw)b::bytea[])
     WITH ORDINALITY AS m(mail_from, rcpt_to, subject, from_header, to_header, preview, raw, n)
ORDER BY m.n;

-- name: list_trap_messages :many
-- Messages newest first: those that match the pattern, below one id and above another.
SELECT t.id, t.received_at, t.mail_from, t.rcpt_to, t.subject, t.from_header, t.to_header, t.preview,
       t.size_bytes
FROM mailqueue.trap_messages AS t
WHERE (%(pattern)s::text IS NULL OR t.subject ILIKE %(pattern)s OR t.from_header ILIKE %(pattern)s
       OR t.to_header ILIKE %(pattern)s OR t.mail_from ILIKE %(pattern)s
       OR array_to_string(t.rcpt_to, ' ') ILIKE %(pattern)s)
  AND t.id < coalesce(%(before)s::bigint, 9223372036854775807)
  AND t.id > coalesce(%(after)s::bigint, 0)
ORDER BY t.id DESC
LIMIT %(limit)s;

-- name: read_trap_messages :many
-- Whole messages newest first: those that match the pattern, below one id.
SELECT t.id, t.received_at, t.mail_from, t.rcpt_to, t.subject, t.from_header, t.to_header, t.preview,
       t.size_bytes, t.raw
FROM mailqueue.trap_messages AS t
WHERE (%(pattern)s::text IS NULL OR t.subject ILIKE %(pattern)s OR t.from_header ILIKE %(pattern)s
       OR t.to_header ILIKE %(pattern)s OR t.mail_from ILIKE %(pattern)s
       OR array_to_string(t.rcpt_to, ' ') ILIKE %(pattern)s)
  AND t.id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY t.id DESC
LIMIT %(limit)s;

-- name: find_trap_message :maybe
-- One whole message.
SELECT t.id, t.received_at, t.mail_from, t.rcpt_to, t.subject, t.from_header, t.to_header, t.preview,
       t.size_bytes, t.raw
FROM mailqueue.trap_messages AS t
WHERE t.id = %(id)s;

-- name: count_trap_messages :value
-- Number of messages that match the pattern.
SELECT count(*)
FROM mailqueue.trap_messages AS t
WHERE %(pattern)s::text IS NULL OR t.subject ILIKE %(pattern)s OR t.from_header ILIKE %(pattern)s
   OR t.to_header ILIKE %(pattern)s OR t.mail_from ILIKE %(pattern)s
   OR array_to_string(t.rcpt_to, ' ') ILIKE %(pattern)s;

-- name: find_oldest_trap_message :maybe
-- Id of the oldest message above one that matches the pattern.
SELECT t.id
FROM mailqueue.trap_messages AS t
WHERE (%(pattern)s::text IS NULL OR t.subject ILIKE %(pattern)s OR t.from_header ILIKE %(pattern)s
       OR t.to_header ILIKE %(pattern)s OR t.mail_from ILIKE %(pattern)s
       OR array_to_string(t.rcpt_to, ' ') ILIKE %(pattern)s)
  AND t.id > coalesce(%(after)s::bigint, 0)
ORDER BY t.id
LIMIT 1;

-- name: remove_trap_message :run
-- Delete one message.
DELETE FROM mailqueue.trap_messages AS t
WHERE t.id = %(id)s;

-- name: clear_trap_messages :run
-- Delete all messages.
DELETE FROM mailqueue.trap_messages;

-- name: find_trap_neighbours :one
-- The messages right before and after one, by age; NULL if there is none.
SELECT (SELECT max(t.id) FROM mailqueue.trap_messages AS t WHERE t.id < %(id)s) AS older,
       (SELECT min(t.id) FROM mailqueue.trap_messages AS t WHERE t.id > %(id)s) AS newer;
