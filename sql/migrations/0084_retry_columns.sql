-- 0084_retry_columns.sql
-- Adds:    columns of email_queue for INSERT only: tracking_token, max_retries, next_retry_at
-- Running workers: not affected
-- Locks:   email_queue for a moment: no row is read or written

ALTER TABLE mailqueue.email_queue
    ADD COLUMN tracking_token text,
    ADD COLUMN max_retries    integer,
    ADD COLUMN next_retry_at  timestamptz;
COMMENT ON COLUMN mailqueue.email_queue.tracking_token IS
    'For INSERT only: a name of your own for the mail, kept in custom_data under this key.';
COMMENT ON COLUMN mailqueue.email_queue.max_retries IS
    'For INSERT only: attempts after the first; max_attempts is one more.';
COMMENT ON COLUMN mailqueue.email_queue.next_retry_at IS
    'For INSERT only: the same as run_at; the later of both holds.';
