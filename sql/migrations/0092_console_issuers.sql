-- 0092_console_issuers.sql
-- Adds:    users of the console who log in at an OpenID Connect issuer
-- Running workers: not affected
-- Locks:   console_users for a moment: it has few rows

ALTER TABLE mailqueue.console_users
    ADD COLUMN issuer text,                                  -- NULL: the user logs in with a password
    ADD COLUMN subject text;                                 -- the user's name there, which never changes

ALTER TABLE mailqueue.console_users
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT console_users_issuer_check CHECK ((issuer IS NULL) = (subject IS NULL)),
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT console_users_password_check CHECK (issuer IS NULL OR (password_hash IS NULL AND link_hash IS NULL));

-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX console_users_subject_idx ON mailqueue.console_users (issuer, subject) WHERE issuer IS NOT NULL;
