-- 0033_sender_names.sql
-- Adds:    names of sender accounts with spaces between their words
-- Running workers: not affected
-- Locks:   sender_accounts for a moment: no row is read or written again
ALTER TABLE mailqueue.sender_accounts
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT sender_accounts_name_check,
    ADD CONSTRAINT sender_accounts_name_check
        CHECK (length(name) <= 128 AND name ~ '^[A-Za-z0-9][A-Za-z0-9._@+-]*( [A-Za-z0-9._@+-]+)*$') NOT VALID;
