-- 1071_template_pictures.sql
-- Adds:    template_pictures: pictures that HTML of templates names by a public URL
-- Running workers: not affected
-- Locks:   none on existing tables but projects for a moment, for the reference to it

CREATE TABLE mailqueue.template_pictures (
    id          uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    token       uuid        NOT NULL DEFAULT gen_random_uuid(),  -- in the public URL; it names nothing else
    name        text        NOT NULL,
    media_type  text        NOT NULL,
    width       integer     NOT NULL,
    height      integer     NOT NULL,
    sha256      bytea       NOT NULL,
    octets      bytea       NOT NULL,
    created_by  text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT template_pictures_token_key UNIQUE (token),
    CONSTRAINT template_pictures_project_id_sha256_key UNIQUE (project_id, sha256),
    CONSTRAINT template_pictures_name_check CHECK (name ~ '^[^[:cntrl:]/\\]{1,255}$'),
    CONSTRAINT template_pictures_media_type_check
        CHECK (media_type IN ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
    CONSTRAINT template_pictures_side_check CHECK (width BETWEEN 1 AND 10000 AND height BETWEEN 1 AND 10000),
    CONSTRAINT template_pictures_octets_check CHECK (octet_length(octets) BETWEEN 1 AND 1048576)
);
ALTER TABLE mailqueue.template_pictures ALTER COLUMN octets SET STORAGE EXTERNAL;
COMMENT ON TABLE mailqueue.template_pictures IS
    'Pictures of a project that HTML of its templates names by a public URL; mail programs of recipients fetch them.';
