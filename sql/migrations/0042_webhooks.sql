-- 0042_webhooks.sql
-- Adds:    webhooks, webhook_events, webhook_deliveries, webhook_attempts
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.webhooks (
    id                       uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id               uuid        NOT NULL REFERENCES mailqueue.projects (id),
    url                      text        NOT NULL,
    description              text,                           -- NULL: none was given
    event_types              text[]      NOT NULL DEFAULT '{}',  -- empty: all
    is_enabled               boolean     NOT NULL DEFAULT true,
    disabled_at              timestamptz,                    -- NULL while it is enabled
    disabled_reason          text,
    sealed_secret            bytea       NOT NULL,           -- see data_keys
    sealed_secret_previous   bytea,                          -- signs beside it until previous_until
    previous_until           timestamptz,
    revision                 integer     NOT NULL DEFAULT 1, -- grows when what a worker remembers of it is no longer true
    created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_at               timestamptz,                    -- its log is deleted in batches, then the row

    -- The circuit: what its answers say about the endpoint, not about one delivery.
    failures                 integer     NOT NULL DEFAULT 0, -- in a row
    failing_since            timestamptz,                    -- first failure of that row; NULL: the last answer was good
    circuit_opened_at        timestamptz,                    -- NULL: closed; else one delivery at a time finds out
    openings                 integer     NOT NULL DEFAULT 0, -- times in a row that it opened or stayed open
    blocked_until            timestamptz,                    -- nothing is delivered before
    probing_until            timestamptz,                    -- a probe is under way; nobody else sends one before

    CONSTRAINT webhooks_url_check CHECK (length(url) BETWEEN 1 AND 2000),
    CONSTRAINT webhooks_description_check CHECK (length(description) <= 500),
    CONSTRAINT webhooks_event_types_check CHECK (cardinality(event_types) <= 50),
    CONSTRAINT webhooks_disabled_check CHECK (is_enabled = (disabled_at IS NULL) AND is_enabled = (disabled_reason IS NULL)),
    CONSTRAINT webhooks_previous_check CHECK ((sealed_secret_previous IS NULL) = (previous_until IS NULL)),
    CONSTRAINT webhooks_removed_check CHECK (removed_at IS NULL OR NOT is_enabled)
) WITH (fillfactor = 50);
CREATE INDEX webhooks_project_idx ON mailqueue.webhooks (project_id, id);
CREATE INDEX webhooks_told_idx ON mailqueue.webhooks (project_id) WHERE is_enabled;
COMMENT ON TABLE mailqueue.webhooks IS
    'Addresses that projects want events sent to, and how each of them answers.';
COMMENT ON COLUMN mailqueue.webhooks.disabled_reason IS
    'operator: somebody switched it off; gone: it answered 410; failing: it failed for as long as setting webhook_give_up says; removed.';

CREATE TABLE mailqueue.webhook_events (
    id           uuid        NOT NULL PRIMARY KEY,           -- the webhook-id; of email_events where it is told there too
    project_id   uuid        NOT NULL,
    type         text        NOT NULL,
    email_id     uuid,                                       -- NULL: a test
    occurred_at  timestamptz NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    payload      json        NOT NULL                        -- the body, octet for octet
) WITH (autovacuum_vacuum_insert_threshold = 100000);
CREATE INDEX webhook_events_email_idx ON mailqueue.webhook_events (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX webhook_events_age_idx ON mailqueue.webhook_events USING brin (created_at);
COMMENT ON TABLE mailqueue.webhook_events IS
    'What webhooks are told, stored once however many of them are told it and however often.';

CREATE SEQUENCE mailqueue.webhook_claim_no_seq;
COMMENT ON SEQUENCE mailqueue.webhook_claim_no_seq IS 'Numbers of claims of webhook_deliveries; never reused.';

CREATE TABLE mailqueue.webhook_deliveries (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL,
    webhook_id    uuid        NOT NULL,
    event_id      uuid        NOT NULL,
    type          text        NOT NULL,

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,            -- 0 critical to 3 low
    run_at        timestamptz NOT NULL DEFAULT clock_timestamp(),  -- never claimed before this
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 7,            -- at once, then as webhook_wait() says
    claim_no      bigint,                                    -- fence: one number a claim, never reused
    claimed_by    text,                                      -- host and process; the lease decides, not this
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),

    last_code     smallint,                                  -- HTTP status of the last answer; NULL: there was none
    finished_at   timestamptz,                               -- NULL while it may be tried again

    CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('pending', 'assigned', 'delivered', 'failed', 'cancelled')),
    CONSTRAINT webhook_deliveries_claim_check
        CHECK ((status = 'assigned') = (claim_no IS NOT NULL AND lease_until IS NOT NULL)),
    CONSTRAINT webhook_deliveries_finished_check
        CHECK ((status IN ('pending', 'assigned')) = (finished_at IS NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX webhook_deliveries_claim_idx ON mailqueue.webhook_deliveries (webhook_id, run_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_lease_idx ON mailqueue.webhook_deliveries (lease_until) WHERE status = 'assigned';
CREATE INDEX webhook_deliveries_log_idx ON mailqueue.webhook_deliveries (webhook_id, id);
COMMENT ON TABLE mailqueue.webhook_deliveries IS
    'One event on its way to one webhook, and afterwards the log of it. At least once; no order is promised.';
COMMENT ON COLUMN mailqueue.webhook_deliveries.claim_no IS
    'Number of the claim that holds the row. Writes that name another number change nothing.';

CREATE TABLE mailqueue.webhook_attempts (
    delivery_id      uuid        NOT NULL,
    tried_at         timestamptz NOT NULL,
    project_id       uuid        NOT NULL,
    webhook_id       uuid        NOT NULL,
    attempt          smallint    NOT NULL,
    status_code      smallint,                               -- NULL: no answer
    error            text,                                   -- NULL: it was delivered
    took_ms          integer     NOT NULL,
    request_headers  jsonb       NOT NULL,                   -- without signatures
    response         text,                                   -- the first 4 kB; NULL: no answer

    CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, tried_at)
) WITH (autovacuum_vacuum_insert_threshold = 100000);
COMMENT ON TABLE mailqueue.webhook_attempts IS
    'A row for each time an endpoint was called: what was said and how long it took.';
