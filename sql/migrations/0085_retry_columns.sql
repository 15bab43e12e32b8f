-- 0085_retry_columns.sql
-- Adds:    columns of email_queue for INSERT only: tracking_token, max_retries, next_retry_at
-- Running workers: not affected
-- Locks:   email_queue for a moment: no row is read or written

ALTER TABLE mailqueue.email_queue
    ADD COLUMN tracking_token text,
    ADD COLUMN max_retries    integer,
    ADD COLUMN next_retry_at  timestamptz;
