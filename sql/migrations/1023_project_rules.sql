-- 1023_project_rules.sql
-- Adds:    project_rules: sender signatures, tags that turn tracking of opens on or off, senders whose bounce mail is ignored
-- Running workers: not affected; workers of this release ignore bounce mail of those senders
-- Locks:   projects for a moment: writers wait (SHARE ROW EXCLUSIVE of the reference)

CREATE TABLE mailqueue.project_rules (
    id          uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    kind        text        NOT NULL,
    subject     text        NOT NULL,                        -- an address, a tag, or an address or a domain
    settings    jsonb       NOT NULL DEFAULT '{}',
    created_by  text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT project_rules_kind_check CHECK (kind IN ('sender_signature', 'tag_trigger', 'inbound_rule')),
    CONSTRAINT project_rules_subject_key UNIQUE (project_id, kind, subject)
);
COMMENT ON TABLE mailqueue.project_rules IS
    'Rules that compatible APIs manage: sender signatures, tags that decide tracking of opens, senders of ignored bounce mail.';
