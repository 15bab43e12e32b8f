-- 0110_publishing.sql
-- Adds:    outbox_state, outbox_message: messages that services write in their own transactions, published in order
-- Running workers: not affected
-- Locks:   none on existing tables

-- The first six columns are those of MassTransit's outbox.
CREATE TABLE mailqueue.outbox_state (
    outbox_id             uuid        NOT NULL PRIMARY KEY,
    lock_id               uuid        NOT NULL,
    row_version           bytea,
    created               timestamptz NOT NULL,
    delivered             timestamptz,
    last_sequence_number  bigint,
    id                    uuid        NOT NULL GENERATED ALWAYS AS (outbox_id) STORED,
    project_id            uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name                  text        NOT NULL,
    transport             text        NOT NULL,
    target                text        NOT NULL,
    horizon               bigint      NOT NULL DEFAULT 0,    -- no transaction commits a number up to it any more
    open_writers          text[]      NOT NULL DEFAULT '{}', -- transactions that the horizon waits for

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 30000,        -- an outbox is never given up
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT outbox_state_project_id_name_key UNIQUE (project_id, name),
    CONSTRAINT outbox_state_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    CONSTRAINT outbox_state_transport_check CHECK (transport IN ('webhook')),
    CONSTRAINT outbox_state_status_check CHECK (status IN ('pending', 'assigned', 'failed')),
    CONSTRAINT outbox_state_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX outbox_state_id_idx ON mailqueue.outbox_state (id);
CREATE INDEX outbox_state_claim_idx ON mailqueue.outbox_state (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX outbox_state_lease_idx ON mailqueue.outbox_state (lease_until) WHERE status = 'assigned';
CREATE INDEX outbox_state_suspect_idx ON mailqueue.outbox_state (run_at) WHERE status = 'pending' AND crashes > 0;
COMMENT ON TABLE mailqueue.outbox_state IS
    'Outboxes: where the messages of each are published, and up to which one they were.';

-- The first twenty-one columns are those of MassTransit's outbox.
CREATE TABLE mailqueue.outbox_message (
    sequence_number      bigint      NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id           uuid        NOT NULL,
    message_type         text        NOT NULL,
    body                 text        NOT NULL,
    content_type         text        NOT NULL,
    enqueue_time         timestamptz,
    sent_time            timestamptz NOT NULL DEFAULT 'infinity',
    conversation_id      uuid,
    correlation_id       uuid,
    initiator_id         uuid,
    request_id           uuid,
    source_address       text,
    destination_address  text,
    response_address     text,
    fault_address        text,
    expiration_time      timestamptz,
    headers              text,
    properties           text,
    inbox_message_id     uuid,
    inbox_consumer_id    uuid,
    outbox_id            uuid        NOT NULL,
    project_id           uuid        NOT NULL,
    status               text        NOT NULL DEFAULT 'pending',

    CONSTRAINT outbox_message_message_id_outbox_id_key UNIQUE (message_id, outbox_id),
    CONSTRAINT outbox_message_status_check CHECK (status IN ('pending', 'published', 'expired', 'skipped')),
    CONSTRAINT outbox_message_sent_time_check CHECK ((status = 'pending') = (sent_time = 'infinity'))
) WITH (fillfactor = 80);
CREATE INDEX outbox_message_outbox_idx ON mailqueue.outbox_message (outbox_id, sequence_number);
CREATE INDEX outbox_message_sent_time_idx ON mailqueue.outbox_message (sent_time);
COMMENT ON TABLE mailqueue.outbox_message IS
    'Messages that were written with publish(), which are published in the order of their numbers.';
