-- 0023_api.sql
-- Adds:    scopes, rates and rotation of API keys, answers kept for idempotency keys, buckets of requests
-- Running workers: not affected
-- Locks:   api_keys and projects for a moment; api_keys is read once, and holds few rows

ALTER TABLE mailqueue.api_keys
    ADD COLUMN scopes           text[]  NOT NULL DEFAULT '{email:send,email:read,template:read,template:write,analytics:read,suppression:manage,webhook:manage,project:read,project:write}',
    ADD COLUMN requests_per_second integer,                  -- NULL: as the installation says for every key
    -- squawk-ignore adding-field-with-default
    ADD COLUMN created_by       text    NOT NULL DEFAULT coalesce(nullif(current_setting('mailqueue.actor', true), ''), session_user),
    ADD COLUMN last_used_from   inet,                        -- NULL: not known
    ADD COLUMN rotated_at       timestamptz,                 -- a key of the same name took its place, and it ends at expires_at
    ADD COLUMN revoked_reason   text,                        -- NULL: none was given
    ADD CONSTRAINT api_keys_scopes_check CHECK (
        cardinality(scopes) > 0 AND scopes <@ '{email:send,email:read,template:read,template:write,analytics:read,suppression:manage,webhook:manage,project:read,project:write}'::text[]) NOT VALID,
    ADD CONSTRAINT api_keys_requests_check CHECK (requests_per_second BETWEEN 1 AND 1000000) NOT VALID,
    ADD CONSTRAINT api_keys_rotated_check CHECK (rotated_at IS NULL OR expires_at IS NOT NULL) NOT VALID,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT api_keys_project_id_name_key;
COMMENT ON COLUMN mailqueue.api_keys.rotated_at IS
    'Set when another key took the name. Until expires_at both work, so that nobody who uses it is shut out.';

-- Keys that are over, or going, leave their name to others.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX api_keys_project_id_name_key ON mailqueue.api_keys (project_id, name)
    WHERE revoked_at IS NULL AND rotated_at IS NULL;

ALTER TABLE mailqueue.projects
    ADD COLUMN requests_per_second integer,                  -- of all its keys together; NULL: only each key is bounded
    ADD CONSTRAINT projects_requests_check CHECK (requests_per_second BETWEEN 1 AND 1000000) NOT VALID;

CREATE TABLE mailqueue.idempotent_answers (
    project_id   uuid        NOT NULL,                       -- all zeros: of an administrator, who has no project
    key          text        NOT NULL,
    fingerprint  bytea       NOT NULL,                       -- SHA-256 of method, path, query and body
    status       smallint,                                   -- NULL: nobody knows what became of it, or not yet
    content_type text,
    body         bytea,                                      -- without secrets that are shown once
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT idempotent_answers_pkey PRIMARY KEY (project_id, key),
    CONSTRAINT idempotent_answers_key_check CHECK (length(key) BETWEEN 1 AND 255)
);
CREATE INDEX idempotent_answers_age_idx ON mailqueue.idempotent_answers (created_at);
COMMENT ON TABLE mailqueue.idempotent_answers IS
    'What requests under an Idempotency-Key were answered, for 24 hours. Mail of POST /v1/send has its keys in idempotency_keys.';

CREATE TABLE mailqueue.request_buckets (
    id          uuid             NOT NULL PRIMARY KEY,       -- of a key or a project
    tokens      double precision NOT NULL,                   -- requests it may still make at once
    granted     double precision NOT NULL,                   -- what the last lease took
    filled_at   timestamptz      NOT NULL                    -- when tokens was true
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.request_buckets IS
    'How many requests keys and projects may make. Processes of the API lease some at a time. Losing it costs nothing.';
