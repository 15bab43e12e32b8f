-- 0005_queue.sql
-- Adds:    workers, send_intents, waiters
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE SEQUENCE mailqueue.claim_no_seq;
COMMENT ON SEQUENCE mailqueue.claim_no_seq IS 'Numbers of claims: the fence. Never reused.';

CREATE TABLE mailqueue.workers (
    id          integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text        NOT NULL,                       -- send
    host        text        NOT NULL,
    pid         integer     NOT NULL,
    version     text        NOT NULL,
    launch_id   uuid        NOT NULL DEFAULT mailqueue.uuidv7(),  -- one start of one process
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    is_stopping boolean     NOT NULL DEFAULT false,
    stopped_at  timestamptz,                                -- NULL: running, or lost
    lost_at     timestamptz                                 -- declared lost; it may write nothing more
) WITH (fillfactor = 50);
CREATE INDEX workers_beat_at_idx ON mailqueue.workers (beat_at) WHERE stopped_at IS NULL AND lost_at IS NULL;
COMMENT ON TABLE mailqueue.workers IS 'Worker processes and their heartbeat. Ids are never reused.';

CREATE TABLE mailqueue.send_intents (
    worker_id  integer     NOT NULL PRIMARY KEY,
    email_ids  uuid[]      NOT NULL DEFAULT '{}',
    claim_nos  bigint[]    NOT NULL DEFAULT '{}',           -- of each email in the same place
    marked_at  timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE mailqueue.send_intents IS
    'Mail each worker may be handing over right now: written before the first byte that could be accepted. What is not named here was certainly not sent.';

CREATE UNLOGGED TABLE mailqueue.waiters (
    worker_id  integer     NOT NULL,
    queue      text        NOT NULL,
    parked_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT waiters_pkey PRIMARY KEY (queue, worker_id)
);
COMMENT ON TABLE mailqueue.waiters IS
    'Idle workers that want a NOTIFY. While it is empty nobody rings, which keeps commits free of the notify lock.';
