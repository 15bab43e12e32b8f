-- 0029_batches.sql
-- Adds:    batches, the order in which a project's mail is listed
-- Running workers: not affected
-- Locks:   email_history against writing while the index is built: as long as it takes to read it

CREATE TABLE mailqueue.batches (
    id          uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id  uuid        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    created_by  text        NOT NULL,                       -- name of the key
    subject     text,                                       -- NULL: of a template
    email_ids   uuid[]      NOT NULL,                       -- in the order of its recipients; NULL where one was refused
    rejected    integer     NOT NULL DEFAULT 0,

    CONSTRAINT batches_rejected_check CHECK (rejected BETWEEN 0 AND cardinality(email_ids))
);
COMMENT ON TABLE mailqueue.batches IS
    'Mails that were handed in by one call. A row for the call, not one for each: the mails do not know of it.';

-- Their ids grow with time: the newest come first. Concurrent builds are not possible on partitioned tables.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_project_idx ON mailqueue.email_history (project_id, id);
