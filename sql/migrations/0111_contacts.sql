-- 0111_contacts.sql
-- Adds:    contacts, contact_lists, contact_list_members: persons that a project writes to, and lists of them
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.contacts (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id       uuid        NOT NULL REFERENCES mailqueue.projects (id),
    email            text        NOT NULL,                   -- as it is sent
    email_key        text        NOT NULL,                   -- as addresses are compared
    first_name       text,
    last_name        text,
    time_zone        text,
    date_of_birth    date,
    language         text,
    attributes       jsonb       NOT NULL DEFAULT '{}',
    consented_at     timestamptz,
    consent_source   text,
    consent_wording  text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now()
);
-- Erased persons share one placeholder.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX contacts_email_key_idx ON mailqueue.contacts (project_id, email_key)
    WHERE email_key <> 'erased@erased.invalid';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX contacts_project_idx ON mailqueue.contacts (project_id, id);
COMMENT ON TABLE mailqueue.contacts IS
    'Persons that a project writes to: one row for each address.';

CREATE TABLE mailqueue.contact_lists (
    id           uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name         text        NOT NULL,
    description  text,
    condition    text,                                       -- a jsonpath; NULL: contacts are added one by one
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT contact_lists_project_id_name_key UNIQUE (project_id, name),
    CONSTRAINT contact_lists_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$')
);
COMMENT ON TABLE mailqueue.contact_lists IS
    'Lists of contacts: of those that were added, or of all that satisfy a condition.';

CREATE TABLE mailqueue.contact_list_members (
    list_id     uuid        NOT NULL REFERENCES mailqueue.contact_lists (id) ON DELETE CASCADE,
    contact_id  uuid        NOT NULL REFERENCES mailqueue.contacts (id) ON DELETE CASCADE,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    created_at  timestamptz NOT NULL DEFAULT now(),

    PRIMARY KEY (list_id, contact_id)
);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX contact_list_members_contact_idx ON mailqueue.contact_list_members (contact_id);
COMMENT ON TABLE mailqueue.contact_list_members IS
    'Contacts that were added to a list.';
