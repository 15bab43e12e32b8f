-- 1024_paused_inboxes.sql
-- Adds:    mailboxes.paused_by: a paused inbox stays in the queue, where its login is checked once a day
-- Running workers: not affected; those of the release before scan a paused inbox after a day, and report nothing of it
-- Locks:   mailboxes for a moment, then the rows of paused inboxes

ALTER TABLE mailqueue.mailboxes ADD COLUMN paused_by text;
UPDATE mailqueue.mailboxes
   SET status = 'pending', paused_by = coalesce(substring(last_error FROM '^paused by (.+)$'), 'the release before'),
       last_error = NULL, run_at = now() + interval '1 day'
 WHERE status = 'held';
