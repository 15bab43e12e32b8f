-- 0323_exports.sql
-- Adds:    exports, export_parts: files of a project's emails, events, recipients, counts and suppressions, which
--          workers write in parts
-- Running workers: not affected; workers of this release write the files
-- Locks:   erasures for a moment, for a trigger

CREATE TABLE mailqueue.exports (
    id              uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id      uuid        NOT NULL REFERENCES mailqueue.projects (id),
    kind            text        NOT NULL,
    format          text        NOT NULL,
    filter          jsonb       NOT NULL DEFAULT '{}',
    since           timestamptz NOT NULL DEFAULT '-infinity',
    until           timestamptz NOT NULL DEFAULT now(),
    is_test         boolean     NOT NULL DEFAULT false,
    requested_by    text        NOT NULL,
    rows_estimated  bigint      NOT NULL DEFAULT 0,
    place           jsonb,                                  -- NULL: nothing is read yet
    rows            bigint      NOT NULL DEFAULT 0,
    parts           integer     NOT NULL DEFAULT 0,
    bytes           bigint      NOT NULL DEFAULT 0,         -- not compressed
    stored_bytes    bigint      NOT NULL DEFAULT 0,         -- compressed
    gone_at         timestamptz,
    gone_reason     text,

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

    CONSTRAINT exports_kind_check CHECK (kind IN ('emails', 'events', 'recipients', 'stats', 'suppressions')),
    CONSTRAINT exports_format_check CHECK (format IN ('csv', 'json', 'ndjson')),
    CONSTRAINT exports_filter_check CHECK (jsonb_typeof(filter) = 'object'),
    CONSTRAINT exports_gone_check CHECK (gone_reason IN ('deleted', 'erased')
                                         AND (gone_reason IS NULL) = (gone_at IS NULL)),
    CONSTRAINT exports_status_check CHECK (status IN ('pending', 'assigned', 'done', 'deleted', 'failed')),
    CONSTRAINT exports_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX exports_claim_idx ON mailqueue.exports (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX exports_lease_idx ON mailqueue.exports (lease_until) WHERE status = 'assigned';
CREATE INDEX exports_suspect_idx ON mailqueue.exports (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX exports_project_idx ON mailqueue.exports (project_id, id);
CREATE INDEX exports_finished_at_idx ON mailqueue.exports (finished_at);
COMMENT ON TABLE mailqueue.exports IS
    'Exports of a project''s data to a file, which workers write in parts.';

CREATE TABLE mailqueue.export_parts (
    export_id   uuid    NOT NULL REFERENCES mailqueue.exports (id) ON DELETE CASCADE,
    number      integer NOT NULL,
    project_id  uuid    NOT NULL,
    rows        integer NOT NULL,
    data        bytea   NOT NULL,

    CONSTRAINT export_parts_pkey PRIMARY KEY (export_id, number)
);
ALTER TABLE mailqueue.export_parts ALTER COLUMN data SET STORAGE EXTERNAL;
COMMENT ON TABLE mailqueue.export_parts IS
    'Parts of the files of exports, each compressed by zlib and committed with the place up to which it goes.';
