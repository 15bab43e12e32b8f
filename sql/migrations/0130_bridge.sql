-- 0130_bridge.sql
-- Adds:    broker_queues, dead_letters: queues of RabbitMQ whose messages are events, and messages that could not be
--          handled; outboxes that publish to RabbitMQ; events that manage mail, and who may send them
-- Running workers: not affected; one of an earlier release reports an outbox that publishes to RabbitMQ, and publishes
--          the others
-- Locks:   projects, inbox_state and outbox_state for a moment: no row is read or written

CREATE TABLE mailqueue.broker_queues (
    name               text        NOT NULL,
    project_id         uuid        NOT NULL REFERENCES mailqueue.projects (id),
    state              text        NOT NULL,
    reason             text,
    received_messages  bigint      NOT NULL DEFAULT 0,
    received_at        timestamptz,                          -- NULL: no message was received
    seen_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at         timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT broker_queues_pkey PRIMARY KEY (name, project_id),
    CONSTRAINT broker_queues_state_check CHECK (state IN ('consuming', 'waiting', 'unavailable', 'stopped'))
);
CREATE INDEX broker_queues_project_idx ON mailqueue.broker_queues (project_id);
COMMENT ON TABLE mailqueue.broker_queues IS
    'Queues of RabbitMQ from which events are taken, as their consumers last reported.';

CREATE TABLE mailqueue.dead_letters (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id),
    queue         text        NOT NULL,
    digest        bytea       NOT NULL,                      -- of headers and body: a second delivery is the same row
    message_id    uuid,
    type          text,
    content_type  text,
    headers       jsonb       NOT NULL DEFAULT '{}',
    body          text,
    reason        text        NOT NULL,
    deliveries    integer     NOT NULL DEFAULT 1,
    status        text        NOT NULL DEFAULT 'waiting',
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    replayed_at   timestamptz,

    CONSTRAINT dead_letters_digest_key UNIQUE (project_id, queue, digest),
    CONSTRAINT dead_letters_status_check CHECK (status IN ('waiting', 'replayed')),
    CONSTRAINT dead_letters_replayed_check CHECK ((status = 'replayed') = (replayed_at IS NOT NULL))
);
CREATE INDEX dead_letters_waiting_idx ON mailqueue.dead_letters (project_id, id) WHERE status = 'waiting';
CREATE INDEX dead_letters_project_idx ON mailqueue.dead_letters (project_id, id);
CREATE INDEX dead_letters_message_idx ON mailqueue.dead_letters (message_id);
CREATE INDEX dead_letters_created_at_idx ON mailqueue.dead_letters (created_at);
COMMENT ON TABLE mailqueue.dead_letters IS
    'Messages of RabbitMQ that did not become events of the inbox, each with the reason.';

-- It takes one word more: what earlier releases write is among them.
ALTER TABLE mailqueue.outbox_state
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT outbox_state_transport_check,
    ADD CONSTRAINT outbox_state_transport_check CHECK (transport IN ('webhook', 'rabbitmq')) NOT VALID;

ALTER TABLE mailqueue.inbox_state ADD COLUMN is_management boolean NOT NULL DEFAULT false;

ALTER TABLE mailqueue.projects
    ADD COLUMN management_events text,                       -- NULL: from nobody
    ADD CONSTRAINT projects_management_events_check CHECK (
        management_events ~ '^(sql|api|rabbitmq)(,(sql|api|rabbitmq))*$') NOT VALID;
