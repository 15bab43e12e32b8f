-- 0140_list_sends.sql
-- Adds:    list_sends, list_send_contacts: mail to lists of contacts, made by workers; contacts and lists of test keys;
--          members of lists that have not confirmed yet
-- Running workers: not affected; workers of this release make the mail of lists
-- Locks:   contacts and contact_lists against writing while two indexes are built: as long as it takes to read them

ALTER TABLE mailqueue.contacts ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.contact_lists ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.contact_lists ADD COLUMN opt_in text NOT NULL DEFAULT 'none';
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE mailqueue.contact_lists ADD CONSTRAINT contact_lists_opt_in_check
    CHECK (opt_in IN ('none', 'recorded', 'confirmed'));
ALTER TABLE mailqueue.contact_list_members ADD COLUMN is_pending boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.contact_list_members ADD COLUMN confirmed_at timestamptz;

-- A test key and a live key may each have a contact of an address, and a list of a name.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX contacts_email_key_mode_idx ON mailqueue.contacts (project_id, email_key, is_test)
    WHERE email_key <> 'erased@erased.invalid';
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX mailqueue.contacts_email_key_idx;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX contact_lists_name_mode_idx ON mailqueue.contact_lists (project_id, name, is_test);
-- squawk-ignore ban-drop-constraint
ALTER TABLE mailqueue.contact_lists DROP CONSTRAINT contact_lists_project_id_name_key;

CREATE TABLE mailqueue.list_sends (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id       uuid        NOT NULL REFERENCES mailqueue.projects (id),
    batch_id         uuid        NOT NULL,
    list_id          uuid        NOT NULL,
    list_name        text        NOT NULL,
    contents         jsonb       NOT NULL,                   -- as accept_shared() takes them
    languages        text[]      NOT NULL,                   -- of contents, in their order; '{}': not of a template
    options          jsonb       NOT NULL,
    variables        jsonb       NOT NULL,
    own              jsonb       NOT NULL,                   -- custom_data and tags of each mail
    -- squawk-ignore prefer-timestamp-tz
    local_at         timestamp,                              -- NULL: at once
    time_zone        text,
    except_contacts  uuid[]      NOT NULL,
    is_test          boolean     NOT NULL,
    requested_by     text        NOT NULL,
    snapshot_at      timestamptz,                            -- NULL: not taken
    contacts         bigint      NOT NULL DEFAULT 0,
    accepted         bigint      NOT NULL DEFAULT 0,
    suppressed       bigint      NOT NULL DEFAULT 0,
    rejected         bigint      NOT NULL DEFAULT 0,
    withdrawn        bigint      NOT NULL DEFAULT 0,
    stopped_by       text,

    -- Queue contract: these columns stand in every queue table.
    status           text        NOT NULL DEFAULT 'pending',
    priority         smallint    NOT NULL DEFAULT 2,
    run_at           timestamptz NOT NULL DEFAULT now(),
    attempts         smallint    NOT NULL DEFAULT 0,
    max_attempts     smallint    NOT NULL DEFAULT 20,
    claim_no         bigint,
    worker_id        integer,
    assigned_at      timestamptz,
    lease_until      timestamptz,
    last_error       text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    crashes          smallint    NOT NULL DEFAULT 0,
    finished_at      timestamptz,

    CONSTRAINT list_sends_batch_id_list_id_key UNIQUE (batch_id, list_id),
    CONSTRAINT list_sends_status_check CHECK (status IN ('pending', 'assigned', 'done', 'stopped', 'failed')),
    CONSTRAINT list_sends_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX list_sends_claim_idx ON mailqueue.list_sends (run_at, id) WHERE status = 'pending';
CREATE INDEX list_sends_lease_idx ON mailqueue.list_sends (lease_until) WHERE status = 'assigned';
CREATE INDEX list_sends_suspect_idx ON mailqueue.list_sends (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX list_sends_project_idx ON mailqueue.list_sends (project_id, id);
CREATE INDEX list_sends_created_at_idx ON mailqueue.list_sends (created_at);
COMMENT ON TABLE mailqueue.list_sends IS
    'Mail to all contacts of a list, which workers make in chunks: one row for each list of a batch.';

CREATE TABLE mailqueue.list_send_contacts (
    batch_id    uuid  NOT NULL,
    contact_id  uuid  NOT NULL,                              -- of a contact, or of one that was removed since
    send_id     uuid  NOT NULL REFERENCES mailqueue.list_sends (id) ON DELETE CASCADE,
    project_id  uuid  NOT NULL REFERENCES mailqueue.projects (id),
    outcome     text,                                        -- NULL: pending
    email_id    uuid,
    reason      text,

    PRIMARY KEY (batch_id, contact_id),
    CONSTRAINT list_send_contacts_outcome_check
        CHECK (outcome IN ('accepted', 'suppressed', 'rejected', 'withdrawn')),
    CONSTRAINT list_send_contacts_email_check CHECK ((email_id IS NOT NULL) = (outcome IN ('accepted', 'suppressed')))
);
CREATE INDEX list_send_contacts_pending_idx ON mailqueue.list_send_contacts (send_id, contact_id)
    WHERE outcome IS NULL;
CREATE INDEX list_send_contacts_of_contact_idx ON mailqueue.list_send_contacts (contact_id) WHERE outcome IS NULL;
CREATE INDEX list_send_contacts_send_idx ON mailqueue.list_send_contacts (send_id);
COMMENT ON TABLE mailqueue.list_send_contacts IS
    'Contacts that were in a list when mail was sent to it, and the mail that each was sent; one mail for each batch.';
