-- 0341_event_stream.sql
-- Adds:    event_stream, events that consumers read, and consumers, how far each has read
-- Running workers: of the release before read the stream too, by the functions that claim for them
-- Locks:   none on existing tables

CREATE SEQUENCE mailqueue.event_stream_number_seq;
COMMENT ON SEQUENCE mailqueue.event_stream_number_seq IS
    'Numbers of event_stream. Writers hold a lock on it until they end, by which readers see them.';

CREATE TABLE mailqueue.event_stream (
    sequence_number  bigint      NOT NULL DEFAULT nextval('mailqueue.event_stream_number_seq') PRIMARY KEY,
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7(),
    project_id       uuid        NOT NULL,
    type             text        NOT NULL,
    email_id         uuid,
    recipient        text,
    occurred_at      timestamptz NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    facts            jsonb,                                  -- NULL: all there is to know is in the email
    is_test          boolean     NOT NULL DEFAULT false,

    CONSTRAINT event_stream_number_check CHECK (sequence_number > 0),
    CONSTRAINT event_stream_created_check CHECK (isfinite(created_at))
) WITH (autovacuum_vacuum_insert_threshold = 100000);
ALTER SEQUENCE mailqueue.event_stream_number_seq OWNED BY mailqueue.event_stream.sequence_number;
CREATE INDEX event_stream_age_idx ON mailqueue.event_stream USING brin (created_at);
COMMENT ON TABLE mailqueue.event_stream IS
    'Events that some consumer wants, in the order of their numbers; rows are added and, after some days, deleted.';

CREATE TABLE mailqueue.consumers (
    name           text           NOT NULL PRIMARY KEY,
    types          text[]         NOT NULL,
    is_ordered     boolean        NOT NULL,
    takes_test     boolean        NOT NULL,
    position       bigint         NOT NULL,                  -- events up to it are handled
    handled        int8multirange NOT NULL DEFAULT '{}',     -- numbers above it that are handled too
    horizon        bigint         NOT NULL,
    open_writers   text[]         NOT NULL DEFAULT '{}',     -- transactions that the horizon waits for
    handled_at     timestamptz,                              -- last time that events were handled
    failures       integer        NOT NULL DEFAULT 0,        -- failed attempts since then
    run_at         timestamptz    NOT NULL DEFAULT now(),    -- it is not read before
    last_error     text,
    left_out       bigint         NOT NULL DEFAULT 0,        -- events whose handling failed
    left_out_at    timestamptz,
    left_out_error text,

    CONSTRAINT consumers_position_check CHECK (position >= 0 AND position < 9223372036854775807),
    CONSTRAINT consumers_handled_check CHECK (
        handled = '{}' OR NOT lower_inf(handled) AND NOT upper_inf(handled) AND lower(handled) > position)
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.consumers IS 'Readers of event_stream and how far each has read; see mailqueue consumers.';
