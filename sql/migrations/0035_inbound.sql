-- 0035_inbound.sql
-- Adds:    inbound_endpoints, inbound_events, how long they and keys of events are kept
-- Running workers: not affected
-- Locks:   retention_rules for a moment; it holds few rows

CREATE TABLE mailqueue.inbound_endpoints (
    id                 uuid        NOT NULL PRIMARY KEY,     -- given before the row, so that what is sealed is bound to it
    project_id         uuid        NOT NULL REFERENCES mailqueue.projects (id),
    sender_account_id  integer     NOT NULL REFERENCES mailqueue.sender_accounts (id) ON DELETE CASCADE,
    provider           text        NOT NULL,                 -- word of its URL
    token_hash         bytea       NOT NULL,                 -- SHA-256 of the token of its URL
    sealed             bytea       NOT NULL,                 -- the token, and what the provider proves itself by; see data_keys
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbound_endpoints_account_key UNIQUE (sender_account_id, provider),
    CONSTRAINT inbound_endpoints_token_hash_key UNIQUE (token_hash),
    CONSTRAINT inbound_endpoints_provider_check CHECK (provider ~ '^[a-z][a-z0-9]{1,30}$'),
    CONSTRAINT inbound_endpoints_token_check CHECK (octet_length(token_hash) = 32)
);
CREATE INDEX inbound_endpoints_project_idx ON mailqueue.inbound_endpoints (project_id);
COMMENT ON TABLE mailqueue.inbound_endpoints IS
    'URLs that providers tell their events to, one for each sender account and provider.';

CREATE TABLE mailqueue.inbound_events (
    id                 uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id         uuid,                                 -- NULL: it came by no account
    sender_account_id  integer,
    provider           text        NOT NULL,                 -- ses, sendgrid, …; smtp: a bounce mail
    dedupe_key         uuid,                                 -- 128 bits of SHA-256 of what its provider calls it; NULL: each is another
    headers            jsonb       NOT NULL DEFAULT '{}',    -- those that say how to read it
    query              jsonb       NOT NULL DEFAULT '{}',
    body               bytea,                                -- as it came; NULL once its time is over
    confirm_url        text,                                 -- to be fetched once; NULL: nothing to confirm
    received_at        timestamptz NOT NULL DEFAULT clock_timestamp(),

    -- Queue contract: these columns stand in every queue table.
    status             text        NOT NULL DEFAULT 'pending',
    priority           smallint    NOT NULL DEFAULT 2,
    run_at             timestamptz NOT NULL DEFAULT now(),   -- never claimed before this
    attempts           smallint    NOT NULL DEFAULT 0,
    max_attempts       smallint    NOT NULL DEFAULT 8,
    claim_no           bigint,                               -- fence: one number a claim, never reused
    worker_id          integer,                              -- of no worker that beats: its lease says how long it holds
    assigned_at        timestamptz,
    lease_until        timestamptz,
    last_error         text,
    created_at         timestamptz NOT NULL DEFAULT now(),

    waiting            integer[],                            -- places of its events that still have no mail; NULL: not looked at yet
    outcome            jsonb       NOT NULL DEFAULT '{}',    -- how many of its events became what
    wait_until         timestamptz NOT NULL DEFAULT now() + interval '3 days',  -- events that have no mail by then are given up
    finished_at        timestamptz,

    CONSTRAINT inbound_events_status_check CHECK (status IN ('pending', 'assigned', 'processed', 'unmatched', 'failed')),
    CONSTRAINT inbound_events_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL)),
    CONSTRAINT inbound_events_finished_check CHECK ((status IN ('processed', 'unmatched', 'failed')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE UNIQUE INDEX inbound_events_dedupe_key ON mailqueue.inbound_events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX inbound_events_claim_idx ON mailqueue.inbound_events (run_at, id) WHERE status = 'pending';
CREATE INDEX inbound_events_lease_idx ON mailqueue.inbound_events (lease_until) WHERE status = 'assigned';
CREATE INDEX inbound_events_failed_idx ON mailqueue.inbound_events (finished_at) WHERE status IN ('failed', 'unmatched');
CREATE INDEX inbound_events_project_idx ON mailqueue.inbound_events (project_id, id);
CREATE INDEX inbound_events_received_at_idx ON mailqueue.inbound_events USING brin (received_at) WITH (pages_per_range = 16);
COMMENT ON TABLE mailqueue.inbound_events IS
    'What providers told, as it came and proved, until it is read; and bounce mail. processed: all of it is recorded, or nothing we act on; unmatched: of no mail we know, even days later; failed: it could not be read.';
COMMENT ON COLUMN mailqueue.inbound_events.claim_no IS
    'Number of the claim that holds the row. Writes that name another number change nothing.';

-- More words, whichever there are already.
DO $$
DECLARE
    v_rule text := (SELECT pg_get_constraintdef(c.oid) FROM pg_catalog.pg_constraint AS c
                     WHERE c.conrelid = 'mailqueue.retention_rules'::regclass AND c.conname = 'retention_rules_kind_check');
BEGIN
    ALTER TABLE mailqueue.retention_rules DROP CONSTRAINT retention_rules_kind_check, DROP CONSTRAINT retention_rules_project_check;
    EXECUTE 'ALTER TABLE mailqueue.retention_rules ADD CONSTRAINT retention_rules_kind_check '
            || replace(v_rule, '''limit_days''::text', '''limit_days''::text, ''event_keys''::text, ''inbound_events''::text');
    ALTER TABLE mailqueue.retention_rules ADD CONSTRAINT retention_rules_project_check CHECK (
        project_id IS NULL OR kind NOT IN ('trap_messages', 'workers', 'limit_days', 'event_keys', 'inbound_events'));
END $$;

-- An event whose mail is gone is recorded no more: its key need only outlive the mail.
INSERT INTO mailqueue.retention_rules (kind, hot_days, warm_days, keep_days) VALUES
    ('event_keys', 400, NULL, 400),
    ('inbound_events', 30, NULL, 30);
