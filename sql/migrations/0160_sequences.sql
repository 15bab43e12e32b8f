-- 0160_sequences.sql
-- Adds:    sequences, sequence_versions, sequence_enrollments, enrollment_steps, enrollment_exits, enrollment_signals,
--          sequence_events: mails that contacts get one after another, and how far each contact is
-- Running workers: not affected; workers of this release make the mails
-- Locks:   none on existing tables

CREATE TABLE mailqueue.sequences (
    id                 uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id         uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name               text        NOT NULL,
    description        text,
    category           text        NOT NULL DEFAULT 'marketing',
    reenroll           text        NOT NULL DEFAULT 'never',
    published_version  integer,                              -- NULL: none yet
    paused_at          timestamptz,                          -- NULL: it is not paused
    removed_at         timestamptz,
    created_by         text        NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT sequences_name_check CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    CONSTRAINT sequences_reenroll_check CHECK (reenroll IN ('never', 'after_completion', 'after_end', 'restart'))
);
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX sequences_name_idx ON mailqueue.sequences (project_id, name) WHERE removed_at IS NULL;
COMMENT ON TABLE mailqueue.sequences IS
    'Sequences: mails that a contact gets one after another once it is enrolled.';

CREATE TABLE mailqueue.sequence_versions (
    sequence_id   uuid        NOT NULL REFERENCES mailqueue.sequences (id) ON DELETE CASCADE,
    version       integer     NOT NULL,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id),
    steps         jsonb       NOT NULL,
    goal          jsonb,
    created_by    text        NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    published_at  timestamptz,                               -- NULL: a draft

    PRIMARY KEY (sequence_id, version),
    CONSTRAINT sequence_versions_steps_check CHECK (jsonb_typeof(steps) = 'array')
);
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX sequence_versions_draft_idx ON mailqueue.sequence_versions (sequence_id)
    WHERE published_at IS NULL;
COMMENT ON TABLE mailqueue.sequence_versions IS
    'Steps of sequences, in numbered versions: a published one never changes.';

CREATE TABLE mailqueue.sequence_enrollments (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id),
    sequence_id   uuid        NOT NULL REFERENCES mailqueue.sequences (id),
    contact_id    uuid        NOT NULL REFERENCES mailqueue.contacts (id) ON DELETE CASCADE,
    email         text        NOT NULL,                      -- of the contact when it was enrolled, or at the last step
    is_test       boolean     NOT NULL DEFAULT false,
    number        integer     NOT NULL,                      -- of this contact in this sequence, from 1
    version       integer     NOT NULL,
    step          text,                                      -- name of the next one; NULL: there is none
    steps_done    integer     NOT NULL DEFAULT 0,
    waiting_from  timestamptz NOT NULL,                      -- end of the step before; at first, the enrollment
    has_waited    boolean     NOT NULL DEFAULT false,        -- the delay is over, the local time is not
    due_at        timestamptz NOT NULL,
    time_zone     text        NOT NULL,                      -- by which due_at was computed
    zone_release  text        NOT NULL,                      -- and the release of its rules
    variables     jsonb       NOT NULL DEFAULT '{}',
    source        text        NOT NULL,
    left_reason   text,
    enrolled_at   timestamptz NOT NULL DEFAULT now(),

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 20,
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT sequence_enrollments_number_key UNIQUE (contact_id, sequence_id, is_test, number),
    CONSTRAINT sequence_enrollments_status_check CHECK (
        status IN ('pending', 'assigned', 'held', 'completed', 'left', 'failed')),
    CONSTRAINT sequence_enrollments_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 80);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_claim_idx ON mailqueue.sequence_enrollments (project_id, run_at, id)
    WHERE status = 'pending';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_lease_idx ON mailqueue.sequence_enrollments (lease_until)
    WHERE status = 'assigned';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_suspect_idx ON mailqueue.sequence_enrollments (run_at)
    WHERE status = 'pending' AND crashes > 0;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_failed_idx ON mailqueue.sequence_enrollments (finished_at)
    WHERE status = 'failed';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_finished_at_idx ON mailqueue.sequence_enrollments (finished_at);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_held_idx ON mailqueue.sequence_enrollments (sequence_id, id)
    WHERE status = 'held';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_sequence_idx ON mailqueue.sequence_enrollments (sequence_id, id);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_project_idx ON mailqueue.sequence_enrollments (project_id)
    WHERE finished_at IS NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_enrollments_zones_idx ON mailqueue.sequence_enrollments (zone_release)
    WHERE status IN ('pending', 'held');
COMMENT ON TABLE mailqueue.sequence_enrollments IS
    'Contacts in sequences, a row for each enrollment: it is due when its next step is.';

CREATE TABLE mailqueue.enrollment_steps (
    enrollment_id  uuid        NOT NULL REFERENCES mailqueue.sequence_enrollments (id) ON DELETE CASCADE,
    number         integer     NOT NULL,                     -- of the step in its enrollment, from 1
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id),
    is_test        boolean     NOT NULL,
    sequence_id    uuid        NOT NULL REFERENCES mailqueue.sequences (id),
    version        integer     NOT NULL,
    step           text        NOT NULL,
    result         text        NOT NULL,
    email_id       uuid,
    done_at        timestamptz NOT NULL,

    PRIMARY KEY (enrollment_id, number),
    CONSTRAINT enrollment_steps_result_check CHECK (result IN ('sent', 'skipped')),
    CONSTRAINT enrollment_steps_email_check CHECK ((result = 'sent') = (email_id IS NOT NULL))
);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX enrollment_steps_sequence_idx ON mailqueue.enrollment_steps (sequence_id, version, step);
COMMENT ON TABLE mailqueue.enrollment_steps IS
    'Steps that were done, each with the mail that it made or skipped.';

-- Requests to end an enrollment. They are rows of their own, because a worker may hold the lock on the enrollment's row.
CREATE TABLE mailqueue.enrollment_exits (
    id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    enrollment_id  uuid        NOT NULL REFERENCES mailqueue.sequence_enrollments (id) ON DELETE CASCADE,
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id),
    is_test        boolean     NOT NULL,
    reason         text        NOT NULL,
    created_by     text        NOT NULL,
    created_at     timestamptz NOT NULL
);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX enrollment_exits_enrollment_idx ON mailqueue.enrollment_exits (enrollment_id, id);
COMMENT ON TABLE mailqueue.enrollment_exits IS
    'Ends of enrollments before their last step, with the reason; the first of an enrollment counts.';

CREATE TABLE mailqueue.enrollment_signals (
    id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    enrollment_id  uuid        NOT NULL REFERENCES mailqueue.sequence_enrollments (id) ON DELETE CASCADE,
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id)
);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX enrollment_signals_enrollment_idx ON mailqueue.enrollment_signals (enrollment_id);
COMMENT ON TABLE mailqueue.enrollment_signals IS
    'Enrollments that a worker looks at again before they are due.';

CREATE TABLE mailqueue.sequence_events (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    contact_id   uuid        NOT NULL REFERENCES mailqueue.contacts (id) ON DELETE CASCADE,
    is_test      boolean     NOT NULL,
    type         text        NOT NULL,
    occurred_at  timestamptz NOT NULL
);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_events_contact_idx ON mailqueue.sequence_events (contact_id, type, occurred_at);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX sequence_events_age_idx ON mailqueue.sequence_events (occurred_at);
COMMENT ON TABLE mailqueue.sequence_events IS
    'Events of other services about contacts, which conditions and goals of sequences refer to.';
