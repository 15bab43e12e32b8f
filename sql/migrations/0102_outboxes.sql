-- 0102_outboxes.sql
-- Adds:    ids and sequence numbers of mail that is inserted into view outboxes
-- Running workers: not affected
-- Locks:   projects for a moment: no row is read or written

CREATE SEQUENCE mailqueue.outbox_sequence;
COMMENT ON SEQUENCE mailqueue.outbox_sequence IS
    'Numbers of mail in the order of its INSERTs. A transaction that rolls back leaves a gap.';

CREATE TABLE mailqueue.outbox_rows (
    id               uuid        NOT NULL,                   -- of the mail; chosen by whoever inserts it
    project_id       uuid        NOT NULL,
    sequence_number  bigint      NOT NULL DEFAULT nextval('mailqueue.outbox_sequence'),
    created_at       timestamptz NOT NULL,
    accepted_on      date        NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,

    CONSTRAINT outboxes_pkey PRIMARY KEY (id)                -- named as people see it in errors of the view
);
CREATE UNIQUE INDEX outbox_rows_sequence_idx ON mailqueue.outbox_rows (sequence_number);
CREATE INDEX outbox_rows_accepted_on_idx ON mailqueue.outbox_rows (accepted_on);
COMMENT ON TABLE mailqueue.outbox_rows IS
    'Mail that was inserted into view outboxes: its id, taken once for good, and its place in the order of INSERTs.';

ALTER TABLE mailqueue.projects
    ADD COLUMN outbox_duplicates text NOT NULL DEFAULT 'error',
    ADD CONSTRAINT projects_outbox_duplicates_check CHECK (outbox_duplicates IN ('error', 'skip')) NOT VALID;
