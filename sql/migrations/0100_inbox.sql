-- 0100_inbox.sql
-- Adds:    event_rules, inbox_state, inbox_actions: events of other services, and what rules make of them
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.event_rules (
    id              uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id      uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name            text        NOT NULL,
    event_type      text        NOT NULL,
    condition       text,                                    -- a jsonpath; NULL: every event of the type
    action          text        NOT NULL,
    template        text,
    recipient       text,
    recipient_name  text,
    language        text,
    variables       jsonb       NOT NULL DEFAULT '{}',
    priority        text,
    tags            text[]      NOT NULL DEFAULT '{}',
    delay_seconds   integer     NOT NULL DEFAULT 0,
    key             text,
    is_enabled      boolean     NOT NULL DEFAULT false,
    version         integer     NOT NULL DEFAULT 1,
    created_by      text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT event_rules_project_id_name_key UNIQUE (project_id, name),
    CONSTRAINT event_rules_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    CONSTRAINT event_rules_action_check CHECK (action IN ('mail', 'cancel')),
    CONSTRAINT event_rules_mail_check CHECK (
        action <> 'mail' OR template IS NOT NULL AND recipient IS NOT NULL),
    CONSTRAINT event_rules_cancel_check CHECK (action <> 'cancel' OR key IS NOT NULL)
);
CREATE INDEX event_rules_event_type_idx ON mailqueue.event_rules (project_id, event_type) WHERE is_enabled;
COMMENT ON TABLE mailqueue.event_rules IS
    'What consume() does with events of a type: enqueue mail from a template, or cancel mail by a key.';

-- The first eleven columns are those of MassTransit's inbox.
CREATE TABLE mailqueue.inbox_state (
    id                    bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id            uuid        NOT NULL,
    consumer_id           uuid        NOT NULL,
    lock_id               uuid        NOT NULL,
    row_version           bytea,
    received              timestamptz NOT NULL,
    receive_count         integer     NOT NULL,
    expiration_time       timestamptz,
    consumed              timestamptz,
    delivered             timestamptz,
    last_sequence_number  bigint,
    project_id            uuid        NOT NULL REFERENCES mailqueue.projects (id),
    is_test               boolean     NOT NULL DEFAULT false,
    type                  text        NOT NULL,
    payload               jsonb,
    headers               jsonb       NOT NULL DEFAULT '{}',
    conversation_id       text,
    correlation_id        text,
    traceparent           text,
    status                text        NOT NULL DEFAULT 'received',
    reason                text,

    CONSTRAINT inbox_state_message_id_consumer_id_key UNIQUE (message_id, consumer_id, project_id, is_test),
    CONSTRAINT inbox_state_receive_count_check CHECK (receive_count > 0),
    CONSTRAINT inbox_state_status_check CHECK (status IN ('received', 'handled', 'ignored', 'expired', 'failed'))
) WITH (fillfactor = 80);
CREATE INDEX inbox_state_project_idx ON mailqueue.inbox_state (project_id, id);
CREATE INDEX inbox_state_received_idx ON mailqueue.inbox_state (received);
CREATE INDEX inbox_state_failed_idx ON mailqueue.inbox_state (project_id, id) WHERE status = 'failed';
COMMENT ON TABLE mailqueue.inbox_state IS
    'Events that were handed to consume(), once for each message, consumer and project.';

CREATE TABLE mailqueue.inbox_actions (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    inbox_id      bigint      NOT NULL REFERENCES mailqueue.inbox_state (id) ON DELETE CASCADE,
    project_id    uuid        NOT NULL,
    is_test       boolean     NOT NULL,
    rule          text        NOT NULL,
    rule_version  integer     NOT NULL,
    result        text        NOT NULL,
    email_id      uuid,
    cancelled     uuid[]      NOT NULL DEFAULT '{}',
    key           text,
    reason        text,
    created_at    timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbox_actions_inbox_id_rule_key UNIQUE (inbox_id, rule),
    CONSTRAINT inbox_actions_result_check CHECK (result IN ('mail', 'cancelled', 'failed')),
    CONSTRAINT inbox_actions_email_check CHECK ((result = 'mail') = (email_id IS NOT NULL))
);
CREATE INDEX inbox_actions_key_idx ON mailqueue.inbox_actions (project_id, key)
    WHERE result = 'mail' AND key IS NOT NULL;
CREATE INDEX inbox_actions_email_idx ON mailqueue.inbox_actions (email_id) WHERE email_id IS NOT NULL;
COMMENT ON TABLE mailqueue.inbox_actions IS
    'What each rule did with an event. A rule that made mail or cancelled some for an event never acts on it again.';
