-- 1030_broadcasts.sql
-- Adds:    broadcasts: drafts of mail to a list, which schedules send
-- Running workers: not affected
-- Locks:   projects for a moment: writers wait (SHARE ROW EXCLUSIVE of the reference)

CREATE TABLE mailqueue.broadcasts (
    id           uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name         text        NOT NULL,
    list_id      uuid,                                       -- of a list, or of one that was removed since
    topic        text,
    content      jsonb       NOT NULL,
    schedule_id  uuid,                                       -- of a schedule that may be past its retention
    begun_at     timestamptz,                                -- NULL: a draft
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT broadcasts_name_check CHECK (length(name) <= 200),
    CONSTRAINT broadcasts_content_check CHECK (jsonb_typeof(content) = 'object'),
    CONSTRAINT broadcasts_begun_check CHECK ((schedule_id IS NULL) = (begun_at IS NULL))
);
CREATE INDEX broadcasts_project_idx ON mailqueue.broadcasts (project_id, id);
CREATE INDEX broadcasts_begun_idx ON mailqueue.broadcasts (begun_at) WHERE begun_at IS NOT NULL;
COMMENT ON TABLE mailqueue.broadcasts IS
    'Mail to a list that Resend''s clients wrote: drafts, and those that a schedule sends.';
