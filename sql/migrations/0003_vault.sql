-- 0003_vault.sql
-- Adds:    data_keys
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.data_keys (
    id             uuid        NOT NULL PRIMARY KEY,
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id),
    master_key_id  text        NOT NULL,                    -- which master key wraps it
    wrapped        bytea,                                   -- NULL once destroyed
    state          text        NOT NULL DEFAULT 'active',
    created_at     timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT data_keys_state_check
        CHECK (state IN ('active', 'decrypt_only', 'retired', 'destroyed')),
    CONSTRAINT data_keys_wrapped_check CHECK ((state = 'destroyed') = (wrapped IS NULL))
);
CREATE UNIQUE INDEX data_keys_active_key ON mailqueue.data_keys (project_id) WHERE state = 'active';
COMMENT ON TABLE mailqueue.data_keys IS
    'One key a project seals its secrets with, itself sealed under the master key, which is not in the database.';
