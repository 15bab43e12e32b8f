-- Databases for the tests of applications.

-- name: has_mail_or_accounts :value
-- Whether there is anything that a test database does not have before its first test.
SELECT EXISTS (SELECT FROM mailqueue.sender_accounts) OR EXISTS (SELECT FROM mailqueue.email_queue)
       OR EXISTS (SELECT FROM mailqueue.email_history);

-- name: has_sender_account_named :value
-- Whether some project has a sender account of that name.
SELECT EXISTS (SELECT FROM mailqueue.sender_accounts AS a WHERE a.name = %(name)s);

-- name: next_unsent :maybe
-- The first email that is due or being sent, why it waits, and how many there are.
SELECT q.id, q.recipient_email AS recipient, mailqueue.why(q.id) AS why, count(*) OVER () AS unsent
FROM mailqueue.email_queue AS q
WHERE q.status = 'assigned' OR q.status = 'pending' AND q.run_at <= clock_timestamp()
ORDER BY q.run_at, q.id
LIMIT 1;
