-- Handing mail in from Python; what is accepted and in which words it is refused stands in the functions.

-- name: enqueue_email :value
-- Accept one mail in the caller's transaction; its id. Bad input raises 22023 naming the field.
SELECT mailqueue.enqueue(project => %(project)s, recipient => %(recipient)s, subject => %(subject)s,
                         html => %(html)s, text => %(text)s, options => %(options)s::jsonb);

-- name: enqueue_batch :many
-- Accept many mails in the caller's transaction; a row for each in order, also for those refused.
SELECT b.index, b.id, b.status, b.reason
FROM mailqueue.enqueue_batch(%(project)s, %(messages)s::jsonb) AS b
ORDER BY b.index;
