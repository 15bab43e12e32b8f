-- 0018_attachments.sql
-- Adds:    attachments; what projects allow; email_contents.files, email_queue.attachments
-- Running workers: not affected
-- Locks:   projects, email_contents and email_queue for a moment

ALTER TABLE mailqueue.projects
    ADD COLUMN attachment_bytes integer NOT NULL DEFAULT 4194304,  -- of one mail, all its files together
    ADD COLUMN attachment_types text[] NOT NULL DEFAULT '{application/pdf,image/gif,image/jpeg,image/png,image/webp}',
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT projects_attachments_check CHECK (attachment_bytes BETWEEN 0 AND 26214400);

CREATE TABLE mailqueue.attachments (
    id            uuid    NOT NULL DEFAULT mailqueue.uuidv7(),
    created_on    date    NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    project_id    uuid    NOT NULL,
    sha256        bytea   NOT NULL,
    bytes         integer NOT NULL,
    content_type  text    NOT NULL,
    file_name     text,                                     -- of an upload; each use may give another
    octets        bytea,                                    -- NULL: they are at `location`
    location      text,                                     -- file:///… or s3://…

    CONSTRAINT attachments_pkey PRIMARY KEY (id, created_on),
    CONSTRAINT attachments_octets_check CHECK ((octets IS NULL) <> (location IS NULL))
) PARTITION BY RANGE (created_on);
ALTER TABLE mailqueue.attachments ALTER COLUMN octets SET STORAGE EXTERNAL;
CREATE INDEX attachments_sha256_idx ON mailqueue.attachments (project_id, sha256);
COMMENT ON TABLE mailqueue.attachments IS
    'Files sent along with mail: the same octets of a project once a month, however many mails carry them.';

-- {"id", "on", "name", "type", "cid", "bytes"} of each, in order; NULL: none.
ALTER TABLE mailqueue.email_contents ADD COLUMN files jsonb;
-- Only in INSERT: like the bodies they are moved out before the row is stored.
ALTER TABLE mailqueue.email_queue ADD COLUMN attachments jsonb;
