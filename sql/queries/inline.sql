-- Mail that is sent while its caller waits, by a server the caller names.

-- name: begin_inline :one
-- Accept, claim and mark one mail in one commit; state is sending, suppressed or duplicate. Bad input raises 22023, a limit 53400.
SELECT b.id, b.state, b.reason, b.worker_id, b.claim_no, b.recipients, b.category, b.recipient_email, b.recipient_name,
       b.content_id, b.content_on, b.subject, b.html_body, b.text_body, b.from_email, b.from_name, b.reply_to, b.headers, b.files
FROM mailqueue.begin_inline(%(project)s, %(message)s::jsonb, %(host)s, %(pid)s, %(version)s) AS b;

-- name: settle_inline :value
-- Record what became of it; false where a rescue had held it meanwhile.
SELECT mailqueue.settle_inline(%(worker)s, %(id)s, %(claim)s, %(outcome)s, %(reason)s, %(spent)s, %(log)s, %(message_id)s, %(code)s,
    %(enhanced)s, %(reply)s, %(ms)s, %(hard)s, %(addresses)s::text[], %(statuses)s::text[], %(reasons)s::text[], %(codes)s::text[],
    %(hards)s::boolean[]);
