-- 1027_imports.sql
-- Adds:    imports, import_parts: files of contacts, which workers read and take line by line
-- Running workers: not affected; workers of this release read the files
-- Locks:   projects and erasures for a moment, for a reference and a trigger

CREATE TABLE mailqueue.imports (
    id              uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id      uuid        NOT NULL REFERENCES mailqueue.projects (id),
    kind            text        NOT NULL,
    options         jsonb       NOT NULL DEFAULT '{}',
    file_name       text,
    encoding        text        NOT NULL,
    is_test         boolean     NOT NULL DEFAULT false,
    requested_by    text        NOT NULL,
    parts           integer     NOT NULL DEFAULT 0,
    bytes           bigint      NOT NULL DEFAULT 0,         -- not compressed
    lines           bigint      NOT NULL DEFAULT 0,
    lines_read      bigint      NOT NULL DEFAULT 0,
    taken           jsonb       NOT NULL DEFAULT '{}',      -- number of lines by outcome
    refused         bigint      NOT NULL DEFAULT 0,
    refusals        jsonb       NOT NULL DEFAULT '[]',      -- the first ones
    gone_at         timestamptz,

    -- Queue contract: these columns stand in every queue table.
    status          text        NOT NULL DEFAULT 'pending',
    priority        smallint    NOT NULL DEFAULT 2,
    run_at          timestamptz NOT NULL DEFAULT now(),
    attempts        smallint    NOT NULL DEFAULT 0,
    max_attempts    smallint    NOT NULL DEFAULT 10,
    claim_no        bigint,
    worker_id       integer,
    assigned_at     timestamptz,
    lease_until     timestamptz,
    last_error      text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    crashes         smallint    NOT NULL DEFAULT 0,
    finished_at     timestamptz,

    CONSTRAINT imports_kind_check CHECK (kind IN ('contacts')),
    CONSTRAINT imports_options_check CHECK (jsonb_typeof(options) = 'object'),
    CONSTRAINT imports_status_check CHECK (status IN ('pending', 'assigned', 'done', 'erased', 'failed')),
    CONSTRAINT imports_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX imports_claim_idx ON mailqueue.imports (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX imports_lease_idx ON mailqueue.imports (lease_until) WHERE status = 'assigned';
CREATE INDEX imports_suspect_idx ON mailqueue.imports (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX imports_project_idx ON mailqueue.imports (project_id, id);
CREATE INDEX imports_finished_at_idx ON mailqueue.imports (finished_at);
COMMENT ON TABLE mailqueue.imports IS
    'Imports of files into a project, with the lines that were read, taken and refused.';

CREATE TABLE mailqueue.import_parts (
    import_id   uuid    NOT NULL REFERENCES mailqueue.imports (id) ON DELETE CASCADE,
    number      integer NOT NULL,
    project_id  uuid    NOT NULL,
    data        bytea   NOT NULL,

    CONSTRAINT import_parts_pkey PRIMARY KEY (import_id, number)
);
ALTER TABLE mailqueue.import_parts ALTER COLUMN data SET STORAGE EXTERNAL;
COMMENT ON TABLE mailqueue.import_parts IS
    'Files of imports that are not finished, in parts that are each compressed by zlib.';
