-- 0024_administration.sql
-- Adds:    what more a project says of itself, deleted projects, administrators, flags and lists among the settings
-- Running workers: not affected
-- Locks:   projects, audit_events and system_settings for a moment

ALTER TABLE mailqueue.projects
    ADD COLUMN display_name   text,                          -- as people call it; NULL: name
    ADD COLUMN description    text,
    ADD COLUMN postal_address text,                          -- for the footer of marketing mail; NULL: not said
    ADD COLUMN delivery       text,                          -- of mail that says none; NULL: as its category
    ADD COLUMN suspended_at   timestamptz,
    ADD COLUMN deleted_at     timestamptz,                   -- NULL: it is there
    ADD CONSTRAINT projects_delivery_check CHECK (delivery IN ('resend', 'hold')) NOT VALID,
    ADD CONSTRAINT projects_texts_check CHECK (
        length(display_name) BETWEEN 1 AND 200 AND length(description) <= 2000 AND length(postal_address) BETWEEN 1 AND 500) NOT VALID,
    -- Whatever holds a suspended project holds a deleted one.
    ADD CONSTRAINT projects_deleted_check CHECK (deleted_at IS NULL OR status = 'suspended') NOT VALID;
COMMENT ON COLUMN mailqueue.projects.deleted_at IS
    'Set where the project is deleted: it takes no mail, sends none and has no keys in force. Its name stays taken, as its records go by it.';

CREATE TABLE mailqueue.administrators (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    name          text        NOT NULL,
    token_hash    bytea       NOT NULL,                      -- SHA-256 of the whole token; the token itself is shown once
    hint          text        NOT NULL,                      -- its first characters, to recognise it by
    created_by    text        NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz,                               -- NULL: never
    revoked_at    timestamptz,                               -- NULL: in force
    last_used_at  timestamptz,                               -- NULL: never used

    CONSTRAINT administrators_name_key UNIQUE (name),
    CONSTRAINT administrators_token_hash_key UNIQUE (token_hash),
    CONSTRAINT administrators_name_check CHECK (name ~ '^[^[:cntrl:]]{1,100}$')
);
COMMENT ON TABLE mailqueue.administrators IS
    'Who may administer the whole installation over HTTP by a token of ours. Only hashes are stored. Names are not used again: the audit goes by them.';

ALTER TABLE mailqueue.system_settings
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT system_settings_kind_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT system_settings_value_check,
    ADD CONSTRAINT system_settings_kind_check CHECK (kind IN ('interval', 'count', 'bytes', 'flag', 'list')) NOT VALID,
    ADD CONSTRAINT system_settings_value_check CHECK (
        CASE kind WHEN 'interval' THEN value::interval >= interval '0'
                  WHEN 'count' THEN value::bigint >= 0
                  WHEN 'bytes' THEN pg_size_bytes(value) >= 0
                  WHEN 'flag' THEN value IN ('on', 'off')
                  WHEN 'list' THEN value ~ '^[^,[:space:][:cntrl:]]+(, [^,[:space:][:cntrl:]]+)*$'
                  ELSE false END) NOT VALID;
COMMENT ON TABLE mailqueue.system_settings IS
    'What holds for the whole installation: thresholds of health and of refusing mail, bounds of projects, and flags (on, off). UPDATE value to change one; it holds at once.';

-- Whoever acts for a person says so for the transaction; functions that write the audit need not be told.
ALTER TABLE mailqueue.audit_events
    ALTER COLUMN actor SET DEFAULT coalesce(nullif(current_setting('mailqueue.actor', true), ''), session_user);
