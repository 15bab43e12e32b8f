-- 0106_bulk_operations.sql
-- Adds:    bulk_operations: changes of all queued mail of a project that matches a filter, made by workers
-- Running workers: not affected; workers of this release carry the operations out
-- Locks:   none on existing tables

CREATE TABLE mailqueue.bulk_operations (
    id                 uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id         uuid        NOT NULL REFERENCES mailqueue.projects (id),
    verb               text        NOT NULL,
    filter             jsonb       NOT NULL,                 -- keys of read_filter(), but project
    reason             text        NOT NULL,
    requested_by       text        NOT NULL,
    is_test            boolean,                              -- NULL: of both modes
    searched_until     uuid,                                 -- NULL: a pass begins
    pass               smallint    NOT NULL DEFAULT 1,
    pass_emails        bigint      NOT NULL DEFAULT 0,
    searched           bigint      NOT NULL DEFAULT 0,
    emails             bigint      NOT NULL DEFAULT 0,
    stop_requested_by  text,
    stop_requested_at  timestamptz,

    -- Queue contract: these columns stand in every queue table.
    status             text        NOT NULL DEFAULT 'pending',
    priority           smallint    NOT NULL DEFAULT 2,
    run_at             timestamptz NOT NULL DEFAULT now(),
    attempts           smallint    NOT NULL DEFAULT 0,
    max_attempts       smallint    NOT NULL DEFAULT 20,
    claim_no           bigint,
    worker_id          integer,
    assigned_at        timestamptz,
    lease_until        timestamptz,
    last_error         text,
    created_at         timestamptz NOT NULL DEFAULT now(),
    crashes            smallint    NOT NULL DEFAULT 0,
    finished_at        timestamptz,

    CONSTRAINT bulk_operations_verb_check CHECK (verb IN ('hold', 'release', 'cancel')),
    CONSTRAINT bulk_operations_filter_check CHECK (jsonb_typeof(filter) = 'object'),
    CONSTRAINT bulk_operations_stop_check CHECK ((stop_requested_by IS NULL) = (stop_requested_at IS NULL)),
    CONSTRAINT bulk_operations_status_check CHECK (status IN ('pending', 'assigned', 'done', 'stopped', 'failed')),
    CONSTRAINT bulk_operations_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX bulk_operations_claim_idx ON mailqueue.bulk_operations (run_at, id) WHERE status = 'pending';
CREATE INDEX bulk_operations_lease_idx ON mailqueue.bulk_operations (lease_until) WHERE status = 'assigned';
CREATE INDEX bulk_operations_suspect_idx ON mailqueue.bulk_operations (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX bulk_operations_project_idx ON mailqueue.bulk_operations (project_id, id);
CREATE INDEX bulk_operations_unfinished_idx ON mailqueue.bulk_operations (project_id, id)
    WHERE status IN ('pending', 'assigned');
CREATE INDEX bulk_operations_created_at_idx ON mailqueue.bulk_operations (created_at);
COMMENT ON TABLE mailqueue.bulk_operations IS
    'Operations on all queued mail of a project that matches a filter, which workers carry out in batches.';
