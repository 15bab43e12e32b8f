-- 1011_reset_links.sql
-- Adds:    reset_hash and reset_until of console_users: a link that was asked for on the login page, beside another
-- Running workers: not affected; a console of the release before replaces the link that an administrator handed over
-- Locks:   console_users for a moment

ALTER TABLE mailqueue.console_users
    ADD COLUMN reset_hash  bytea,
    ADD COLUMN reset_until timestamptz,
    ADD CONSTRAINT console_users_reset_check
        CHECK ((reset_hash IS NULL) = (reset_until IS NULL) AND (reset_hash IS NULL OR issuer IS NULL)) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX console_users_reset_hash_idx ON mailqueue.console_users (reset_hash);
