-- Why has the mail to this address not been sent? Put the address in, in lower case; newest first.
SELECT r.email_id, r.subject, r.status, r.created_at, mailqueue.why(r.email_id)
FROM mailqueue.recipient_history AS r
WHERE r.address = 'ann@example.com'
ORDER BY r.created_at DESC
LIMIT 20;
