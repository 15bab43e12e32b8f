-- 0155_timed_events.sql
-- Adds:    timed_events, birthday_rules, birthday_replans: mail and webhook calls at a time, birthdays of contacts
-- Running workers: not affected; webhook workers of the release before call without the header Idempotency-Key
-- Locks:   none on existing tables

CREATE TABLE mailqueue.timed_events (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id       uuid        NOT NULL REFERENCES mailqueue.projects (id),
    is_test          boolean     NOT NULL DEFAULT false,
    contact_id       uuid        REFERENCES mailqueue.contacts (id) ON DELETE CASCADE,
    kind             text        NOT NULL,
    is_birthday      boolean     NOT NULL DEFAULT false,     -- made from the contact's date of birth
    -- squawk-ignore prefer-timestamp-tz
    local_at         timestamp   NOT NULL,                   -- wall clock in time_zone
    time_zone        text        NOT NULL,
    follows_contact  boolean     NOT NULL DEFAULT false,     -- its zone is that of the contact or project
    zone_release     text        NOT NULL,                   -- of the rules by which due_at was computed
    due_at           timestamptz NOT NULL,
    idempotency_key  text        NOT NULL,
    payload          jsonb       NOT NULL DEFAULT '{}',
    template         text,
    recipient        text,                                   -- NULL: the contact
    webhook_id       uuid,
    email_id         uuid,
    delivery_id      uuid,
    version          integer     NOT NULL DEFAULT 1,
    created_by       text        NOT NULL,
    updated_at       timestamptz NOT NULL DEFAULT now(),

    -- Queue contract: these columns stand in every queue table.
    status           text        NOT NULL DEFAULT 'pending',
    priority         smallint    NOT NULL DEFAULT 2,
    run_at           timestamptz NOT NULL,
    attempts         smallint    NOT NULL DEFAULT 0,
    max_attempts     smallint    NOT NULL DEFAULT 4,         -- at once, and three retries
    claim_no         bigint,
    worker_id        integer,
    assigned_at      timestamptz,
    lease_until      timestamptz,
    last_error       text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    crashes          smallint    NOT NULL DEFAULT 0,
    finished_at      timestamptz,

    CONSTRAINT timed_events_idempotency_key_key UNIQUE (project_id, is_test, idempotency_key),
    CONSTRAINT timed_events_delivery_check CHECK (num_nonnulls(template, webhook_id) = 1),
    CONSTRAINT timed_events_birthday_check CHECK (NOT is_birthday OR contact_id IS NOT NULL),
    CONSTRAINT timed_events_status_check CHECK (
        status IN ('pending', 'assigned', 'delivering', 'completed', 'failed', 'cancelled')),
    CONSTRAINT timed_events_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX timed_events_claim_idx ON mailqueue.timed_events (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX timed_events_lease_idx ON mailqueue.timed_events (lease_until) WHERE status = 'assigned';
CREATE INDEX timed_events_suspect_idx ON mailqueue.timed_events (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX timed_events_finished_idx ON mailqueue.timed_events (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX timed_events_contact_idx ON mailqueue.timed_events (contact_id, is_birthday, local_at)
    WHERE contact_id IS NOT NULL;
CREATE INDEX timed_events_project_idx ON mailqueue.timed_events (project_id, id);
CREATE INDEX timed_events_delivering_idx ON mailqueue.timed_events (id) WHERE status = 'delivering';
CREATE INDEX timed_events_zone_idx ON mailqueue.timed_events (zone_release, id) WHERE status = 'pending';
COMMENT ON TABLE mailqueue.timed_events IS
    'Mail and webhook calls that are due at a time, such as birthdays of contacts.';

CREATE TABLE mailqueue.birthday_rules (
    project_id     uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.projects (id),
    local_time     text        NOT NULL,                     -- such as 09:00
    leap_day       text        NOT NULL,
    template       text,
    webhook_id     uuid,
    payload        jsonb       NOT NULL DEFAULT '{}',
    is_enabled     boolean     NOT NULL,
    version        integer     NOT NULL DEFAULT 1,
    planned_for    text,                                     -- version and zone for which all contacts are planned
    planning_for   text,                                     -- of the pass that is under way
    planned_after  uuid,                                     -- the last contact of that pass
    created_by     text        NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT birthday_rules_local_time_check CHECK (local_time ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
    CONSTRAINT birthday_rules_leap_day_check CHECK (leap_day IN ('february_28', 'march_1')),
    CONSTRAINT birthday_rules_delivery_check CHECK (num_nonnulls(template, webhook_id) = 1)
);
COMMENT ON TABLE mailqueue.birthday_rules IS
    'What projects do on birthdays of their contacts, and how far the birthdays are planned.';

CREATE TABLE mailqueue.birthday_replans (
    contact_id  uuid        NOT NULL PRIMARY KEY,
    project_id  uuid        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE mailqueue.birthday_replans IS
    'Contacts whose birthday is planned again in a moment, because they were locked.';
