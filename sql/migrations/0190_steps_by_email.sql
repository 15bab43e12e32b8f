-- no-transaction
-- 0190_steps_by_email.sql
-- Adds:    an index by which an event of a mail finds the enrollment whose step made the mail
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS enrollment_steps_email_idx ON mailqueue.enrollment_steps (email_id)
    WHERE email_id IS NOT NULL;
