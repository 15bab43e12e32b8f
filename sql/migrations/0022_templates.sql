-- 0022_templates.sql
-- Adds:    templates, template_versions, template_texts, template_parts; mail that is rendered from a version
-- Running workers: go on; they fail mail from templates until they are of this version
-- Locks:   email_queue and email_contents for a moment: no row is read or written again

CREATE TABLE mailqueue.templates (
    id           uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id   uuid        REFERENCES mailqueue.projects (id),  -- NULL: of the platform, for projects without one of that slug
    slug         text        NOT NULL,
    name         text        NOT NULL,
    description  text,
    category     text        NOT NULL DEFAULT 'transactional',
    language     text        NOT NULL DEFAULT 'en',         -- taken where a mail asks for none, or one there is not
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    deleted_at   timestamptz,                               -- mail accepted before is still rendered. NULL: in use

    CONSTRAINT templates_slug_check CHECK (slug ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
    CONSTRAINT templates_name_check CHECK (length(name) BETWEEN 1 AND 200),
    CONSTRAINT templates_category_check CHECK (category ~ '^[a-z][a-z0-9_-]{0,62}$'),
    CONSTRAINT templates_language_check CHECK (language ~ '^[a-z]{2,3}(-[a-z0-9]{2,8})*$' AND length(language) <= 35)
);
CREATE UNIQUE INDEX templates_slug_key ON mailqueue.templates (project_id, slug) NULLS NOT DISTINCT WHERE deleted_at IS NULL;
COMMENT ON TABLE mailqueue.templates IS 'What mail says, by a name that stays while its words change. Each has versions, one of them published.';

CREATE TABLE mailqueue.template_versions (
    id                uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    template_id       uuid        NOT NULL REFERENCES mailqueue.templates (id),
    version           integer     NOT NULL,
    status            text        NOT NULL DEFAULT 'draft',
    variables_schema  jsonb,                                -- JSON Schema of the variables; NULL: whatever its words use
    is_css_inlined    boolean     NOT NULL DEFAULT false,   -- when it is published
    note              text,                                 -- why it was made, for people
    created_by        text        NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    published_at      timestamptz,                          -- last time; NULL: never
    archived_at       timestamptz,                          -- NULL: it is not

    CONSTRAINT template_versions_template_id_version_key UNIQUE (template_id, version),
    CONSTRAINT template_versions_status_check CHECK (status IN ('draft', 'published', 'archived'))
);
CREATE UNIQUE INDEX template_versions_published_key ON mailqueue.template_versions (template_id) WHERE status = 'published';
COMMENT ON TABLE mailqueue.template_versions IS 'Versions of templates. What one says never changes; only its status does.';

CREATE TABLE mailqueue.template_texts (
    version_id    uuid    NOT NULL REFERENCES mailqueue.template_versions (id),
    language      text    NOT NULL,
    subject       text    NOT NULL,
    html_body     text,                                     -- as it was written; NULL: text only
    text_body     text,                                     -- NULL: made of each mail's HTML
    sent_html     text,                                     -- with its CSS inlined, made when published; NULL: html_body is sent
    parts         jsonb   NOT NULL DEFAULT '{}',            -- layouts and partials it names, as they were when it was made
    needs         text[]  NOT NULL DEFAULT '{}',            -- variables without which it cannot be rendered

    CONSTRAINT template_texts_pkey PRIMARY KEY (version_id, language),
    CONSTRAINT template_texts_language_check CHECK (language ~ '^[a-z]{2,3}(-[a-z0-9]{2,8})*$' AND length(language) <= 35),
    CONSTRAINT template_texts_subject_check CHECK (length(subject) BETWEEN 1 AND 998 AND subject !~ '[\u0001-\u001f\u007f]'),
    CONSTRAINT template_texts_body_check CHECK (html_body IS NOT NULL OR text_body IS NOT NULL)
);
ALTER TABLE mailqueue.template_texts
    ALTER COLUMN html_body SET STORAGE EXTERNAL,
    ALTER COLUMN text_body SET STORAGE EXTERNAL,
    ALTER COLUMN sent_html SET STORAGE EXTERNAL;
COMMENT ON TABLE mailqueue.template_texts IS 'What a version says in each of its languages.';

CREATE TABLE mailqueue.template_parts (
    id          uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id  uuid        REFERENCES mailqueue.projects (id),   -- NULL: of the platform
    name        text        NOT NULL,
    kind        text        NOT NULL,
    source      text        NOT NULL,
    updated_by  text        NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT template_parts_project_id_name_key UNIQUE NULLS NOT DISTINCT (project_id, name),
    CONSTRAINT template_parts_name_check CHECK (name ~ '^[a-z0-9][a-z0-9._/-]{0,99}$'),
    CONSTRAINT template_parts_kind_check CHECK (kind IN ('layout', 'partial')),
    CONSTRAINT template_parts_source_check CHECK (length(source) <= 524288)
);
COMMENT ON TABLE mailqueue.template_parts IS
    'Layouts and partials that templates share. A version keeps those it was made with: changing one changes no version.';

-- Only in INSERT: like the bodies they are moved out before the row is stored. Variables go on in custom_data.
ALTER TABLE mailqueue.email_queue
    ADD COLUMN template            text,                    -- slug, or slug@version
    ADD COLUMN template_version_id uuid,
    ADD COLUMN language            text,
    ADD COLUMN variables           jsonb;

ALTER TABLE mailqueue.email_contents
    ADD COLUMN template_version_id uuid,                    -- NULL: the content says all itself
    ADD COLUMN template_language   text,
    -- Read anew by each statement, and kept by what accepting does.
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_contents_body_check;
COMMENT ON COLUMN mailqueue.email_contents.template_version_id IS
    'The version its mail is rendered from, each with the variables in its custom_data; subject is the template''s then.';
