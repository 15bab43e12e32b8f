-- 0099_second_factors.sql
-- Adds:    second factors of users of the console who have a password, and their recovery codes
-- Running workers: not affected
-- Locks:   none on existing tables but console_users for a moment, for the reference to it

CREATE TABLE mailqueue.console_second_factors (
    user_id        uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.console_users,
    master_key_id  text        NOT NULL,                     -- which master key seals the secret
    sealed         bytea       NOT NULL,                     -- the secret of the codes (RFC 6238)
    session_id     uuid        NOT NULL,                     -- the session that has seen the secret
    begun_at       timestamptz NOT NULL DEFAULT now(),
    turned_on_at   timestamptz,                              -- NULL: not yet, the login does not ask for it
    last_step      bigint      NOT NULL DEFAULT 0            -- time step of the latest code that was used
);
COMMENT ON TABLE mailqueue.console_second_factors IS
    'Second factors of users of the console who have a password: one-time codes by time. Each code acts once.';

CREATE TABLE mailqueue.console_recovery_codes (
    user_id    uuid        NOT NULL REFERENCES mailqueue.console_second_factors ON DELETE CASCADE,
    code_hash  bytea       NOT NULL,                         -- SHA-256 of the user's id and the code
    used_at    timestamptz,                                  -- NULL: not used
    PRIMARY KEY (user_id, code_hash)
);
COMMENT ON TABLE mailqueue.console_recovery_codes IS
    'Codes that stand in for the second factor of a user, each once. Only their hashes are stored.';
