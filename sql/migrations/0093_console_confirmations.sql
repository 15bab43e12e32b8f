-- 0093_console_confirmations.sql
-- Adds:    when the user of a session last proved to be its user
-- Running workers: not affected
-- Locks:   console_sessions for a moment: no row is read or written

ALTER TABLE mailqueue.console_sessions
    ADD COLUMN confirmed_at timestamptz NOT NULL DEFAULT now();
