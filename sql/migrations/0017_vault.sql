-- 0017_vault.sql
-- Adds:    key_grants, data keys wrapped by a project's own key, locked projects
-- Running workers: go on; those of an older version cannot open what is wrapped by a project's own key
-- Locks:   data_keys, limits and lanes for a moment: few rows of data_keys are written, no others

ALTER TABLE mailqueue.data_keys
    ADD COLUMN wrapped_by text NOT NULL DEFAULT 'platform',
    ADD COLUMN made_under text,                             -- the master key in force when it was made
    ADD COLUMN retired_at timestamptz,                      -- nothing is sealed with it since
    ADD CONSTRAINT data_keys_wrapped_by_check CHECK (wrapped_by IN ('platform', 'own')) NOT VALID;
UPDATE mailqueue.data_keys SET made_under = master_key_id;
COMMENT ON COLUMN mailqueue.data_keys.wrapped_by IS
    'platform: by the master key that master_key_id names; own: by a key that only the project has, named there too.';
COMMENT ON COLUMN mailqueue.data_keys.made_under IS
    'Master key in force when this key was made: once that one is replaced, this one is, too.';

CREATE TABLE mailqueue.key_grants (
    data_key_id    uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.data_keys (id) ON DELETE CASCADE,
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id),
    master_key_id  text        NOT NULL,                    -- which master key wraps it
    wrapped        bytea       NOT NULL,                    -- bound to expires_at too
    expires_at     timestamptz NOT NULL,
    granted_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    granted_by     text        NOT NULL
);
COMMENT ON TABLE mailqueue.key_grants IS
    'Data keys of projects that have a key of their own, for as long as the project lets us use them. Deleted when that is over.';

ALTER TABLE mailqueue.limits
    ADD COLUMN locked_from timestamptz;                     -- NULL: never
COMMENT ON COLUMN mailqueue.limits.locked_from IS
    'Of a project with a key of its own: from then on its secrets cannot be opened and its mail waits.';

ALTER TABLE mailqueue.lanes
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit', 'rate',
        'domain_rate', 'paused', 'suspended', 'unreachable', 'no_sender', 'set_aside', 'locked')) NOT VALID;
