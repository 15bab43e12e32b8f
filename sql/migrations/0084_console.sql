-- 0084_console.sql
-- Adds:    people who log in to the console, their projects, their sessions, used action tokens and login attempts
-- Running workers: not affected
-- Locks:   projects for a moment: no row is read or written

CREATE TABLE mailqueue.console_users (
    id             uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    name           text        NOT NULL,
    role           text        NOT NULL,
    sees_all       boolean     NOT NULL DEFAULT false,       -- every project, present and future
    password_hash  text,                                     -- Argon2id with its parameters; NULL: none was set
    link_hash      bytea,                                    -- SHA-256 of the token of the link that sets the password
    link_until     timestamptz,
    created_by     text        NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    last_login_at  timestamptz,                              -- NULL: never
    removed_at     timestamptz,                              -- NULL: may log in

    CONSTRAINT console_users_link_hash_key UNIQUE (link_hash),
    CONSTRAINT console_users_name_check CHECK (name ~ '^[^/[:cntrl:]]{1,100}$'),
    CONSTRAINT console_users_role_check CHECK (role IN ('superadmin', 'project_admin', 'support', 'viewer')),
    CONSTRAINT console_users_all_check CHECK (sees_all OR role <> 'superadmin'),
    CONSTRAINT console_users_link_check CHECK ((link_hash IS NULL) = (link_until IS NULL))
);
CREATE UNIQUE INDEX console_users_name_idx ON mailqueue.console_users (lower(name));
COMMENT ON TABLE mailqueue.console_users IS
    'People who log in to the console with a password. Names are not used again: the audit goes by them.';

CREATE TABLE mailqueue.console_members (
    user_id     uuid        NOT NULL REFERENCES mailqueue.console_users,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects,
    added_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, project_id)
);
CREATE INDEX console_members_project_idx ON mailqueue.console_members (project_id);
COMMENT ON TABLE mailqueue.console_members IS
    'The projects that a user of the console sees, unless the user sees all.';

CREATE TABLE mailqueue.console_sessions (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    user_id       uuid        NOT NULL REFERENCES mailqueue.console_users,
    token_hash    bytea       NOT NULL,                      -- SHA-256 of the token in the cookie
    browser_hash  bytea       NOT NULL,                      -- SHA-256 of the token that stays in the browser
    address       inet,                                      -- of the client; NULL: not known
    user_agent    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    used_at       timestamptz NOT NULL DEFAULT now(),        -- to the minute
    expires_at    timestamptz NOT NULL,
    ended_at      timestamptz,                               -- NULL: not ended
    CONSTRAINT console_sessions_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX console_sessions_user_idx ON mailqueue.console_sessions (user_id, browser_hash);
CREATE INDEX console_sessions_expires_at_idx ON mailqueue.console_sessions (expires_at);
COMMENT ON TABLE mailqueue.console_sessions IS
    'Logins of users of the console. Only hashes of the tokens are stored.';

CREATE TABLE mailqueue.console_actions (
    token_hash  bytea       NOT NULL PRIMARY KEY,            -- SHA-256 of the token in the form
    used_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX console_actions_used_at_idx ON mailqueue.console_actions (used_at);
COMMENT ON TABLE mailqueue.console_actions IS
    'Forms of the console that were sent: each acts once, whatever is clicked twice or sent again.';

CREATE TABLE mailqueue.console_attempts (
    client_hash  bytea       NOT NULL PRIMARY KEY,           -- SHA-256 of the network or browser
    next_at      timestamptz NOT NULL                        -- theoretical arrival time of the next attempt
);
CREATE INDEX console_attempts_next_at_idx ON mailqueue.console_attempts (next_at);
COMMENT ON TABLE mailqueue.console_attempts IS
    'How many attempts to log in came from each network or browser, as a theoretical arrival time (GCRA).';
