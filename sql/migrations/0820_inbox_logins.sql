-- 0820_inbox_logins.sql
-- Adds:    inbox_logins, inbox_links, inbox_sessions: persons whose inboxes are watched log in
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.inbox_logins (
    user_id       uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id),
    password_hash text        NOT NULL,
    last_login_at timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX inbox_logins_project_idx ON mailqueue.inbox_logins (project_id);
COMMENT ON TABLE mailqueue.inbox_logins IS
    'Passwords with which persons whose inboxes are watched log in to their pages; hashes only.';

CREATE TABLE mailqueue.inbox_links (
    token_hash bytea       NOT NULL PRIMARY KEY,
    project_id uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id    uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    kind       text        NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbox_links_kind_check CHECK (kind IN ('invitation', 'reset')),
    CONSTRAINT inbox_links_expires_check CHECK (isfinite(expires_at))
);
CREATE INDEX inbox_links_user_idx ON mailqueue.inbox_links (user_id);
CREATE INDEX inbox_links_project_idx ON mailqueue.inbox_links (project_id);
CREATE INDEX inbox_links_expires_at_idx ON mailqueue.inbox_links (expires_at);
COMMENT ON TABLE mailqueue.inbox_links IS
    'Links by which persons whose inboxes are watched set a password; each works once. Hashes of their tokens only.';

CREATE TABLE mailqueue.inbox_sessions (
    id           uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id      uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    email        text        NOT NULL,
    token_hash   bytea       NOT NULL,
    browser_hash bytea       NOT NULL,
    address      inet,
    user_agent   text,
    used_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbox_sessions_token_hash_key UNIQUE (token_hash),
    CONSTRAINT inbox_sessions_expires_check CHECK (isfinite(expires_at))
) WITH (fillfactor = 80);
CREATE INDEX inbox_sessions_user_idx ON mailqueue.inbox_sessions (user_id);
CREATE INDEX inbox_sessions_project_idx ON mailqueue.inbox_sessions (project_id);
CREATE INDEX inbox_sessions_expires_at_idx ON mailqueue.inbox_sessions (expires_at);
COMMENT ON TABLE mailqueue.inbox_sessions IS
    'Sessions of persons whose inboxes are watched, apart from those of the console; hashes of their tokens only.';
