-- 0002_tenants.sql
-- Adds:    projects, api_keys, idempotency_keys, audit_events
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.projects (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    name             text        NOT NULL,
    status           text        NOT NULL DEFAULT 'active',
    status_reason    text,                                  -- why it is suspended
    from_email       text,                                  -- NULL: the sender account's own address
    from_name        text,
    reply_to         text,
    daily_limit      integer,                               -- recipients a day; NULL: none
    rate_per_second  numeric,                               -- recipients a second; NULL: none
    burst            integer     NOT NULL DEFAULT 200,      -- how far the rate may be ahead of itself
    time_zone        text        NOT NULL DEFAULT 'UTC',    -- where its day begins at midnight
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT projects_name_key UNIQUE (name),
    CONSTRAINT projects_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    CONSTRAINT projects_status_check CHECK (status IN ('active', 'suspended')),
    CONSTRAINT projects_daily_limit_check CHECK (daily_limit >= 0),
    CONSTRAINT projects_rate_check CHECK (rate_per_second > 0 AND burst > 0)
);
COMMENT ON TABLE mailqueue.projects IS 'Tenants. Every other row belongs to one of them.';

CREATE TABLE mailqueue.api_keys (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name          text        NOT NULL,
    key_hash      bytea       NOT NULL,                     -- SHA-256 of the whole key; the key itself is shown once
    hint          text        NOT NULL,                     -- its first characters, to recognise it by
    is_test       boolean     NOT NULL,                     -- its mail goes to the trap only
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz,                              -- NULL: never
    revoked_at    timestamptz,                              -- NULL: in force
    last_used_at  timestamptz,                              -- NULL: never used

    CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
    CONSTRAINT api_keys_project_id_name_key UNIQUE (project_id, name)
);
COMMENT ON TABLE mailqueue.api_keys IS 'Keys of the HTTP API, one project each. Only hashes are stored.';

CREATE TABLE mailqueue.idempotency_keys (
    project_id    uuid        NOT NULL,
    key           text        NOT NULL,
    fingerprint   bytea       NOT NULL,                     -- SHA-256 of what was accepted under the key
    email_id      uuid        NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (project_id, key)
);
COMMENT ON TABLE mailqueue.idempotency_keys IS
    'One acceptance per project and key: twins get the same email, another body is refused.';

CREATE TABLE mailqueue.audit_events (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id    uuid,                                     -- NULL: concerns the whole installation
    occurred_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor         text        NOT NULL DEFAULT session_user,
    action        text        NOT NULL,                     -- noun.past_verb
    subject       text        NOT NULL,                     -- what it was done to
    detail        jsonb       NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE mailqueue.audit_events IS 'Who changed what, append-only.';

INSERT INTO mailqueue.projects (name) VALUES ('default');
