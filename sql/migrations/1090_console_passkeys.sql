-- 1090_console_passkeys.sql
-- Adds:    passkeys of users of the console, and the challenges that were given out for them
-- Running workers: not affected
-- Locks:   none on existing tables but console_users for a moment, for the reference to it

CREATE TABLE mailqueue.console_passkeys (
    id             uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    user_id        uuid        NOT NULL REFERENCES mailqueue.console_users ON DELETE CASCADE,
    credential_id  bytea       NOT NULL,                     -- by which a device names the key
    public_key     bytea       NOT NULL,                     -- a COSE key (RFC 9052)
    sign_count     bigint      NOT NULL,                     -- of the last use; 0: the device does not count
    transports     text[]      NOT NULL DEFAULT '{}',        -- ways to the device: internal, hybrid, usb, ...
    name           text        NOT NULL,
    added_at       timestamptz NOT NULL DEFAULT now(),
    used_at        timestamptz,                              -- NULL: not yet

    CONSTRAINT console_passkeys_credential_id_key UNIQUE (credential_id),
    CONSTRAINT console_passkeys_name_check CHECK (name ~ '^[^[:cntrl:]]{1,100}$')
);
CREATE INDEX console_passkeys_user_idx ON mailqueue.console_passkeys (user_id);
COMMENT ON TABLE mailqueue.console_passkeys IS
    'Passkeys (WebAuthn) of users of the console who have a password: public keys, whose private ones stay in devices.';

CREATE TABLE mailqueue.console_challenges (
    bound_hash  bytea       NOT NULL PRIMARY KEY,            -- SHA-256 of its purpose, and of the session or browser
    challenge   bytea       NOT NULL,
    ends_at     timestamptz NOT NULL
);
CREATE INDEX console_challenges_ends_at_idx ON mailqueue.console_challenges (ends_at);
COMMENT ON TABLE mailqueue.console_challenges IS
    'Challenges that passkeys sign, each once: the latest of a session or browser for one purpose.';
